"""Which server of a shard leaves next: pools that shrink, pools and cells that are removed."""

import pytest

from steward.kube.objects.kinds import STATEFUL_SET, Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.common.children import UnwantedChild
from steward.multigres.controllers.shard.deletion import forced_removal_events
from steward.multigres.deletion.annotations import FORCE
from steward.multigres.deletion.server_removal import RemovalDecision, counts_in_cohort, decide_removal
from steward.multigres.rollout.pods import PoolState, ShardPods, members_of
from steward.multigres.rollout.switching import ChangeOptions, SwitchAttempt
from steward.multigres.servers.assessment import ServerState
from steward.multigres.views import ShardView
from steward.runtime.plan.steps import Emit, EventType
from tests.multigres.support.shard_pods import (
    MULTI_CELL,
    NEW,
    NOW,
    knowing,
    new_pods,
    pod,
    pool,
    removed_pool,
    shard,
)

BASE = pool("a", *new_pods("a", 3))
FORCED = ChangeOptions(is_forced=True)


def shrinking(
    desired: int = 2, primary: str | None = "a-0", states: dict[str, ServerState] | None = None
) -> ShardPods:
    """A pool of four servers."""
    return shard(pool("a", *new_pods("a", 4), desired=desired), primary=primary, states=states)


def leaves(pods: ShardPods) -> tuple[str, str]:
    decision = decide_removal(pods)
    return decision.leaves, decision.reason


def test_a_pool_grows_at_once() -> None:
    scene = knowing(shard(pool("a", *new_pods("a", 3), desired=5)), unknown="all", is_current=False)
    assert decide_removal(scene) == RemovalDecision({"a": 5})


def test_a_pool_loses_its_highest_server_and_then_waits() -> None:
    decision = decide_removal(shrinking(desired=2))
    assert (decision.replicas, decision.leaves) == ({"a": 3}, "a-3")
    assert (decision.reason, decision.message) == (
        reasons.SCALING_DOWN,
        "scaling a down from 4 to 2 waits until a-3 has left",
    )
    assert decide_removal(shrinking(desired=3)) == RemovalDecision({"a": 3}, "a-3")


def test_one_server_of_the_whole_shard_leaves_at_a_time() -> None:
    scene = shard(BASE, pool("b", *new_pods("b", 2), desired=1), removed_pool("c", *new_pods("c", 2)))
    decision = decide_removal(scene)
    assert (decision.leaves, decision.replicas) == ("b-1", {"a": 3, "b": 1, "c": 2})


def test_the_next_server_leaves_when_the_pod_of_the_last_is_gone() -> None:
    ending = pod("b-1", NEW, terminating=True)
    live = pool("b", pod("b-0", NEW), desired=0).live
    left = PoolState("b", "z2", 0, live, members_of("b", live, [pod("b-0", NEW), ending], NOW), True)
    decision = decide_removal(shard(BASE, left))
    assert (decision.leaves, decision.message) == ("", "removing b waits until pod b-1 is gone")


def test_the_next_server_leaves_when_the_cohort_has_dropped_the_last() -> None:
    scene = shard(BASE, removed_pool("b", pod("b-0", NEW)), cohort=["a-0", "a-1", "a-2", "b-0", "b-1"])
    decision = decide_removal(scene)
    assert (decision.leaves, decision.reason) == ("", reasons.SCALING_DOWN)
    assert "until the shard's cohort no longer has b-1" in decision.message
    assert leaves(shard(BASE, removed_pool("b", pod("b-0", NEW))))[0] == "b-0"


def test_a_server_that_restarts_is_waited_for() -> None:
    scene = shard(
        pool("a", *new_pods("a", 2), pod("a-2", NEW, terminating=True)), removed_pool("b", pod("b-0"))
    )
    assert decide_removal(scene).message == "removing b waits until pod a-2 is gone"


def test_a_primary_is_switched_before_it_leaves() -> None:
    decision = decide_removal(shrinking(primary="a-3"))
    assert (decision.leaves, decision.reason, decision.switch_from) == (
        "",
        reasons.SWITCHING_PRIMARY,
        "a-3",
    )
    assert decision.message == (
        "scaling a down from 4 to 2 waits until another server has taken over: a-3 is the primary"
    )


def test_other_servers_leave_before_the_primary() -> None:
    scene = shard(
        BASE, removed_pool("b", *new_pods("b", 2)), pool("c", *new_pods("c", 2), desired=1), primary="b-1"
    )
    assert leaves(scene)[0] == "c-1"


def test_a_server_that_is_unknown_for_a_moment_is_part_of_the_removal() -> None:
    scene = knowing(shrinking(), unknown="multiadmin cannot reach server a-1")
    decision = decide_removal(scene._replace(is_long_unknown=False))
    assert (decision.leaves, decision.reason) == ("", reasons.SCALING_DOWN)


def test_a_refused_switch_is_reported_with_the_annotation() -> None:
    options = ChangeOptions(last_switch=SwitchAttempt("a-3", "not now"))
    decision = decide_removal(shrinking(primary="a-3"), options)
    assert (decision.leaves, decision.reason, decision.switch_from) == ("", reasons.SWITCH_REFUSED, "a-3")
    assert "refused: not now" in decision.message
    assert FORCE in decision.message


@pytest.mark.parametrize(
    ("changes", "reason", "message"),
    [
        ({"is_current": False}, reasons.SCALING_DOWN, "report their state after the last change"),
        ({"unknown": "multiadmin is away"}, reasons.STATE_UNKNOWN, "because multiadmin is away"),
        ({"cohort": None}, reasons.STATE_UNKNOWN, "until the members of the shard's cohort are known"),
        ({"primary": None}, reasons.PRIMARY_UNKNOWN, "until the shard has a primary"),
        ({"takes_writes": False}, reasons.NO_OTHER_READY, "until the primary a-0 takes writes"),
        ({"takes_writes": None}, reasons.NO_OTHER_READY, "until the primary a-0 takes writes"),
        (
            {"cohort": frozenset({"a-0", "a-2", "a-3"})},
            reasons.NO_OTHER_READY,
            "until a-1 is a member of the shard's cohort",
        ),
    ],
)
def test_what_is_not_known_or_not_so_is_waited_for_and_the_annotation_named(
    changes: dict[str, object], reason: str, message: str
) -> None:
    decision = decide_removal(knowing(shrinking(), **changes))
    assert (decision.leaves, decision.reason, decision.replicas) == ("", reason, {"a": 4})
    assert message in decision.message
    assert f'{FORCE}: "true"' in decision.message


@pytest.mark.parametrize(
    "state",
    [ServerState.STARTING, ServerState.NOT_STREAMING, ServerState.DOWN, ServerState.UNKNOWN],
)
@pytest.mark.parametrize("name", ["a-1", "a-2"], ids=["a server that stays", "a server that leaves later"])
def test_no_server_leaves_while_another_is_not_ready(name: str, state: ServerState) -> None:
    decision = decide_removal(shrinking(states={name: state}))
    assert (decision.leaves, decision.reason) == ("", reasons.NO_OTHER_READY)
    assert f"until Postgres of {name} is ready and streams (now {state})" in decision.message


def test_a_broken_server_leaves_first_and_is_not_waited_for() -> None:
    states = {"c-0": ServerState.DOWN}
    scene = shard(BASE, removed_pool("b", pod("b-0", NEW)), removed_pool("c", pod("c-0", NEW)), states=states)
    assert leaves(scene._replace(broken=frozenset(states)))[0] == "c-0"


def test_two_broken_servers_of_a_lost_cell_leave_one_after_the_other() -> None:
    names = ("b-0", "b-1")
    scene = shard(
        BASE, removed_pool("b", *new_pods("b", 2)), states=dict.fromkeys(names, ServerState.DOWN)
    )._replace(broken=frozenset(names))
    assert leaves(scene)[0] == "b-1"


def test_a_healthy_server_waits_while_a_broken_one_counts_in_the_cohort() -> None:
    """Five members, one down: without a second one no primary could be appointed."""
    states = {"b-0": ServerState.DOWN}
    scene = shard(BASE, removed_pool("b", *new_pods("b", 2)), states=states)._replace(
        broken=frozenset(states)
    )
    assert leaves(scene) == ("", reasons.NO_OTHER_READY)
    assert "keeps its quorum without b-1" in decide_removal(scene).message


@pytest.mark.parametrize("state", [ServerState.STARTING, ServerState.UNREGISTERED, ServerState.MISSING])
def test_a_server_that_never_joined_leaves_without_waiting_for_others(state: ServerState) -> None:
    states = {"a-3": state, "a-1": ServerState.NOT_STREAMING}
    scene = knowing(shrinking(desired=3, states=states), cohort=frozenset({"a-0", "a-1", "a-2"}))
    assert leaves(scene)[0] == "a-3"


def test_a_server_that_is_about_to_join_waits_like_a_member() -> None:
    scene = knowing(
        shrinking(desired=3, states={"a-1": ServerState.STARTING}), cohort=frozenset({"a-0", "a-1", "a-2"})
    )
    assert leaves(scene) == ("", reasons.NO_OTHER_READY)


def test_a_server_without_which_the_policy_cannot_hold_stays() -> None:
    scene = shard(pool("a", *new_pods("a", 2), desired=1))
    decision = decide_removal(scene)
    assert (decision.leaves, decision.reason, decision.replicas) == (
        "",
        reasons.DURABILITY_WOULD_BREAK,
        {"a": 2},
    )
    assert "the durability policy needs 2 servers" in decision.message
    assert FORCE in decision.message


def test_servers_leave_as_far_as_the_policy_allows() -> None:
    assert leaves(shard(pool("a", *new_pods("a", 3), desired=1)))[0] == "a-2"


def test_the_last_cell_but_one_of_a_policy_of_two_cells_stays() -> None:
    scene = shard(BASE, removed_pool("b", *new_pods("b", 2)), policy=MULTI_CELL)
    assert leaves(scene)[0] == "b-1"
    assert leaves(shard(BASE, removed_pool("b", *new_pods("b", 1)), policy=MULTI_CELL)) == (
        "",
        reasons.DURABILITY_WOULD_BREAK,
    )


def test_a_refusal_of_one_pool_does_not_hold_another() -> None:
    scene = shard(
        pool("a", *new_pods("a", 3), desired=2), removed_pool("b", *new_pods("b", 1)), policy=MULTI_CELL
    )
    assert leaves(scene)[0] == "a-2"


def test_a_switch_is_not_held_by_the_refusal_of_another_pool() -> None:
    scene = shard(
        pool("a", *new_pods("a", 3), desired=2),
        removed_pool("b", *new_pods("b", 1)),
        primary="a-2",
        policy=MULTI_CELL,
    )
    decision = decide_removal(scene)
    assert (decision.switch_from, decision.reason) == ("a-2", reasons.SWITCHING_PRIMARY)


def test_the_pool_of_the_primary_is_the_last_to_be_reported() -> None:
    pools = (pool("a", *new_pods("a", 3), desired=2), pool("b", *new_pods("b", 3), desired=2))
    scene = knowing(shard(*pools, primary="a-2"), unknown="multiadmin is away")
    assert decide_removal(scene).message.startswith("scaling b down from 3 to 2 waits because multiadmin")


@pytest.mark.parametrize("primary", ["a-3", None])
def test_a_shard_whose_pools_are_all_scaled_to_zero_stops_at_once(primary: str | None) -> None:
    scene = shard(
        pool("a", *new_pods("a", 4), desired=0), removed_pool("b", *new_pods("b", 2)), primary=primary
    )
    assert decide_removal(knowing(scene, is_current=False)) == RemovalDecision({"a": 0, "b": 0})


def test_the_annotation_lets_all_servers_leave_at_once() -> None:
    scene = knowing(shard(BASE, removed_pool("b", *new_pods("b", 2))), unknown="all", primary=None)
    assert decide_removal(scene, FORCED) == RemovalDecision({"a": 3, "b": 0})


def test_the_gateways_of_a_removed_cell_go_first() -> None:
    held = removed_pool("b", *new_pods("b", 1))._replace(blocked_by="shop-z2-multigateway")
    assert decide_removal(shard(BASE, held)).message == "removing b waits until shop-z2-multigateway is gone"


def test_a_replacement_pool_is_ready_before_the_old_one_leaves() -> None:
    """A pool that is renamed: its successor is not created yet, or still starts."""
    old = removed_pool("a", *new_pods("a", 3), cell="z1")
    new = PoolState("b", "z1", 3, None)
    states = {f"b-{n}": ServerState.MISSING for n in range(3)}
    assert leaves(shard(new, old, states=states)) == ("", reasons.NO_OTHER_READY)


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({}, False),
        ({"cohort": frozenset({"a-0", "a-1", "a-2", "b-0"})}, True),
        ({"cohort": None}, False),
        ({"cohort": None, "unknown": "multiadmin is away"}, True),
    ],
    ids=["dropped", "still a member", "no cohort", "unknown"],
)
def test_an_empty_pool_counts_until_the_cohort_has_dropped_its_servers(
    changes: dict[str, object], counts: bool
) -> None:
    empty = removed_pool("b")
    scene = knowing(shard(BASE, empty), **changes)
    assert counts_in_cohort(scene, empty) is counts
    assert bool(decide_removal(scene).message) is counts


def test_pods_without_a_set_leave_one_by_one() -> None:
    members = members_of("b", None, new_pods("b", 2), NOW)
    left = PoolState("b", "z2", 0, None, members, is_removed=True)
    assert leaves(shard(BASE, left))[0] == "b-1"


def test_a_forced_removal_emits_an_event_with_the_skipped_steps() -> None:
    child = UnwantedChild(Ref(STATEFUL_SET, Key("shop", "old")), None)
    owner = ShardView(ObjectMeta(name="s", namespace="shop", uid="u"), ShardSpec(shard_name="0"))
    [event] = forced_removal_events(owner, [child])
    assert isinstance(event, Emit)
    assert (event.reason, event.type) == (reasons.FORCE_DELETED, EventType.WARNING)
    assert event.message == (
        "Deleted by force: old; skipped: the grace period of orchestrators and pools,"
        " and the wait for the other servers"
    )
    assert forced_removal_events(owner, []) == ()
