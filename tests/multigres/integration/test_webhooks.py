"""The operator as a process with webhooks on, called by a real API server, and the policy that protects children.

One operator serves the namespaces of all tests; the last two suspend it, and then stop it. Clusters are paused where no
children are needed: the operator need not make them.
"""

import itertools
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any, NamedTuple

import pytest

from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from steward.multigres.resolution.defaulting import with_defaults
from steward.multigres.resolution.resolved import Templates
from tests.multigres.support.idle_clusters import idle_cluster
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.served_namespaces import new_namespaces
from tests.multigres.support.waiting import eventually
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml

SEEDS = ROOT / "tests" / "multigres" / "seeds"
SOMEBODY = ("--as=other-user", "--as-group=system:masters")
NAMESPACES = 12


class ServedNamespaces(NamedTuple):
    """Namespaces that no test has used yet; closing `running` stops their operator."""

    unused: list[str]
    operator: subprocess.Popen[bytes]
    running: ExitStack


@pytest.fixture(scope="module")
def served(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServedNamespaces]:
    log = tmp_path_factory.mktemp("webhooks") / "operator.log"
    with new_namespaces(api_server, NAMESPACES) as homes, ExitStack() as running:
        process = running.enter_context(operator_with_webhooks(control_plane, kubectl, ",".join(homes), log))
        yield ServedNamespaces(homes, process, running)


@pytest.fixture
def home(served: ServedNamespaces) -> str:
    """A namespace of the operator for one test."""
    return served.unused.pop()


def cluster(namespace: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "mini", "namespace": namespace},
        "spec": {"cells": [{"zone": "z1"}], "paused": True, **spec},
    }


def template(kind: str, namespace: str, name: str, spec: Any = None) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "multigres.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec or {}}


def applies_without_a_trace(kubectl: Kubectl, how: list[str], manifest: Manifest) -> bool:
    """Whether an apply leaves the resourceVersion unchanged. Repeat: the status is still being written for a while."""
    name, namespace = manifest["metadata"]["name"], manifest["metadata"]["namespace"]
    before = kubectl.json("get", "mgc", name, "-n", namespace)["metadata"]["resourceVersion"]
    kubectl(*how, "-f", "-", document=manifest)
    after = kubectl.json("get", "mgc", name, "-n", namespace)["metadata"]["resourceVersion"]
    return bool(before == after)


def until_seen(kubectl: Kubectl, namespace: str) -> None:
    """Waits until the operator has reconciled the cluster, so that its webhooks know it."""
    look = ("get", "mgc", "mini", "-n", namespace)
    eventually(lambda: kubectl.json(*look).get("status", {}).get("observedGeneration"), "a status")


def test_other_users_can_annotate_children_but_not_change_their_specs(kubectl: Kubectl, home: str) -> None:
    kubectl("create", "-f", "-", document=idle_cluster(home, "mini"))
    [child] = eventually(lambda: kubectl.json("get", "cell", "-n", home)["items"], "the cell")
    name = child["metadata"]["name"]
    reported = until_refused(kubectl, home, name)
    assert "this object is managed by Steward: change the MultigresCluster mini instead" in reported
    own = template("Cell", home, "mine", {"name": "z"})
    assert "this object is managed by Steward" in kubectl.expect_rejection(
        *SOMEBODY, "create", "-f", "-", document=own
    )
    kubectl(*SOMEBODY, "annotate", "cell", name, "-n", home, "multigres.com/force-delete=false")
    kubectl(*SOMEBODY, "delete", "cell", name, "-n", home, "--wait=false")


def until_refused(kubectl: Kubectl, namespace: str, name: str) -> str:
    """The API server takes a moment to know of a policy; each try is another change, since none at all passes."""
    attempts = itertools.count()
    path = f"/apis/multigres.com/v1alpha1/namespaces/{namespace}/cells/{name}"
    somebody = {"Impersonate-User": "other-user", "Impersonate-Group": "system:masters"}
    headers = {"Content-Type": "application/merge-patch+json", **somebody}

    def refusal() -> str:
        patch = {"spec": {"zone": f"z{next(attempts)}"}}
        answer = kubectl.server.call("PATCH", path, patch, **headers)
        return str(answer.json()["message"]) if answer.status == HTTPStatus.FORBIDDEN else ""

    return str(eventually(refusal, "a refused edit"))


@pytest.mark.parametrize("how", [["apply"], ["apply", "--server-side"]], ids=" ".join)
def test_the_smallest_cluster_shows_everything_and_a_second_apply_changes_nothing(
    kubectl: Kubectl, home: str, how: list[str]
) -> None:
    manifest = load_yaml((SEEDS / "multigrescluster-minimal-cluster.yaml").read_text())
    manifest["metadata"]["namespace"] = home
    manifest["spec"]["paused"] = True
    kubectl(*how, "-f", "-", document=manifest)
    stored = kubectl.json("get", "mgc", "minimal-cluster", "-n", home)
    assert stored["spec"] == with_defaults(manifest["spec"], Templates({}, {}, {}))
    eventually(lambda: applies_without_a_trace(kubectl, how, manifest), "an apply that changes nothing")
    again = kubectl.json("get", "mgc", "minimal-cluster", "-n", home)
    assert again["metadata"]["generation"] == stored["metadata"]["generation"]


def test_all_problems_are_reported_at_once_with_their_fields(kubectl: Kubectl, home: str) -> None:
    small = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    spec = {"templateDefaults": {"cellTemplate": "gone"}, "multiadmin": {"spec": {"resources": small}}}
    reported = kubectl.expect_rejection("create", "-f", "-", document=cluster(home, **spec))
    assert "spec.templateDefaults.cellTemplate: CellTemplate 'gone' does not exist" in reported
    assert "spec.multiadmin.spec.resources.limits.cpu: the limit 1 is below the request 2" in reported


def test_a_template_that_was_just_applied_is_found(kubectl: Kubectl, home: str) -> None:
    both = [
        template("CellTemplate", home, "new"),
        cluster(home, templateDefaults={"cellTemplate": "new"}),
    ]
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": both})


def test_advice_comes_as_a_warning(kubectl: Kubectl, home: str) -> None:
    nowhere = [{"zone": "z1"}, {"zone": "nowhere"}]
    document = cluster(home, cells=nowhere, pvcDeletionPolicy={"whenDeleted": "Delete"})
    reported = kubectl.expect_warning("create", "-f", "-", document=document)
    assert "Warning: spec.pvcDeletionPolicy.whenDeleted: Delete loses all data" in reported
    assert "Warning: spec.cells[1]: no node carries topology.kubernetes.io/zone=nowhere" in reported
    assert "spec.cells[0]: no node" not in reported
    reported = kubectl.expect_warning(
        "delete", "mgc", "mini", "-n", home, "--cascade=foreground", "--wait=false"
    )
    assert (
        "Warning: propagationPolicy Foreground: the API server deletes all components of the cluster at once"
        in reported
    )


def test_a_later_template_reference_removes_the_defaulted_branch(kubectl: Kubectl, home: str) -> None:
    kubectl("create", "-f", "-", document=template("CoreTemplate", home, "core"))
    kubectl("create", "-f", "-", document=cluster(home))
    patch = '{"spec":{"globalTopoServer":{"templateRef":"core"}}}'
    kubectl("patch", "mgc", "mini", "-n", home, "--type=merge", "-p", patch)
    stored = kubectl.json("get", "mgc", "mini", "-n", home)
    assert stored["spec"]["globalTopoServer"] == {"templateRef": "core"}


def test_a_volume_cannot_shrink(kubectl: Kubectl, home: str) -> None:
    kubectl("create", "-f", "-", document=cluster(home))
    patch = '[{"op":"replace","path":"/spec/globalTopoServer/etcd/storage/size","value":"1Mi"}]'
    reported = kubectl.expect_rejection("patch", "mgc", "mini", "-n", home, "--type=json", "-p", patch)
    assert "cannot shrink from 1Gi to 1Mi: a volume only grows" in reported


def test_a_template_in_use_cannot_be_deleted_and_its_users_are_named(kubectl: Kubectl, home: str) -> None:
    kubectl("create", "-f", "-", document=template("ShardTemplate", home, "used"))
    kubectl("create", "-f", "-", document=cluster(home, templateDefaults={"shardTemplate": "used"}))
    reported = kubectl.expect_rejection("delete", "sht", "used", "-n", home)
    assert "is in use by MultigresCluster mini" in reported


def test_a_template_edit_that_would_break_a_valid_cluster_is_denied(kubectl: Kubectl, home: str) -> None:
    kubectl("create", "-f", "-", document=template("ShardTemplate", home, "used"))
    kubectl("create", "-f", "-", document=cluster(home, templateDefaults={"shardTemplate": "used"}))
    until_seen(kubectl, home)
    broken = {"pools": {"main": {"postgres": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}}}
    document = template("ShardTemplate", home, "used", broken)
    reported = kubectl.expect_rejection("apply", "-f", "-", document=document)
    assert "would break MultigresCluster mini" in reported


def test_an_unreachable_operator_never_blocks_the_deletion_of_a_namespace(
    served: ServedNamespaces, kubectl: Kubectl, home: str
) -> None:
    kubectl("create", "-f", "-", document=template("CoreTemplate", home, "unused"))
    served.operator.send_signal(signal.SIGSTOP)
    try:
        reported = kubectl.expect_rejection("delete", "cot", "unused", "-n", home)
        assert "failed calling webhook" in reported
        kubectl("delete", "ns", home, "--timeout=90s")
    finally:
        served.operator.send_signal(signal.SIGCONT)


def test_the_webhook_registration_is_removed_when_the_operator_stops(
    served: ServedNamespaces, kubectl: Kubectl, home: str
) -> None:
    assert configurations(kubectl, home)
    served.running.close()
    assert configurations(kubectl, home) == []


def configurations(kubectl: Kubectl, namespace: str) -> list[str]:
    """The webhook configurations that speak of this namespace."""
    found = kubectl.json("get", "mutatingwebhookconfigurations,validatingwebhookconfigurations")["items"]
    return [item["metadata"]["name"] for item in found if namespace in json.dumps(item.get("webhooks"))]
