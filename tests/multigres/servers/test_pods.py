"""The servers that a shard has and should have."""

from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, POOL_LABEL
from steward.multigres.servers.assessment import ServerPod
from steward.multigres.servers.pods import server_pods
from steward.multigres.views import PodCondition, PodStatus, PodView, ShardView

BASE = names.pool(ShardPath("mini", "postgres", "default", "0-inf"), "main", "z1")
READY = PodStatus(conditions=(PodCondition("Ready", "True"),))


def shard(replicas: int) -> ShardView:
    spec = ShardSpec(
        shard_name="0-inf",
        database_name="postgres",
        table_group_name="default",
        pools={"main": Pool(cells=["z1"], replicas_per_cell=replicas)},
    )
    return ShardView(ObjectMeta(name="s", namespace="shop", labels={CLUSTER_LABEL: "mini"}), spec)


def pod(name: str, status: PodStatus = READY, deleted: str | None = None) -> PodView:
    labels = {CELL_LABEL: "z1", POOL_LABEL: "main"}
    return PodView(ObjectMeta(name=name, labels=labels, deletion_timestamp=deleted), status)


def test_desired_servers_have_a_pod_or_lack_it() -> None:
    assert server_pods(shard(2), [pod(f"{BASE}-0")]) == [
        ServerPod(f"{BASE}-0", "z1", "main", is_ready=True),
        ServerPod(f"{BASE}-1", "z1", "main", exists=False),
    ]


def test_pod_that_the_spec_does_not_have_is_not_desired() -> None:
    [kept, leaving] = server_pods(shard(1), [pod(f"{BASE}-1", PodStatus(), "2026-01-01T00:00:00Z")])
    assert not kept.exists
    assert leaving == ServerPod(f"{BASE}-1", "z1", "main", is_desired=False, is_terminating=True)


def test_stopped_shard_has_no_servers() -> None:
    assert server_pods(shard(0), []) == []
