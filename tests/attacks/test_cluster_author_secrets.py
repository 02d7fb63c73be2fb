"""Attacks with references: Secrets and accounts of other namespaces, and pod options that weaken security.

The author may write clusters and templates in one namespace, and reads their statuses and events.
"""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.attacks.support.attacked_operator import attacked_operator
from tests.attacks.support.cluster_author import PASSWORD, ClusterAuthor, conditions
from tests.multigres.support.operator import remove_finalizers
from tests.multigres.support.waiting import eventually
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

COMPARED = ("ReferencesFound", "TopologyRegistered", "GatewayCertificateReady", "Degraded", "Stalled")
PATHS = ("{}/{}", "../{}/{}", "../../{}/secrets/{}", "..%2F..%2F{}%2Fsecrets%2F{}")


@pytest.fixture(scope="module")
def author(
    control_plane: ControlPlane, api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClusterAuthor]:
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    own, victim = namespaces.create_namespace(api_server), namespaces.create_namespace(api_server)
    keys = ("password", "ca.crt", "tls.crt", "tls.key")
    literals = [f"--from-literal={key}={PASSWORD}" for key in keys]
    kubectl("create", "secret", "generic", "database", *literals, "-n", victim)
    with attacked_operator(control_plane, kubectl, own, tmp_path_factory.mktemp("operator")) as operator:
        yield ClusterAuthor(operator, victim)
        remove_finalizers(kubectl, own)
    for name in (own, victim):
        namespaces.release_namespace(api_server, name)


def spec_with(**more: Any) -> dict[str, Any]:
    """A cluster without servers."""
    stopped = {"name": "s", "spec": {"pools": {"main": {"replicasPerCell": 0}}}}
    groups = [{"name": "default", "default": True, "shards": [stopped]}]
    return {"databases": [{"name": "postgres", "default": True, "tablegroups": groups}], **more}


def account(name: str) -> dict[str, Any]:
    return {"type": "s3", "s3": {"bucket": "b", "region": "r", "serviceAccountName": name}}


def every_reference(name: str) -> dict[str, Any]:
    """A cluster that names the same Secret in each field that takes one."""
    external = {"endpoints": ["https://127.0.0.1:1"], "caSecret": name, "clientCertSecret": name}
    s3 = {"bucket": "b", "region": "r", "credentialsSecret": name}
    return spec_with(
        globalTopoServer={"external": external},
        postgresPasswordSecretRef={"name": name},
        images={"imagePullSecrets": [{"name": name}]},
        backup={"type": "s3", "s3": s3, "pgbackrestTLS": {"secretName": name}},
        gatewayTls={"enabled": True, "secretName": name},
    )


@pytest.mark.parametrize("number", range(len(PATHS)), ids=[path.format("ns", "secret") for path in PATHS])
def test_no_reference_reaches_a_secret_of_another_namespace_or_tells_whether_it_exists(
    author: ClusterAuthor, number: int
) -> None:
    present, absent = f"present-{number}", f"absent-{number}"
    author.create(present, **every_reference(PATHS[number].format(author.victim, "database")))
    author.create(absent, **every_reference(PATHS[number].format(author.victim, "no-such-secret")))
    assert _statuses(author, present, "database") == _statuses(author, absent, "no-such-secret")
    visible = author.everything_visible()
    assert PASSWORD not in visible
    assert base64.b64encode(PASSWORD.encode()).decode() not in visible


def _statuses(author: ClusterAuthor, name: str, secret: str) -> dict[str, str]:
    """Condition messages once they have settled, without the names that differ between two clusters."""
    author.observed(name)

    def messages() -> dict[str, str]:
        found = conditions(author.get("mgc", name))
        return {
            kind: f"{each['status']} {each['reason']} {each['message']}".replace(name, "CLUSTER").replace(
                secret, "SECRET"
            )
            for kind, each in found.items()
            if kind in COMPARED
        }

    previous: dict[str, str] = {}

    def is_settled() -> bool:
        nonlocal previous
        before, previous = previous, messages()
        return bool(previous) and previous == before

    eventually(is_settled, f"settled conditions of {name}")
    return previous


def test_pods_get_no_token_of_the_account_that_a_cluster_names(author: ClusterAuthor) -> None:
    author.create("accounted", **spec_with(backup=account("powerful")))
    sets = eventually(lambda: _workloads(author, "statefulsets", "accounted"), "StatefulSets")
    deployments = eventually(lambda: _workloads(author, "deployments", "accounted"), "Deployments")
    tokens = [
        each["spec"]["template"]["spec"]["automountServiceAccountToken"] for each in [*sets, *deployments]
    ]
    assert set(tokens) == {False}


def _workloads(author: ClusterAuthor, kind: str, name: str) -> list[Any]:
    selector = f"multigres.com/cluster={name}"
    items = author.kubectl.json("get", kind, "-n", author.namespace, "-l", selector)["items"]
    return list(items)


def test_options_for_pods_cannot_weaken_their_security(author: ClusterAuthor) -> None:
    hostile = {
        "affinity": {"nodeAffinity": {}},
        "tolerations": [{"operator": "Exists"}],
        "podLabels": {
            "multigres.com/cluster": "other",
            "app.kubernetes.io/managed-by": "other",
            "mine": "yes",
        },
        "podAnnotations": {
            "container.apparmor.security.beta.kubernetes.io/multigateway": "unconfined",
            "example.com/team": "shop",
        },
        "resources": {"limits": {"cpu": "1"}},
    }
    author.create("hostile", **spec_with(cells=[{"zone": "z1", "spec": {"multiGateway": hostile}}]))
    [deployment] = eventually(
        lambda: [
            each
            for each in _workloads(author, "deployments", "hostile")
            if each["metadata"]["labels"]["app.kubernetes.io/component"] == "multigateway"
        ],
        "the gateways",
    )
    template = deployment["spec"]["template"]
    pod, [container] = template["spec"], template["spec"]["containers"]
    assert {"hostNetwork", "hostPID", "hostIPC"}.isdisjoint(pod)
    assert all("hostPath" not in volume for volume in pod["volumes"])
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["runAsNonRoot"] is True
    assert template["metadata"]["labels"]["multigres.com/cluster"] == "hostile"
    assert template["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "multigres-operator"
    assert template["metadata"]["labels"]["mine"] == "yes"
    assert template["metadata"]["annotations"] == {"example.com/team": "shop"}
