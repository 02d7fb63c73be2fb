"""Servers of a shard as pods and pools."""

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres.rollout.pods import Member, PoolState, members_of, unsettled
from steward.multigres.servers.assessment import Server, ServerState
from steward.multigres.views import PodStatus, PodView
from tests.multigres.support.shard_pods import (
    NEW,
    NOW,
    knowing,
    new_pods,
    pod,
    pool,
    removed_pool,
    shard,
    stateful_set,
)


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


def member(found: PodView, now: float = NOW) -> Member:
    [only] = members_of("a", stateful_set("a", 1), [found], now)
    return only


@pytest.mark.parametrize(
    ("found", "is_ready", "is_terminating", "is_outdated"),
    [
        (pod("a-0"), True, False, True),
        (pod("a-0", NEW), True, False, False),
        (pod("a-0", NEW, ready=False), False, False, False),
        (pod("a-0", NEW, terminating=True), False, True, False),
    ],
)
def test_a_pod_that_ends_is_not_ready(
    found: PodView, is_ready: bool, is_terminating: bool, is_outdated: bool
) -> None:
    server = member(found)
    assert (server.is_ready, server.is_terminating, server.is_outdated) == (
        is_ready,
        is_terminating,
        is_outdated,
    )


def test_without_a_set_no_pod_is_outdated() -> None:
    [only] = members_of("a", None, [pod("a-0")], NOW)
    assert not only.is_outdated


@pytest.mark.parametrize(
    ("unready_for", "problem"), [(0.0, ""), (59.0, ""), (60.0, "pod a-0 has not been ready for 60 s")]
)
def test_a_pod_has_a_minute_to_become_ready(unready_for: float, problem: str) -> None:
    assert member(pod("a-0", ready=False, since=NOW - unready_for)).problem == problem
    created = PodView(ObjectMeta(name="a-0", creation_timestamp=to_timestamp(NOW - unready_for)), PodStatus())
    assert member(created).problem == problem, "without a condition it counts from its creation"
    assert member(PodView(ObjectMeta(name="a-0"), PodStatus())).problem == ""


def test_servers_without_a_pod_are_missing() -> None:
    live = stateful_set("a", 3)
    some = PoolState("a", "z1", 3, live, members_of("a", live, [pod("a-1")], NOW))
    assert some.missing == ["a-0", "a-2"]
    assert shard(some).away == ["a-0", "a-2"]
    ending = pool("a", pod("a-0", terminating=True), pod("a-1"))
    assert shard(ending).away == ["a-0"]


@pytest.mark.parametrize(("desired", "is_shrinking"), [(1, True), (2, False), (3, False)])
def test_a_pool_shrinks_while_it_has_more_replicas_than_desired(desired: int, is_shrinking: bool) -> None:
    assert pool("a", *new_pods("a", 2), desired=desired).is_shrinking is is_shrinking


def test_a_revision_is_known_when_the_set_has_observed_its_generation() -> None:
    assert pool("a", pod("a-0")).is_observed
    assert not PoolState("a", "z1", 1, stateful_set("a", 1, is_observed=False)).is_observed
    assert not PoolState("a", "z1", 1, None).is_observed
    ahead = stateful_set("a", 1)
    newer = msgspec.structs.replace(ahead.status, observed_generation=3)
    assert PoolState("a", "z1", 1, msgspec.structs.replace(ahead, status=newer)).is_observed


def test_a_server_is_broken_if_its_pod_fails_or_its_postgres_stays_down() -> None:
    failing = pod("a-1", ready=False, stuck="CrashLoopBackOff")
    scene = shard(pool("a", pod("a-0"), failing, pod("a-2")), states={"a-2": ServerState.DOWN})
    assert [scene.is_broken(each) for each in scene.members] == [False, True, False]
    down = scene._replace(broken=frozenset({"a-2"}))
    assert down.problem(down.members[0]) == "Postgres of a-2 is down"
    detailed = knowing(down, servers=(Server("a-2", "z1", ServerState.DOWN, detail="disk full"),))
    assert detailed.problem(detailed.members[0]) == "Postgres of a-2 is down: disk full"


def test_servers_of_removed_pools_do_not_stay() -> None:
    scene = shard(pool("a", *new_pods("a", 2)), removed_pool("b", *new_pods("b", 1)))
    assert [each.name for each in scene.members] == ["a-1", "a-0", "b-0"]
    assert [each.name for each in scene.staying_members] == ["a-1", "a-0"]


def test_a_set_that_is_recreated_or_removed_counts_all_of_its_ordinals() -> None:
    pods = [pod("a-0"), pod("a-2")]
    recreated = PoolState("a", "z1", 2, None, members_of("a", None, pods, NOW))
    assert (recreated.server_names, recreated.surplus) == (["a-0", "a-1", "a-2"], ["a-2"])
    assert recreated.missing == ["a-1"]
    removed = removed_pool("b", pod("b-0", terminating=True), pod("b-1"))
    assert (removed.server_names, removed.surplus) == (["b-0", "b-1"], ["b-1", "b-0"])
    live = stateful_set("b", 2)
    incomplete = PoolState("b", "z2", 0, live, members_of("b", live, [pod("b-1")], NOW), is_removed=True)
    assert (incomplete.surplus, incomplete.missing) == (["b-1", "b-0"], ["b-0"])
    recreated_before = PoolState("a", "z1", 0, None, members_of("a", None, pods, NOW))
    assert recreated_before.surplus == ["a-2", "a-1", "a-0"], "a pool without a set that is still in the spec"


def test_a_server_that_nothing_reports_is_unknown() -> None:
    scene = shard(pool("a", *new_pods("a", 3)), states={"a-1": ServerState.STARTING})
    assert [scene.state(name) for name in ("a-0", "a-1", "b-0")] == [
        ServerState.READY,
        ServerState.STARTING,
        ServerState.UNKNOWN,
    ]
    assert [server.name for server in unsettled(scene, ["a-0", "a-1", "a-2", "b-0"])] == ["a-1", "b-0"]
    assert scene.is_long_unknown
