"""Which pod of a shard is replaced next, and how far a pool may shrink."""

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import reasons
from steward.multigres.rollout.pods import (
    REVISION,
    Member,
    PoolState,
    ShardPods,
    decide_rollout,
    decide_scale,
    members_of,
)
from steward.multigres.views import (
    ContainerState,
    ContainerStates,
    ContainerStatus,
    PodCondition,
    PodStatus,
    PodView,
    StatefulSetSpec,
    StatefulSetView,
    WorkloadStatus,
)

NOW = 1_000_000.0
OLD, NEW = "old", "new"


def pod(
    name: str,
    revision: str = OLD,
    *,
    ready: bool = True,
    terminating: bool = False,
    since: float = NOW,
    stuck: str = "",
) -> PodView:
    condition = PodCondition("Ready", "True" if ready else "False", last_transition_time=to_timestamp(since))
    waiting = ContainerStates(waiting=ContainerState(stuck)) if stuck else ContainerStates()
    return PodView(
        ObjectMeta(
            name=name,
            uid=f"uid of {name}",
            labels={REVISION: revision},
            deletion_timestamp=to_timestamp(NOW) if terminating else None,
        ),
        PodStatus(conditions=(condition,), container_statuses=(ContainerStatus("postgres", state=waiting),)),
    )


def stateful_set(name: str, replicas: int, *, is_observed: bool = True) -> StatefulSetView:
    status = WorkloadStatus(observed_generation=2 if is_observed else 1, update_revision=NEW)
    return StatefulSetView(ObjectMeta(name=name, generation=2), StatefulSetSpec(replicas), status)


def pool(name: str, *pods: PodView, desired: int | None = None, may_lead: bool = True) -> PoolState:
    live = stateful_set(name, len(pods))
    return PoolState(
        name, len(pods) if desired is None else desired, live, may_lead, members_of(name, live, pods, NOW)
    )


def replaced(scene: ShardPods) -> str | None:
    member = decide_rollout(scene).replace
    return None if member is None else member.name


def test_nothing_is_replaced_where_every_pod_runs_the_newest_revision() -> None:
    decision = decide_rollout(ShardPods((pool("a", pod("a-0", NEW), pod("a-1", NEW)),), "a-0"))
    assert (decision.is_rolling, decision.reason, decision.replace) == (False, "PodsUpToDate", None)


def test_replicas_of_all_pools_are_replaced_before_the_primary() -> None:
    pods = {name: pod(name) for name in ("a-0", "a-1", "b-0")}
    order = []
    for _ in pods:
        scene = ShardPods((pool("a", pods["a-0"], pods["a-1"]), pool("b", pods["b-0"])), "a-1")
        name = replaced(scene)
        assert name is not None
        order.append(name)
        pods[name] = pod(name, NEW)
    assert order == ["a-0", "b-0", "a-1"]


def test_the_highest_ordinal_of_a_pool_is_replaced_first() -> None:
    assert replaced(ShardPods((pool("a", pod("a-0"), pod("a-1"), pod("a-2")),), "a-0")) == "a-2"


def test_an_unknown_primary_is_waited_for_and_reported() -> None:
    decision = decide_rollout(ShardPods((pool("a", pod("a-0"), pod("a-1")),), None))
    assert (decision.replace, decision.reason) == (None, reasons.PRIMARY_UNKNOWN)
    assert "which pod is the primary" in decision.message


def test_a_shard_of_one_server_has_no_order_to_get_wrong() -> None:
    assert replaced(ShardPods((pool("a", pod("a-0")),), None)) == "a-0"


def test_the_only_server_that_may_lead_needs_no_known_primary() -> None:
    reading = pool("b", pod("b-0", NEW), may_lead=False)
    assert replaced(ShardPods((pool("a", pod("a-0")), reading), None)) == "a-0"


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ((pod("a-1", NEW, terminating=True),), "waits until pod a-1 is replaced"),
        ((pod("a-1", NEW, ready=False),), "waits until pod a-1 is ready"),
    ],
)
def test_the_next_pod_is_replaced_only_when_the_last_one_is_ready(
    others: tuple[PodView, ...], message: str
) -> None:
    decision = decide_rollout(ShardPods((pool("a", pod("a-0"), *others),), "a-0"))
    assert decision.replace is None
    assert decision.message.startswith(message)


def test_a_missing_pod_is_waited_for() -> None:
    live = stateful_set("a", 3)
    members = members_of("a", live, [pod("a-0"), pod("a-2")], NOW)
    decision = decide_rollout(ShardPods((PoolState("a", 3, live, True, members),), "a-0"))
    assert decision.message.startswith("waits until pod a-1 is replaced")


def test_one_pod_of_the_whole_shard_is_away_at_a_time() -> None:
    scene = ShardPods((pool("a", pod("a-0")), pool("b", pod("b-0", NEW, ready=False))), "a-0")
    assert replaced(scene) is None


def test_a_revision_that_the_set_has_not_announced_yet_is_waited_for() -> None:
    live = stateful_set("a", 2, is_observed=False)
    members = members_of("a", live, [pod("a-0", NEW), pod("a-1", NEW)], NOW)
    decision = decide_rollout(ShardPods((PoolState("a", 2, live, True, members),), "a-0"))
    assert (decision.is_rolling, decision.reason, decision.replace) == (False, reasons.REVISION_PENDING, None)
    with_outdated = PoolState("a", 2, live, True, members_of("a", live, [pod("a-0"), pod("a-1")], NOW))
    assert (
        decide_rollout(ShardPods((with_outdated,), "a-0")).message
        == "waits until the new revision of a is known"
    )


def test_a_failing_pod_of_the_newest_revision_stops_the_rollout() -> None:
    broken = pod("a-2", NEW, ready=False, stuck="CrashLoopBackOff")
    decision = decide_rollout(ShardPods((pool("a", pod("a-0"), pod("a-1"), broken),), "a-0"))
    assert (decision.replace, decision.reason) == (None, reasons.ROLLOUT_STOPPED)
    assert "stopped with 2 pods to go: pod a-2: container postgres is in CrashLoopBackOff" in decision.message
    assert decision.problem


def test_a_pod_that_stays_unready_stops_the_rollout() -> None:
    late = pod("a-1", NEW, ready=False, since=NOW - 61)
    assert decide_rollout(ShardPods((pool("a", pod("a-0"), late),), "a-0")).reason == reasons.ROLLOUT_STOPPED


@pytest.mark.parametrize("primary", ["a-0", None])
def test_a_new_revision_replaces_failing_pods_first(primary: str | None) -> None:
    broken = pod("a-2", "bad", ready=False, stuck="ImagePullBackOff")
    assert replaced(ShardPods((pool("a", pod("a-0"), pod("a-1"), broken),), primary)) == "a-2"


def test_failing_pods_of_a_shard_without_a_primary_are_replaced() -> None:
    stuck = [pod(f"a-{n}", "bad", ready=False, stuck="ImagePullBackOff") for n in range(3)]
    assert replaced(ShardPods((pool("a", *stuck),), None)) == "a-2"


def test_a_failing_outdated_pod_does_not_wait_for_an_unready_new_one() -> None:
    fresh = pod("a-2", NEW, ready=False)
    stuck = [pod(f"a-{n}", "bad", ready=False, stuck="CrashLoopBackOff") for n in range(2)]
    assert replaced(ShardPods((pool("a", *stuck, fresh),), None)) == "a-1"


def test_the_only_unready_pod_is_replaced_next() -> None:
    young = pod("a-0", "bad", ready=False)
    assert replaced(ShardPods((pool("a", young, pod("a-1"), pod("a-2")),), "a-2")) == "a-0"


def test_a_primary_that_is_briefly_unready_is_not_failing() -> None:
    scene = ShardPods((pool("a", pod("a-0", ready=False), pod("a-1")),), "a-0")
    assert replaced(scene) is None


def shrinking(
    primary: str | None, *pods: PodView, desired: int = 1, others: tuple[PoolState, ...] = ()
) -> tuple[int, str]:
    scaled = pool("a", *pods, desired=desired)
    decision = decide_scale(scaled, ShardPods((scaled, *others), primary))
    return decision.replicas, decision.reason


THREE = (pod("a-0", NEW), pod("a-1", NEW), pod("a-2", NEW))


def test_a_pool_scales_down_by_one_at_a_time_from_the_highest_ordinal() -> None:
    assert shrinking("a-0", *THREE) == (2, reasons.SCALING_DOWN)
    assert shrinking("a-0", *THREE[:2]) == (1, "")


def test_a_pool_whose_highest_pod_is_the_primary_waits_for_a_handover() -> None:
    scaled = pool("a", *THREE, desired=1)
    decision = decide_scale(scaled, ShardPods((scaled,), "a-2"))
    assert (decision.replicas, decision.reason) == (3, reasons.PRIMARY_WOULD_GO)
    assert "until another pod has taken over: a-2 is the primary" in decision.message


def test_a_primary_further_down_is_waited_for_when_its_turn_comes() -> None:
    assert shrinking("a-1", *THREE) == (2, reasons.SCALING_DOWN)
    assert shrinking("a-1", *THREE[:2]) == (2, reasons.PRIMARY_WOULD_GO)


def test_no_pod_is_removed_while_the_primary_is_unknown() -> None:
    assert shrinking(None, *THREE) == (3, reasons.PRIMARY_UNKNOWN)


def test_the_next_pod_is_removed_when_the_last_one_is_gone() -> None:
    assert shrinking("a-0", THREE[0], THREE[1], pod("a-2", NEW, terminating=True)) == (
        3,
        reasons.SCALING_DOWN,
    )


def test_a_shard_scaled_to_zero_waits_for_no_handover() -> None:
    assert shrinking("a-2", *THREE, desired=0) == (0, "")


def test_a_pool_scaled_to_zero_beside_another_hands_over_first() -> None:
    others = (pool("b", pod("b-0", NEW)),)
    assert shrinking("a-0", THREE[0], desired=0, others=others) == (1, reasons.PRIMARY_WOULD_GO)
    assert shrinking("b-0", THREE[0], desired=0, others=others) == (0, "")


def test_while_a_set_is_recreated_its_pods_imply_the_replicas() -> None:
    found = members_of("a", None, THREE, NOW)
    scaled = PoolState("a", 2, None, True, found)
    assert decide_scale(scaled, ShardPods((scaled,), "a-2")).replicas == 3
    assert decide_scale(scaled, ShardPods((scaled,), "a-0")).replicas == 2
    new = PoolState("a", 2, None, True)
    assert decide_scale(new, ShardPods((new,), None)).replicas == 2


def test_while_a_set_is_recreated_no_pod_of_another_is_replaced() -> None:
    remade = PoolState("b", 1, None, True, members_of("b", None, [pod("b-0")], NOW))
    assert replaced(ShardPods((pool("a", pod("a-0")), remade), "b-0")) is None


def test_a_pool_scales_up_at_once() -> None:
    assert shrinking(None, *THREE, desired=5) == (5, "")


def test_a_read_only_pool_scales_down_without_a_known_primary() -> None:
    scaled = pool("a", *THREE, desired=1, may_lead=False)
    assert decide_scale(scaled, ShardPods((scaled,), None)).replicas == 1


def test_pods_of_a_set_with_a_longer_name_do_not_count() -> None:
    live = stateful_set("a", 1)
    found = members_of("a", live, [pod("a-0"), pod("a-b-0"), pod("a-00")], NOW)
    assert found == (Member("a-0", "uid of a-0", 0, True, True, False),)


def test_the_only_server_stays_until_it_is_known_whether_it_is_the_primary() -> None:
    old, new = pool("a", pod("a-0"), desired=0), PoolState("b", 1, None, may_lead=True)
    held = decide_scale(old, ShardPods((old, new), None))
    assert (held.replicas, held.reason) == (1, reasons.PRIMARY_UNKNOWN)
