"""Which pod of a shard is replaced next, and how far a pool may shrink."""

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import reasons
from steward.multigres.rollout.pods import REVISION, Member, Pool, Scene, judge, members_of, scale
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
    leaving: bool = False,
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
            deletion_timestamp=to_timestamp(NOW) if leaving else None,
        ),
        PodStatus(conditions=(condition,), container_statuses=(ContainerStatus("postgres", state=waiting),)),
    )


def stateful_set(name: str, replicas: int, *, is_observed: bool = True) -> StatefulSetView:
    status = WorkloadStatus(observed_generation=2 if is_observed else 1, update_revision=NEW)
    return StatefulSetView(ObjectMeta(name=name, generation=2), StatefulSetSpec(replicas), status)


def pool(name: str, *pods: PodView, wanted: int | None = None, may_lead: bool = True) -> Pool:
    seen = stateful_set(name, len(pods))
    return Pool(
        name, len(pods) if wanted is None else wanted, seen, may_lead, members_of(name, seen, pods, NOW)
    )


def replaced(scene: Scene) -> str | None:
    member = judge(scene).replace
    return None if member is None else member.name


def test_nothing_is_replaced_where_every_pod_runs_the_newest_revision() -> None:
    verdict = judge(Scene((pool("a", pod("a-0", NEW), pod("a-1", NEW)),), "a-0"))
    assert (verdict.is_rolling, verdict.reason, verdict.replace) == (False, "PodsUpToDate", None)


def test_replicas_go_before_the_primary_whatever_their_pool_and_ordinal() -> None:
    pods = {name: pod(name) for name in ("a-0", "a-1", "b-0")}
    order = []
    for _ in pods:
        scene = Scene((pool("a", pods["a-0"], pods["a-1"]), pool("b", pods["b-0"])), "a-1")
        name = replaced(scene)
        assert name is not None
        order.append(name)
        pods[name] = pod(name, NEW)
    assert order == ["a-0", "b-0", "a-1"]


def test_the_highest_ordinal_of_a_pool_goes_first() -> None:
    assert replaced(Scene((pool("a", pod("a-0"), pod("a-1"), pod("a-2")),), "a-0")) == "a-2"


def test_a_primary_that_is_not_known_is_waited_for_and_said() -> None:
    verdict = judge(Scene((pool("a", pod("a-0"), pod("a-1")),), None))
    assert (verdict.replace, verdict.reason) == (None, reasons.PRIMARY_UNKNOWN)
    assert "which pod is the primary" in verdict.message


def test_a_shard_of_one_server_has_no_order_to_get_wrong() -> None:
    assert replaced(Scene((pool("a", pod("a-0")),), None)) == "a-0"


def test_servers_that_cannot_lead_leave_no_doubt_about_the_one_that_can() -> None:
    reading = pool("b", pod("b-0", NEW), may_lead=False)
    assert replaced(Scene((pool("a", pod("a-0")), reading), None)) == "a-0"


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ((pod("a-1", NEW, leaving=True),), "waits until pod a-1 is replaced"),
        ((pod("a-1", NEW, ready=False),), "waits until pod a-1 is ready"),
    ],
)
def test_the_next_goes_only_when_the_last_is_ready(others: tuple[PodView, ...], told: str) -> None:
    verdict = judge(Scene((pool("a", pod("a-0"), *others),), "a-0"))
    assert verdict.replace is None
    assert verdict.message.startswith(told)


def test_a_pod_that_is_not_made_yet_is_waited_for() -> None:
    seen = stateful_set("a", 3)
    members = members_of("a", seen, [pod("a-0"), pod("a-2")], NOW)
    verdict = judge(Scene((Pool("a", 3, seen, True, members),), "a-0"))
    assert verdict.message.startswith("waits until pod a-1 is replaced")


def test_one_pod_of_the_whole_shard_is_away_at_a_time() -> None:
    scene = Scene((pool("a", pod("a-0")), pool("b", pod("b-0", NEW, ready=False))), "a-0")
    assert replaced(scene) is None


def test_a_revision_that_the_set_has_not_announced_yet_is_waited_for() -> None:
    seen = stateful_set("a", 2, is_observed=False)
    members = members_of("a", seen, [pod("a-0", NEW), pod("a-1", NEW)], NOW)
    verdict = judge(Scene((Pool("a", 2, seen, True, members),), "a-0"))
    assert (verdict.is_rolling, verdict.reason, verdict.replace) == (False, reasons.REVISION_PENDING, None)
    with_outdated = Pool("a", 2, seen, True, members_of("a", seen, [pod("a-0"), pod("a-1")], NOW))
    assert judge(Scene((with_outdated,), "a-0")).message == "waits until the new revision of a is known"


def test_a_pod_that_broke_on_the_newest_revision_stops_the_rollout_and_says_so() -> None:
    broken = pod("a-2", NEW, ready=False, stuck="CrashLoopBackOff")
    verdict = judge(Scene((pool("a", pod("a-0"), pod("a-1"), broken),), "a-0"))
    assert (verdict.replace, verdict.reason) == (None, reasons.ROLLOUT_STOPPED)
    assert "stopped with 2 pods to go: pod a-2: container postgres is in CrashLoopBackOff" in verdict.message
    assert verdict.trouble


def test_a_pod_that_stays_unready_for_long_stops_the_rollout_too() -> None:
    late = pod("a-1", NEW, ready=False, since=NOW - 61)
    assert judge(Scene((pool("a", pod("a-0"), late),), "a-0")).reason == reasons.ROLLOUT_STOPPED


@pytest.mark.parametrize("primary", ["a-0", None])
def test_a_new_revision_mends_what_the_last_one_broke_first(primary: str | None) -> None:
    broken = pod("a-2", "bad", ready=False, stuck="ImagePullBackOff")
    assert replaced(Scene((pool("a", pod("a-0"), pod("a-1"), broken),), primary)) == "a-2"


def test_even_a_shard_that_never_had_a_primary_is_mended() -> None:
    stuck = [pod(f"a-{n}", "bad", ready=False, stuck="ImagePullBackOff") for n in range(3)]
    assert replaced(Scene((pool("a", *stuck),), None)) == "a-2"


def test_what_is_broken_and_outdated_does_not_wait_for_what_is_new_and_not_ready() -> None:
    fresh = pod("a-2", NEW, ready=False)
    stuck = [pod(f"a-{n}", "bad", ready=False, stuck="CrashLoopBackOff") for n in range(2)]
    assert replaced(Scene((pool("a", *stuck, fresh),), None)) == "a-1"


def test_the_only_one_that_is_not_ready_is_the_next_to_go() -> None:
    young = pod("a-0", "bad", ready=False)
    assert replaced(Scene((pool("a", young, pod("a-1"), pod("a-2")),), "a-2")) == "a-0"


def test_a_primary_that_is_not_ready_for_a_moment_is_not_taken_for_broken() -> None:
    scene = Scene((pool("a", pod("a-0", ready=False), pod("a-1")),), "a-0")
    assert replaced(scene) is None


def shrinking(
    primary: str | None, *pods: PodView, wanted: int = 1, beside: tuple[Pool, ...] = ()
) -> tuple[int, str]:
    going = pool("a", *pods, wanted=wanted)
    verdict = scale(going, Scene((going, *beside), primary))
    return verdict.replicas, verdict.reason


THREE = (pod("a-0", NEW), pod("a-1", NEW), pod("a-2", NEW))


def test_a_pool_shrinks_by_one_at_a_time_from_the_top() -> None:
    assert shrinking("a-0", *THREE) == (2, reasons.SCALING_DOWN)
    assert shrinking("a-0", *THREE[:2]) == (1, "")


def test_a_pool_whose_highest_server_leads_waits_until_another_has_taken_over() -> None:
    going = pool("a", *THREE, wanted=1)
    verdict = scale(going, Scene((going,), "a-2"))
    assert (verdict.replicas, verdict.reason) == (3, reasons.PRIMARY_WOULD_GO)
    assert "until another pod has taken over: a-2 is the primary" in verdict.waiting


def test_a_primary_further_down_is_waited_for_when_its_turn_comes() -> None:
    assert shrinking("a-1", *THREE) == (2, reasons.SCALING_DOWN)
    assert shrinking("a-1", *THREE[:2]) == (2, reasons.PRIMARY_WOULD_GO)


def test_nobody_goes_while_the_primary_is_not_known() -> None:
    assert shrinking(None, *THREE) == (3, reasons.PRIMARY_UNKNOWN)


def test_the_next_one_goes_when_the_last_is_gone() -> None:
    assert shrinking("a-0", THREE[0], THREE[1], pod("a-2", NEW, leaving=True)) == (3, reasons.SCALING_DOWN)


def test_a_shard_that_is_stopped_as_a_whole_waits_for_nobody() -> None:
    assert shrinking("a-2", *THREE, wanted=0) == (0, "")


def test_a_pool_that_is_stopped_beside_another_hands_over_first() -> None:
    beside = (pool("b", pod("b-0", NEW)),)
    assert shrinking("a-0", THREE[0], wanted=0, beside=beside) == (1, reasons.PRIMARY_WOULD_GO)
    assert shrinking("b-0", THREE[0], wanted=0, beside=beside) == (0, "")


def test_while_a_set_is_made_again_its_pods_tell_how_many_there_are() -> None:
    found = members_of("a", None, THREE, NOW)
    going = Pool("a", 2, None, True, found)
    assert scale(going, Scene((going,), "a-2")).replicas == 3
    assert scale(going, Scene((going,), "a-0")).replicas == 2
    new = Pool("a", 2, None, True)
    assert scale(new, Scene((new,), None)).replicas == 2


def test_while_a_set_is_made_again_no_pod_of_another_goes() -> None:
    remade = Pool("b", 1, None, True, members_of("b", None, [pod("b-0")], NOW))
    assert replaced(Scene((pool("a", pod("a-0")), remade), "b-0")) is None


def test_a_pool_that_grows_grows_at_once() -> None:
    assert shrinking(None, *THREE, wanted=5) == (5, "")


def test_replicas_of_a_read_only_pool_go_whoever_leads() -> None:
    going = pool("a", *THREE, wanted=1, may_lead=False)
    assert scale(going, Scene((going,), None)).replicas == 1


def test_pods_are_told_apart_from_those_of_a_set_with_a_longer_name() -> None:
    seen = stateful_set("a", 1)
    found = members_of("a", seen, [pod("a-0"), pod("a-b-0"), pod("a-00")], NOW)
    assert found == (Member("a-0", "uid of a-0", 0, True, True, False),)


def test_the_only_server_stays_while_nobody_knows_who_leads_and_another_pool_is_to_take_over() -> None:
    old, new = pool("a", pod("a-0"), wanted=0), Pool("b", 1, None, may_lead=True)
    held = scale(old, Scene((old, new), None))
    assert (held.replicas, held.reason) == (1, reasons.PRIMARY_UNKNOWN)
