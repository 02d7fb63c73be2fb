"""Servers of a shard as pods and pools."""

from steward.multigres.rollout.pods import Member, PoolState, members_of
from tests.multigres.support.shard_pods import NOW, new_pods, pod, pool, removed_pool, shard, stateful_set


def test_pods_of_a_set_with_a_longer_name_do_not_count() -> None:
    live = stateful_set("a", 1)
    found = members_of("a", live, [pod("a-0"), pod("a-b-0"), pod("a-00")], NOW)
    assert found == (Member("a-0", "uid of a-0", 0, True, True, False),)


def test_a_pool_without_a_set_has_the_replicas_that_its_pods_imply() -> None:
    recreated = PoolState("a", "z1", 2, None, members_of("a", None, new_pods("a", 3), NOW))
    assert (recreated.replicas, recreated.surplus) == (3, ["a-2"])
    assert PoolState("a", "z1", 2, None).replicas == 0


def test_servers_that_are_about_to_be_created_count() -> None:
    growing = pool("a", *new_pods("a", 1), desired=3)
    assert (growing.server_names, growing.surplus) == (["a-0", "a-1", "a-2"], [])


def test_a_removed_pool_without_a_set_has_only_its_living_pods() -> None:
    pods = [pod("b-0", terminating=True), pod("b-2")]
    left = PoolState("b", "z2", 0, None, members_of("b", None, pods, NOW), is_removed=True)
    assert (left.server_names, left.missing, left.surplus[0]) == (["b-2"], [], "b-2")


def test_all_servers_of_a_removed_pool_are_surplus() -> None:
    scene = shard(pool("a", *new_pods("a", 2)), removed_pool("b", *new_pods("b", 2)))
    assert scene.surplus == {"b-0", "b-1"}
    assert set(scene.server_ids) == {"a-0", "a-1", "b-0", "b-1"}
