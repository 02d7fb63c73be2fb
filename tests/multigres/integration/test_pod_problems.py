"""Problems of pods and volumes are reported by the owner and by the cluster until they are solved.

The namespace enforces Pod Security `restricted`.
"""

import base64
import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from steward.certificates.x509 import split_bundle
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from steward.local.kwok.pods import POD
from tests.multigres.support.clusters import small_cluster
from tests.multigres.support.idle_clusters import NO_WEB, idle_cluster
from tests.multigres.support.nodes_and_classes import LATE_ZONE, apply, node
from tests.multigres.support.operator import remove_finalizers, running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.kubectl import Kubectl

READY_SECONDS = 300


@pytest.fixture(scope="module")
def home(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A namespace with an operator for all tests of this file; the clusters have names of their own."""
    name = f"problems-{secrets.token_hex(4)}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {"name": name, "labels": labels}
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    kubectl("wait", "--for=create", "serviceaccount/default", "-n", name, "--timeout=60s")
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, name, log):
        yield name
    if namespaces.external_control_plane():
        remove_finalizers(kubectl, name)
    namespaces.release_namespace(kubectl.server, name)


@pytest.fixture(scope="module")
def grown(home: str, manual_class: str, late_node: str, kubectl: Kubectl) -> None:
    """All clusters of this file at once: what takes a while takes it for all of them."""
    late = {"zone": LATE_ZONE, "spec": {"multiGateway": {"replicas": 1}}}
    own = {"type": "filesystem", "pgbackrestTLS": {"secretName": "own-tls"}}
    items = [
        small_cluster(home, "steady", **NO_WEB),
        small_cluster(home, "unbound", pool={"storage": {"size": "1Gi", "class": manual_class}}, **NO_WEB),
        idle_cluster(home, "homeless", cells=[late]),
        small_cluster(home, "unsigned", backup=own, **NO_WEB),
    ]
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})


@pytest.fixture
def steady(grown: None, home: str, kubectl: Kubectl) -> str:
    """A cluster that is ready before its pods fail."""
    wait_ready(kubectl, home, "steady")
    return "steady"


def wait_ready(kubectl: Kubectl, namespace: str, name: str) -> None:
    limit = f"--timeout={READY_SECONDS}s"
    kubectl("wait", "mgc", name, "-n", namespace, "--for=condition=Ready", limit)


def status(kubectl: Kubectl, namespace: str, kind: str, name: str) -> dict[str, Any]:
    chosen = f"metadata.name={name}"
    found = kubectl.json("get", kind, "-n", namespace, "--field-selector", chosen)["items"]
    return (found[0].get("status") or {}) if found else {}


def test_a_cluster_becomes_ready_where_pods_must_be_restricted(
    home: str, steady: str, kubectl: Kubectl
) -> None:
    assert status(kubectl, home, "mgc", steady)["phase"] == "Healthy"
    reported = kubectl.expect_rejection(
        "run", "bold", "-n", home, "--image=x", "--privileged", "--dry-run=server"
    )
    assert 'violates PodSecurity "restricted' in reported


class PodProblem(NamedTuple):
    component: str
    failure: str
    text: str
    owner: str
    path: str


PROBLEMS = (
    PodProblem("multigateway", "image-pull-failure", "ImagePullBackOff", "cell", "cell z1: gateways "),
    PodProblem(
        "shard-pool", "crash-loop", "CrashLoopBackOff", "shard", "table group postgres/default: shard "
    ),
    PodProblem(
        "multiorch", "image-pull-failure", "ImagePullBackOff", "shard", "table group postgres/default"
    ),
    PodProblem("toposerver", "crash-loop", "CrashLoopBackOff", "toposerver", "topology server steady-"),
    PodProblem("multiadmin", "image-pull-failure", "ImagePullBackOff", "mgc", "steady-multiadmin: pod "),
)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.component)
def test_a_pod_problem_is_reported_up_to_the_cluster_until_it_is_solved(
    home: str, steady: str, kubectl: Kubectl, problem: PodProblem
) -> None:
    of = f"app.kubernetes.io/component={problem.component},app.kubernetes.io/instance={steady}"
    pods = ("pod", "-n", home, "-l", of)
    owner = owner_of(kubectl, home, steady, problem.owner)
    kubectl("annotate", *pods, f"{POD}={problem.failure}")

    def reported(kind: str, name: str) -> str:
        found = status(kubectl, home, kind, name)
        message = str(found.get("message", ""))
        return message if problem.text in message and found["phase"] == "Degraded" else ""

    eventually(lambda: reported(problem.owner, owner), f"the {problem.owner} to report it")
    assert eventually(lambda: reported("mgc", steady), "the cluster to report it").startswith(problem.path)
    kubectl("annotate", *pods, f"{POD}-")
    wait_ready(kubectl, home, steady)
    eventually(lambda: status(kubectl, home, "mgc", steady)["phase"] == "Healthy", "the problem to be solved")


def owner_of(kubectl: Kubectl, namespace: str, cluster: str, kind: str) -> str:
    """The cluster itself, or its only child of the kind."""
    if kind == "mgc":
        return cluster
    [found] = kubectl.json("get", kind, "-n", namespace, "-l", f"multigres.com/cluster={cluster}")["items"]
    return str(found["metadata"]["name"])


@pytest.fixture(scope="module")
def manual_class(kubectl: Kubectl) -> Iterator[str]:
    """A storage class whose volumes are created by hand."""
    name = f"manual-{secrets.token_hex(4)}"
    made = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "kubernetes.io/no-provisioner",
    }
    kubectl("create", "-f", "-", document=made)
    yield name
    kubectl("delete", "storageclass", name)
    kubectl("delete", "pv", "-l", f"steward.local/class={name}", "--wait=false")


def volume(claim: Manifest) -> Manifest:
    """Bound to this claim in advance: the binder need not find the two."""
    storage_class = claim["spec"]["storageClassName"]
    reference = {key: claim["metadata"][key] for key in ("namespace", "name")}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": claim["metadata"]["uid"], "labels": {"steward.local/class": storage_class}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "storageClassName": storage_class,
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **reference},
            "hostPath": {"path": "/var/lib/steward/volumes/manual"},
        },
    }


def test_an_unbound_volume_claim_is_named_until_it_is_bound(
    home: str, grown: None, manual_class: str, kubectl: Kubectl
) -> None:
    text = "volume claim pgdata-"
    eventually(lambda: text in message_of(kubectl, home, "unbound"), "the claim to be named")
    assert "is not bound" in message_of(kubectl, home, "unbound")
    claims = kubectl.json("get", "pvc", "-n", home, "-l", "app.kubernetes.io/instance=unbound")["items"]
    for claim in claims:
        if claim["spec"]["storageClassName"] == manual_class:
            kubectl("create", "-f", "-", document=volume(claim))
    wait_ready(kubectl, home, "unbound")
    eventually(lambda: text not in message_of(kubectl, home, "unbound"), "the claim to be forgotten")


def message_of(kubectl: Kubectl, namespace: str, name: str) -> str:
    return str(status(kubectl, namespace, "mgc", name).get("message", ""))


@pytest.fixture(scope="module")
def late_node(kubectl: Kubectl) -> Iterator[str]:
    """A node that takes no pods. It stays when the test is over: pods of others may have come to it."""
    waiting = node(LATE_ZONE, unschedulable=True)
    apply(kubectl, waiting)
    name = waiting["metadata"]["name"]
    yield name
    kubectl("cordon", name)


def test_the_scheduler_is_quoted_until_a_node_takes_the_pods(
    home: str, grown: None, late_node: str, kubectl: Kubectl
) -> None:
    text = "cannot be scheduled: 0/"
    eventually(lambda: text in message_of(kubectl, home, "homeless"), "the message of the scheduler")
    kubectl("uncordon", late_node)
    wait_ready(kubectl, home, "homeless")
    eventually(
        lambda: text not in message_of(kubectl, home, "homeless"), "the message of the scheduler to disappear"
    )


def test_missing_backup_certificates_are_reported_by_the_cluster_until_they_exist(
    home: str, grown: None, kubectl: Kubectl
) -> None:
    text = "Secret own-tls does not exist"
    eventually(lambda: text in message_of(kubectl, home, "unsigned"), "the Secret to be missed")
    keys = [f"--from-literal={key}=x" for key in ("ca.crt", "tls.crt", "tls.key")]
    kubectl("create", "secret", "generic", "own-tls", "-n", home, *keys)
    eventually(
        lambda: status(kubectl, home, "mgc", "unsigned").get("phase") == "Healthy", "the problem to be solved"
    )


def test_a_lost_authority_is_replaced_and_servers_trust_both(
    home: str, steady: str, kubectl: Kubectl
) -> None:
    shard = owner_of(kubectl, home, steady, "shard")
    old = trusted(kubectl, home, shard)
    assert len(old) == 1
    before = servers(kubectl, home, steady)
    kubectl("delete", "secret", f"{shard}-pgbackrest-ca", "-n", home)
    both = eventually(
        lambda: found if len(found := trusted(kubectl, home, shard)) == 2 else None, "a second authority"
    )
    assert old < both
    # The backup service reads whom to trust at its start.
    eventually(lambda: not before & servers(kubectl, home, steady), "the server to be replaced")
    wait_ready(kubectl, home, steady)


def trusted(kubectl: Kubectl, namespace: str, shard: str) -> set[bytes]:
    """The authorities in the Secret that the shard's pods mount."""
    secret = kubectl.json("get", "secret", f"{shard}-pgbackrest-tls", "-n", namespace)
    return set(split_bundle(base64.b64decode(secret["data"]["ca.crt"])))


def servers(kubectl: Kubectl, namespace: str, cluster: str) -> set[str]:
    of = f"app.kubernetes.io/component=shard-pool,app.kubernetes.io/instance={cluster}"
    found = kubectl.json("get", "pod", "-n", namespace, "-l", of)["items"]
    return {pod["metadata"]["uid"] for pod in found}
