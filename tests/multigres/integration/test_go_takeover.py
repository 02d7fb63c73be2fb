"""Running clusters of the Go multigres operator: what is taken over, and what is left alone.

Both clusters run before the operator that both tests share.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names, reasons
from steward.multigres.objects.metadata import FINALIZER
from tests.multigres.support.go_cluster import IMAGE, PASSWORD, GoCluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.served_namespaces import new_namespaces
from tests.multigres.support.waiting import eventually
from tests.support import data_planes
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

KEPT = ("persistentvolumeclaim", "service", "deployment", "shard", "cell", "tablegroup", "toposerver")


class TakenOver(NamedTuple):
    """A cluster, and its state before Steward's operator started."""

    cluster: GoCluster
    uids: dict[str, str]
    addresses: dict[str, str]
    servers: list[str]


@pytest.fixture(scope="module")
def taken_over(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[TakenOver, TakenOver]]:
    """A cluster with StatefulSets, and one whose servers are bare pods."""
    data_planes.connect_to(control_plane)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with new_namespaces(api_server, 2) as homes:
        whole, bare = (GoCluster(kubectl, home) for home in homes)
        for each in (whole, bare):
            each.create()
        for each in (whole, bare):
            each.wait_running()
        bare.make_bare()
        before = (state_of(whole), state_of(bare))
        with running_operator(control_plane, ",".join(homes), log):
            yield before


def state_of(cluster: GoCluster) -> TakenOver:
    uids = cluster.uids(*KEPT, "pod")
    return TakenOver(cluster, uids, addresses(cluster), cluster.pods("shard-pool"))


def images(go_cluster: GoCluster) -> set[str]:
    found = go_cluster.clusters.all("pod")
    return {container["image"] for pod in found for container in pod["spec"]["containers"]}


def addresses(go_cluster: GoCluster) -> dict[str, str]:
    return {
        each["metadata"]["name"]: each["spec"]["clusterIP"] for each in go_cluster.clusters.all("service")
    }


def finalizers(go_cluster: GoCluster) -> list[str]:
    found = [each for kind in ("mgc", "cell", "shard") for each in go_cluster.clusters.all(kind)]
    return [name for each in found for name in each["metadata"]["finalizers"]]


def test_a_running_cluster_keeps_volumes_password_and_services(
    taken_over: tuple[TakenOver, TakenOver],
) -> None:
    go_cluster, before, reached, servers = taken_over[0]
    kept = {name: uid for name, uid in before.items() if not name.startswith("Pod/")}
    deployments = len([name for name in before if name.startswith("Deployment/")])
    eventually(lambda: IMAGE not in images(go_cluster), "every pod to be replaced")
    go_cluster.clusters.wait_ready(go_cluster.name)
    assert go_cluster.pods("shard-pool") == servers
    assert kept.items() <= go_cluster.uids(*KEPT).items()
    assert reached.items() <= addresses(go_cluster).items()
    for secret in (names.password_secret(go_cluster.name), names.connection_secret(go_cluster.name)):
        assert go_cluster.password(secret) == PASSWORD
    assert set(finalizers(go_cluster)) == {FINALIZER}
    added = len(go_cluster.uids("deployment")) - deployments
    assert len(go_cluster.uids("replicaset")) == 2 * deployments + added, "replaced once"
    claims = [each["metadata"]["labels"] for each in go_cluster.clusters.all("persistentvolumeclaim")]
    assert {labels.get("app.kubernetes.io/managed-by") for labels in claims} == {"multigres-operator"}

    go_cluster.kubectl("delete", "mgc", go_cluster.name, "-n", go_cluster.namespace, "--wait=false")
    eventually(lambda: go_cluster.clusters.all("mgc") == [], "the deletion of the cluster")
    assert {f"PersistentVolumeClaim/pgdata-{pod}" for pod in servers} <= go_cluster.uids(KEPT[0]).keys()


def test_servers_without_a_stateful_set_are_left_alone(taken_over: tuple[TakenOver, TakenOver]) -> None:
    go_cluster, before, _, servers = taken_over[1]
    shard = names.shard(go_cluster.path)

    def stalled() -> str:
        conditions = go_cluster.clusters.get("shard", shard).get("status", {}).get("conditions", [])
        return next((each["reason"] for each in conditions if each["type"] == "Stalled"), "")

    eventually(lambda: stalled() == reasons.UNMANAGED_SERVERS, "a Shard that reports its bare servers")
    assert go_cluster.clusters.get("statefulset", go_cluster.pool) is None
    after = go_cluster.uids("pod", "persistentvolumeclaim")
    kept = [f"Pod/{pod}" for pod in servers]
    kept += [name for name in before if name.startswith("PersistentVolumeClaim/pgdata-")]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
