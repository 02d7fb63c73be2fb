"""Which server of a shard is restarted next."""

import pytest

from steward.multigres import reasons
from steward.multigres.rollout.pods import PoolState, ShardPods, members_of
from steward.multigres.rollout.restarts import (
    FORCE_ROLLOUT,
    after_removal,
    decide_rollout,
    is_rollout_forced,
)
from steward.multigres.rollout.switching import NO_OPTIONS, ChangeOptions, SwitchAttempt
from steward.multigres.servers.assessment import ServerState
from steward.multigres.views import PodView
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

THREE_OLD = (pod("a-0"), pod("a-1"), pod("a-2"))
LAST_IS_PRIMARY = (pod("a-0"), pod("a-1", NEW), pod("a-2", NEW))
FORCED = ChangeOptions(is_forced=True)


def replaced(scene: ShardPods, options: ChangeOptions = NO_OPTIONS) -> str | None:
    member = decide_rollout(scene, options).replace
    return None if member is None else member.name


def test_nothing_is_replaced_where_every_pod_runs_the_newest_revision() -> None:
    decision = decide_rollout(shard(pool("a", *new_pods("a", 2))))
    assert (decision.is_rolling, decision.reason, decision.replace) == (False, "PodsUpToDate", None)


def test_standbys_of_all_pools_are_replaced_before_the_primary_is_switched() -> None:
    pods = {name: pod(name) for name in ("a-0", "a-1", "b-0")}
    order = []
    while (decision := decide_rollout(_two_pools(pods))).replace is not None:
        order.append(decision.replace.name)
        pods[decision.replace.name] = pod(decision.replace.name, NEW)
    assert order == ["a-0", "b-0"]
    assert (decision.is_rolling, decision.switch_from) == (True, "a-1")
    assert decision.reason == reasons.SWITCHING_PRIMARY
    assert decision.message == "waits until another server has taken over: a-1 is the primary, 1 more to go"


def _two_pools(pods: dict[str, PodView]) -> ShardPods:
    return shard(pool("a", pods["a-0"], pods["a-1"]), pool("b", pods["b-0"]), primary="a-1")


def test_the_former_primary_is_replaced_once_another_takes_writes() -> None:
    scene = shard(pool("a", *LAST_IS_PRIMARY), primary="a-1")
    assert replaced(scene) == "a-0"
    assert replaced(knowing(scene, takes_writes=False)) is None


def test_the_former_primary_is_replaced_once_it_streams() -> None:
    """Unless its switch was long ago: then it does not stream for another reason."""
    scene = shard(pool("a", *LAST_IS_PRIMARY), primary="a-1", states={"a-0": ServerState.NOT_STREAMING})
    assert replaced(scene, ChangeOptions(last_switch=SwitchAttempt("a-0"))) is None
    assert replaced(scene) == "a-0"


def test_the_highest_ordinal_of_a_pool_is_replaced_first() -> None:
    decision = decide_rollout(shard(pool("a", *THREE_OLD)))
    assert decision.replace is not None
    assert (decision.is_rolling, decision.replace.name) == (True, "a-2")
    assert decision.message == "replaces pod a-2, 2 more to go"


@pytest.mark.parametrize(
    ("changes", "reason", "message"),
    [
        ({"primary": None, "takes_writes": False}, reasons.PRIMARY_UNKNOWN, "until the shard has a primary"),
        ({"is_current": False}, reasons.ROLLING, "report their state after the last change"),
        ({"unknown": "multiadmin is away"}, reasons.STATE_UNKNOWN, "waits: multiadmin is away"),
        ({"takes_writes": False}, reasons.ROLLING, "until the primary a-0 takes writes"),
        (
            {"cohort": frozenset({"a-0", "a-2"})},
            reasons.ROLLING,
            "until a-1 is a member of the shard's cohort",
        ),
        (
            {"cohort": frozenset({"a-0", "a-1", "a-2", "gone-0"})},
            reasons.ROLLING,
            "until the shard's cohort keeps its quorum without a-2",
        ),
    ],
    ids=["no primary", "not current", "unknown", "no writes", "not joined", "not dropped"],
)
def test_what_is_not_known_or_not_so_is_waited_for(
    changes: dict[str, object], reason: str, message: str
) -> None:
    decision = decide_rollout(knowing(shard(pool("a", *THREE_OLD)), **changes))
    assert (decision.replace, decision.reason, decision.switch_from) == (None, reason, "")
    assert message in decision.message


def test_a_server_that_is_unknown_for_a_moment_is_part_of_the_rollout() -> None:
    """multiadmin cannot reach a server right after its restart: a reason of its own would be a warning for each pod."""
    scene = knowing(shard(pool("a", *THREE_OLD)), unknown="multiadmin cannot reach server a-1")
    decision = decide_rollout(scene._replace(is_long_unknown=False))
    assert (decision.replace, decision.reason) == (None, reasons.ROLLING)


@pytest.mark.parametrize("changes", [{"primary": None}, {"unknown": "multiadmin is away"}])
def test_the_annotation_overrides_what_is_unknown_and_is_named(changes: dict[str, object]) -> None:
    scene = knowing(shard(pool("a", *THREE_OLD)), **changes)
    assert f'{FORCE_ROLLOUT}: "true"' in decide_rollout(scene).message
    assert replaced(scene, FORCED) == "a-2"


def test_the_annotation_replaces_a_primary_without_a_switch() -> None:
    assert replaced(shard(pool("a", *LAST_IS_PRIMARY)), FORCED) == "a-0"


@pytest.mark.parametrize(
    ("own", "cluster", "forced"),
    [
        ({}, {}, False),
        ({FORCE_ROLLOUT: "true"}, {}, True),
        ({}, {FORCE_ROLLOUT: " True "}, True),
        ({FORCE_ROLLOUT: "false"}, {FORCE_ROLLOUT: "true"}, False),
        ({FORCE_ROLLOUT: "yes"}, {}, False),
    ],
)
def test_the_annotation_of_the_shard_precedes_that_of_its_cluster(
    own: dict[str, str], cluster: dict[str, str], forced: bool
) -> None:
    assert is_rollout_forced(own, cluster) is forced


def test_a_refused_switch_is_reported_and_waits() -> None:
    options = ChangeOptions(last_switch=SwitchAttempt("a-0", "no standby poolers available"))
    decision = decide_rollout(shard(pool("a", *LAST_IS_PRIMARY)), options)
    assert (decision.reason, decision.replace, decision.switch_from) == (
        reasons.SWITCH_REFUSED,
        None,
        "a-0",
    )
    assert "the switch was refused: no standby poolers available" in decision.message
    assert FORCE_ROLLOUT in decision.message


def test_a_primary_that_is_missing_after_a_switch_is_explained_by_it() -> None:
    options = ChangeOptions(last_switch=SwitchAttempt("a-0"))
    scene = knowing(shard(pool("a", *LAST_IS_PRIMARY)), primary=None)
    decision = decide_rollout(scene, options)
    assert (decision.reason, decision.switch_from) == (reasons.SWITCHING_PRIMARY, "")


@pytest.mark.parametrize("changes", [{}, {"primary": None, "is_current": False, "unknown": "all"}])
def test_the_only_server_of_a_shard_is_replaced_at_once_and_announced(changes: dict[str, object]) -> None:
    decision = decide_rollout(knowing(shard(pool("a", pod("a-0"))), **changes))
    assert decision.replace is not None
    assert (decision.is_rolling, decision.reason) == (True, reasons.RESTARTING_ONLY_SERVER)
    assert "the only server of the shard" in decision.message


def test_two_servers_are_restarted_although_the_policy_cannot_hold_meanwhile() -> None:
    assert replaced(shard(pool("a", pod("a-0"), pod("a-1")))) == "a-1"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (pod("a-1", NEW, terminating=True), "waits until pod a-1 is replaced"),
        (pod("a-1", NEW, ready=False), "waits until pod a-1 is ready"),
    ],
)
def test_the_next_pod_is_replaced_only_when_the_last_one_is_ready(other: PodView, message: str) -> None:
    decision = decide_rollout(shard(pool("a", pod("a-0"), other)))
    assert decision.replace is None
    assert decision.message.startswith(message)


@pytest.mark.parametrize(
    "state", [ServerState.STARTING, ServerState.NOT_STREAMING, ServerState.UNREGISTERED, ServerState.DOWN]
)
def test_a_ready_pod_whose_postgres_is_not_ready_is_waited_for(state: ServerState) -> None:
    scene = shard(pool("a", pod("a-0"), pod("a-1"), pod("a-2", NEW)), states={"a-2": state})
    decision = decide_rollout(scene)
    assert decision.replace is None
    assert decision.message.startswith(f"waits until Postgres of a-2 is ready and streams (now {state})")


def test_a_missing_pod_is_waited_for() -> None:
    live = stateful_set("a", 3)
    members = members_of("a", live, [pod("a-0"), pod("a-2")], NOW)
    decision = decide_rollout(shard(PoolState("a", "z1", 3, live, members)))
    assert decision.message.startswith("waits until pod a-1 is replaced")


def test_one_pod_of_the_whole_shard_is_away_at_a_time() -> None:
    assert replaced(shard(pool("a", pod("a-0")), pool("b", pod("b-0", NEW, ready=False)))) is None


def test_no_pod_is_replaced_while_a_server_leaves() -> None:
    decision = decide_rollout(shard(pool("a", *THREE_OLD)))
    assert after_removal(decision, "").replace is not None
    held = after_removal(decision, "b-0")
    assert (held.replace, held.is_rolling, held.message) == (None, True, "waits until b-0 has left")


def test_a_revision_that_the_set_has_not_announced_yet_is_waited_for() -> None:
    live = stateful_set("a", 2, is_observed=False)
    members = members_of("a", live, new_pods("a", 2), NOW)
    decision = decide_rollout(shard(PoolState("a", "z1", 2, live, members)))
    assert (decision.is_rolling, decision.reason, decision.replace) == (False, reasons.REVISION_PENDING, None)
    outdated = PoolState("a", "z1", 2, live, members_of("a", live, [pod("a-0"), pod("a-1")], NOW))
    assert decide_rollout(shard(outdated)).message == "waits until the new revision of a is known"


def test_a_failing_pod_of_the_newest_revision_stops_the_rollout() -> None:
    broken = pod("a-2", NEW, ready=False, stuck="CrashLoopBackOff")
    decision = decide_rollout(shard(pool("a", pod("a-0"), pod("a-1"), broken)))
    assert (decision.is_rolling, decision.replace) == (True, None)
    assert decision.reason == reasons.ROLLOUT_STOPPED
    assert "stopped with 2 pods to go: pod a-2: container postgres is in CrashLoopBackOff" in decision.message
    assert decision.problem


def test_a_postgres_that_stays_down_on_the_newest_revision_stops_the_rollout() -> None:
    scene = shard(pool("a", pod("a-0"), pod("a-1"), pod("a-2", NEW)), states={"a-2": ServerState.DOWN})
    decision = decide_rollout(scene._replace(broken=frozenset({"a-2"})))
    assert (decision.replace, decision.reason) == (None, reasons.ROLLOUT_STOPPED)
    assert "Postgres of a-2 is down" in decision.message


def test_a_pod_that_stays_unready_stops_the_rollout() -> None:
    late = pod("a-1", NEW, ready=False, since=NOW - 61)
    assert decide_rollout(shard(pool("a", pod("a-0"), late))).reason == reasons.ROLLOUT_STOPPED


@pytest.mark.parametrize("primary", ["a-0", None])
def test_a_new_revision_replaces_failing_pods_first(primary: str | None) -> None:
    broken = pod("a-2", "bad", ready=False, stuck="ImagePullBackOff")
    assert replaced(shard(pool("a", pod("a-0"), pod("a-1"), broken), primary=primary)) == "a-2"


@pytest.mark.parametrize("down", [{"a-0", "a-1", "a-2"}, {"a-2"}, {"a-0"}])
def test_a_correction_replaces_servers_whose_postgres_is_down_without_a_primary(down: set[str]) -> None:
    scene = shard(pool("a", *THREE_OLD), primary=None, states=dict.fromkeys(down, ServerState.DOWN))
    assert replaced(scene._replace(broken=frozenset(down))) == max(down)


def test_a_down_primary_is_replaced_after_other_down_servers() -> None:
    states = {"a-2": ServerState.DOWN, "a-1": ServerState.DOWN}
    scene = shard(pool("a", *THREE_OLD), primary="a-2", states=states)
    assert replaced(scene._replace(broken=frozenset(states))) == "a-1"


def test_a_failing_outdated_pod_does_not_wait_for_an_unready_new_one() -> None:
    fresh = pod("a-2", NEW, ready=False)
    stuck = [pod(f"a-{n}", "bad", ready=False, stuck="CrashLoopBackOff") for n in range(2)]
    assert replaced(shard(pool("a", *stuck, fresh), primary=None)) == "a-1"


def test_the_only_unready_server_is_replaced_next() -> None:
    young = pod("a-0", "bad", ready=False)
    scene = shard(
        pool("a", young, pod("a-1"), pod("a-2")), primary="a-2", states={"a-0": ServerState.STARTING}
    )
    assert replaced(scene) == "a-0"


def test_a_primary_that_is_briefly_unready_is_not_failing() -> None:
    scene = shard(pool("a", pod("a-0", ready=False), pod("a-1")), states={"a-0": ServerState.STARTING})
    assert replaced(scene) is None


def test_servers_of_a_removed_pool_are_not_replaced_but_waited_for() -> None:
    old = removed_pool("b", pod("b-0"))
    assert decide_rollout(shard(pool("a", *new_pods("a", 2)), old)).reason == reasons.PODS_UP_TO_DATE
    scene = shard(pool("a", *THREE_OLD), old, states={"b-0": ServerState.STARTING})
    assert replaced(scene) is None


def test_a_broken_server_of_a_removed_pool_is_waited_for_only_while_the_cohort_counts_it() -> None:
    states, old = {"b-0": ServerState.DOWN}, removed_pool("b", pod("b-0"))
    scene = shard(pool("a", *THREE_OLD), old, states=states)._replace(broken=frozenset(states))
    assert replaced(scene) is None
    assert replaced(knowing(scene, cohort=frozenset({"a-0", "a-1", "a-2"}))) == "a-2"


def test_while_a_set_is_recreated_no_pod_of_another_is_replaced() -> None:
    remade = PoolState("b", "z1", 1, None, members_of("b", None, [pod("b-0")], NOW))
    assert replaced(shard(pool("a", pod("a-0")), remade, primary="b-0")) is None
