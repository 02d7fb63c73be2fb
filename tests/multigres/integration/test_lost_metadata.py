"""Objects whose labels or owner references a user removes stay the operator's own: it puts both back."""

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog, LogPosition
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually, run_async
from tests.support import namespaces
from tests.support.kubectl import Kubectl

MANAGED_BY, OPERATOR = "app.kubernetes.io/managed-by", "multigres-operator"
APPLIED = (
    *("cell", "tablegroup", "shard", "toposerver", "deployment", "statefulset", "service", "configmap"),
    *("secret", "poddisruptionbudget", "pvc", "controllerrevision"),
)
UNCHANGED_POLLS = 8
MAX_WRITES_PER_OBJECT = 4


class Labelled(Clusters):
    """A ready cluster with a running operator."""

    def objects(self, *kinds: str) -> dict[str, Any]:
        """By kind and name; without the pods of Deployments and the revisions of sets, which the operator does not
        create."""
        found = (self.kubectl.json("get", kind, "-n", self.namespace)["items"] for kind in kinds)
        items = {f"{each['kind']}/{each['metadata']['name']}": each for kind in found for each in kind}
        return {name: each for name, each in items.items() if _is_own(each)}

    def label(self, name: str, label: str, value: str | None) -> None:
        """`name` is as in `objects`; None removes the label."""
        self._patch(name, {"labels": {label: value}})

    def remove_owners(self, name: str) -> None:
        self._patch(name, {"ownerReferences": None})

    def _patch(self, name: str, metadata: dict[str, Any]) -> None:
        patch = json.dumps({"metadata": metadata})
        self.kubectl("patch", *name.split("/"), "-n", self.namespace, "--type=merge", "-p", patch)

    def wait_unchanged(self) -> None:
        """Until no object has changed during many polls."""
        seen: list[str] = []

        def is_unchanged() -> bool:
            versions = [
                each["metadata"]["resourceVersion"] for each in self.objects("mgc", *APPLIED).values()
            ]
            seen.append(json.dumps(versions))
            return len(seen) > UNCHANGED_POLLS and len(set(seen[-UNCHANGED_POLLS:])) == 1

        eventually(is_unchanged, "the operator to have nothing left to write")

    def is_healthy(self) -> bool:
        status = self.get("mgc", "mini")["status"]
        return bool(status["phase"] == "Healthy")

    def describe(self) -> str:
        """What each part of the cluster says of itself."""
        parts = self.objects("mgc", "cell", "tablegroup", "shard", "toposerver")
        return "\n".join(
            f"{name}: {each.get('status', {}).get('conditions')}" for name, each in parts.items()
        )


def _is_own(each: Any) -> bool:
    owners = each["metadata"].get("ownerReferences", [])
    labels = each["metadata"].get("labels") or {}
    is_made_by_set = any(owner["kind"] == "StatefulSet" for owner in owners) and each["kind"] != "Pod"
    is_made_by_replica_set = any(owner["kind"] == "ReplicaSet" for owner in owners)
    return "multigres.com/cluster" in labels and not (is_made_by_set or is_made_by_replica_set)


@pytest.fixture(scope="module")
def labelled(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Labelled]:
    namespace, log = f"labels-{secrets.token_hex(4)}", tmp_path_factory.mktemp("operator") / "operator.log"
    kubectl("create", "namespace", namespace)
    with running_operator(control_plane, namespace, log):
        found = Labelled(kubectl, namespace)
        template = {"coreTemplate": "plain"}
        metadata = {"name": "plain", "namespace": namespace}
        core = {
            "apiVersion": "multigres.com/v1alpha1",
            "kind": "CoreTemplate",
            "metadata": metadata,
            "spec": {},
        }
        found.apply(core)
        found.apply(small_cluster(namespace, "mini", templateDefaults=template))
        found.wait_ready()
        found.wait_unchanged()
        yield found
    namespaces.release_namespace(kubectl.server, namespace)


@pytest.fixture
def audit(control_plane: ControlPlane) -> AuditLog:
    return AuditLog(control_plane.audit_log, control_plane.kubeconfig)


def writes_since(audit: AuditLog, mark: LogPosition, namespace: str) -> list[str]:
    calls = run_async(audit.calls_since(mark)).writes_of(OPERATOR)
    return [
        f"{each.call.verb} {each.call.resource}/{each.call.name}/{each.call.subresource}"
        for each in calls
        if each.call.namespace == namespace and each.call.resource != "events"
    ]


@pytest.mark.parametrize("value", [None, "Helm"], ids=["removed", "changed"])
def test_the_label_of_the_operator_is_put_back_on_every_kind(
    labelled: Labelled, audit: AuditLog, value: str | None
) -> None:
    before = labelled.objects(*APPLIED)
    assert {name.partition("/")[0].lower() for name in before} >= {"service", "deployment", "secret", "cell"}
    mark = run_async(audit.mark())
    for name in before:
        labelled.label(name, MANAGED_BY, value)

    def has_labels() -> bool:
        now = labelled.objects(*APPLIED)
        return now.keys() == before.keys() and all(
            each["metadata"]["labels"].get(MANAGED_BY) == OPERATOR for each in now.values()
        )

    eventually(has_labels, "every label to be back")
    eventually(labelled.is_healthy, "the cluster to be healthy", explain=labelled.describe)
    labelled.wait_unchanged()
    after = labelled.objects(*APPLIED)
    assert {name: each["metadata"]["uid"] for name, each in after.items()} == {
        name: each["metadata"]["uid"] for name, each in before.items()
    }, "no object was recreated"
    writes = writes_since(audit, mark, labelled.namespace)
    assert len(writes) < MAX_WRITES_PER_OBJECT * len(before), writes


@pytest.mark.parametrize(
    ("label", "value"),
    [(MANAGED_BY, None), ("multigres.com/cell", "taken"), ("multigres.com/shard", None)],
    ids=["the operator's", "one of the selector", "one that names the shard"],
)
def test_labels_of_servers_and_their_volumes_are_put_back(
    labelled: Labelled, label: str, value: str | None
) -> None:
    before = {
        name: each["metadata"]
        for name, each in labelled.objects("pod", "pvc").items()
        if "multigres.com/pool" in each["metadata"]["labels"]
    }
    assert {name.partition("/")[0] for name in before} == {"Pod", "PersistentVolumeClaim"}
    for name in before:
        labelled.label(name, label, value)

    def is_restored() -> bool:
        now = {name: each["metadata"] for name, each in labelled.objects("pod", "pvc").items()}
        return all(
            name in now and now[name]["labels"] == metadata["labels"] and now[name]["uid"] == metadata["uid"]
            for name, metadata in before.items()
        )

    eventually(is_restored, f"{label} to be back")
    eventually(labelled.is_healthy, "the cluster to be healthy", explain=labelled.describe)


def test_removed_owner_references_are_put_back_on_every_kind(labelled: Labelled) -> None:
    before = {
        name: each["metadata"]["ownerReferences"][0]["uid"]
        for name, each in labelled.objects(*APPLIED).items()
        if each["metadata"].get("ownerReferences")
    }
    for name in before:
        labelled.remove_owners(name)

    def has_owners() -> bool:
        now = labelled.objects(*APPLIED)
        owners = {name: now[name]["metadata"].get("ownerReferences", []) for name in before if name in now}
        return {name: found[0]["uid"] for name, found in owners.items() if found} == before

    eventually(has_owners, "every owner reference to be back")
    eventually(labelled.is_healthy, "the cluster to be healthy", explain=labelled.describe)
    labelled.wait_unchanged()
    assert labelled.is_healthy()
