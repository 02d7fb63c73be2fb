"""Servers that the Go operator runs as pods of their own."""

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres import reasons
from steward.multigres.status.unmanaged_servers import unmanaged_servers_stall
from steward.multigres.views import PodView

SHARD = ObjectMeta(name="shard", uid="shard-uid")


def pod(name: str, owner: str) -> PodView:
    reference = OwnerReference(kind="Shard", name="shard", uid=owner, controller=True)
    return PodView(ObjectMeta(name=name, owner_references=(reference,)))


def test_pods_that_the_shard_itself_controls_are_reported_and_bounded() -> None:
    stall = unmanaged_servers_stall(SHARD, [pod(f"server-{number}", "shard-uid") for number in range(5)])
    assert stall is not None
    assert stall.reason == reasons.UNMANAGED_SERVERS
    assert "pods server-0, server-1, server-2 and 2 more run Postgres without a StatefulSet" in stall.message


def test_a_single_one_is_enough() -> None:
    stall = unmanaged_servers_stall(SHARD, [pod("bare", "shard-uid"), pod("of-a-set", "set-uid")])
    assert stall is not None
    assert stall.message.startswith("pods bare run")


def test_pods_of_sets_and_pods_without_a_controller_are_no_obstacle() -> None:
    pods = [pod("of-a-set", "set-uid"), PodView(ObjectMeta(name="orphan"))]
    assert unmanaged_servers_stall(SHARD, pods) is None
