"""A pool that is no longer desired stays while it has the primary and another pool could take over."""

import pytest

from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import reasons
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.common.children import UnwantedChild
from steward.multigres.controllers.shard.deletion import forced_removal_events
from steward.multigres.deletion.annotations import REMOVAL_REQUESTED
from steward.multigres.deletion.primary_handover import (
    HandoverWait,
    PrimaryHandover,
    RemovedPool,
    TopologyAnswer,
    handover_wait,
    primary_handover,
)
from steward.multigres.rollout.pods import Member, PoolState
from steward.multigres.views import ShardView
from steward.runtime.plan.steps import Emit, EventType

NOW, MAX_SECONDS = 1_000_000.0, 60.0
SET = Ref(STATEFUL_SET, Key("shop", "old"))
OLD = RemovedPool(SET, {}, ("old-0", "old-1"))


def wait_for(handover: PrimaryHandover, pool: RemovedPool = OLD) -> HandoverWait | None:
    return handover_wait(pool, handover, NOW, MAX_SECONDS)


def test_the_primary_stays_until_another_has_taken_over() -> None:
    waiting = wait_for(PrimaryHandover("old-1", has_successor=True, is_successor_ready=True))
    assert waiting is not None
    assert waiting.reason == reasons.PRIMARY_WOULD_GO
    assert waiting.message == (
        "removing old waits until another pod has taken over: old-1 is the primary. "
        "Switch it to another one, or it shuts down by itself in 1m0s at most"
    )
    [step] = waiting.steps
    assert step.patch.changes == {"metadata": {"annotations": {REMOVAL_REQUESTED: to_timestamp(NOW)}}}  # type: ignore[union-attr]
    assert wait_for(PrimaryHandover("new-0", has_successor=True, is_successor_ready=True)) is None


@pytest.mark.parametrize(("seconds", "stays"), [(59, True), (60, False)])
def test_a_pool_with_the_primary_does_not_wait_for_ever_for_a_switch(seconds: float, stays: bool) -> None:
    annotated = OLD._replace(annotations={REMOVAL_REQUESTED: to_timestamp(NOW - seconds)})
    waiting = wait_for(PrimaryHandover("old-1", has_successor=True, is_successor_ready=True), annotated)
    assert (waiting is not None) is stays


def test_the_primary_is_never_removed_while_no_other_server_is_ready() -> None:
    annotated = OLD._replace(annotations={REMOVAL_REQUESTED: to_timestamp(NOW - 3600)})
    waiting = wait_for(PrimaryHandover("old-1", has_successor=True, is_successor_ready=False), annotated)
    assert waiting is not None
    assert waiting.message.endswith("old-1 is the primary, and no server that stays is ready")


SILENT, UNREGISTERED, REGISTERED = (
    TopologyAnswer(is_answered=False),
    TopologyAnswer(True, frozenset({"new-0"})),
    TopologyAnswer(True, frozenset({"old-0"})),
)


def test_while_the_primary_is_unknown_the_pool_waits_and_is_annotated_with_the_time() -> None:
    waiting = wait_for(PrimaryHandover(None, has_successor=True))
    assert waiting is not None
    assert waiting.reason == reasons.PRIMARY_UNKNOWN
    assert waiting.message == "removing old waits until the topology says which pod is the primary"
    [step] = waiting.steps
    assert step.patch.changes == {"metadata": {"annotations": {REMOVAL_REQUESTED: to_timestamp(NOW)}}}  # type: ignore[union-attr]


@pytest.mark.parametrize("answer", [None, REGISTERED], ids=["not checked yet", "pool is registered"])
def test_a_pool_that_may_have_the_primary_is_never_removed_while_it_is_unknown(
    answer: TopologyAnswer | None,
) -> None:
    annotated = OLD._replace(annotations={REMOVAL_REQUESTED: to_timestamp(NOW - 3600)})
    waiting = wait_for(
        PrimaryHandover(None, has_successor=True, is_successor_ready=True, answer=answer), annotated
    )
    assert waiting is not None
    assert waiting.steps == ()


@pytest.mark.parametrize("answer", [SILENT, UNREGISTERED], ids=["no answer", "pool is not registered"])
@pytest.mark.parametrize(("seconds", "stays"), [(59, True), (60, False)])
def test_a_pool_does_not_wait_for_ever_for_a_topology_without_an_answer(
    answer: TopologyAnswer, seconds: float, stays: bool
) -> None:
    annotated = OLD._replace(annotations={REMOVAL_REQUESTED: to_timestamp(NOW - seconds)})
    waiting = wait_for(
        PrimaryHandover(None, has_successor=True, is_successor_ready=True, answer=answer), annotated
    )
    assert (waiting is not None) is stays
    assert waiting is None or waiting.steps == ()


@pytest.mark.parametrize("answer", [SILENT, UNREGISTERED], ids=["no answer", "pool is not registered"])
def test_without_a_ready_successor_a_pool_waits_even_for_a_topology_without_an_answer(
    answer: TopologyAnswer,
) -> None:
    annotated = OLD._replace(annotations={REMOVAL_REQUESTED: to_timestamp(NOW - 3600)})
    assert (
        wait_for(
            PrimaryHandover(None, has_successor=True, is_successor_ready=False, answer=answer), annotated
        )
        is not None
    )


@pytest.mark.parametrize(
    ("answer", "is_successor_ready", "hint"),
    [
        (None, True, "primary"),
        (
            REGISTERED,
            True,
            'primary; with multigres.com/force-delete: "true" on its Shard it is removed nevertheless',
        ),
        (SILENT, True, "primary, at most 1m0s: it cannot tell"),
        (SILENT, False, "primary, and no server that stays is ready"),
    ],
)
def test_the_message_says_what_ends_the_wait(
    answer: TopologyAnswer | None, is_successor_ready: bool, hint: str
) -> None:
    waiting = wait_for(
        PrimaryHandover(None, has_successor=True, is_successor_ready=is_successor_ready, answer=answer)
    )
    assert waiting is not None
    assert waiting.message == f"removing old waits until the topology says which pod is the {hint}"


def test_a_replica_stays_until_another_server_is_ready() -> None:
    waiting = wait_for(PrimaryHandover("elsewhere-0", has_successor=True, is_successor_ready=False))
    assert waiting is not None
    assert waiting.reason == reasons.NO_OTHER_READY
    assert waiting.message == (
        "removing old waits until a server that stays is ready: until then its copy of the data is needed"
    )


def test_an_invalid_request_time_starts_the_wait_again() -> None:
    waiting = wait_for(
        PrimaryHandover(None, has_successor=True), OLD._replace(annotations={REMOVAL_REQUESTED: "yesterday"})
    )
    assert waiting is not None
    assert waiting.steps


@pytest.mark.parametrize(
    "pool",
    [OLD._replace(pods=()), OLD._replace(ref=Ref(DEPLOYMENT, Key("shop", "old")))],
    ids=["without pods", "no pool"],
)
def test_a_workload_that_cannot_have_the_primary_is_removed_at_once(pool: RemovedPool) -> None:
    assert wait_for(PrimaryHandover(None, has_successor=True), pool) is None


@pytest.mark.parametrize("primary", ["old-0", None])
def test_without_a_successor_there_is_nothing_to_wait_for(primary: str | None) -> None:
    assert wait_for(PrimaryHandover(primary, has_successor=False)) is None


@pytest.mark.parametrize(
    ("pool", "is_successor"),
    [
        (PoolState("new", 1, None, may_lead=True), True),
        (PoolState("new", 0, None, may_lead=True), False),
        (PoolState("new", 1, None, may_lead=False), False),
    ],
)
def test_a_successor_is_a_desired_pool_that_may_lead(pool: PoolState, is_successor: bool) -> None:
    assert primary_handover([pool], "old-0") == PrimaryHandover("old-0", is_successor)


@pytest.mark.parametrize(
    ("is_ready", "is_terminating", "could"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_a_successor_is_ready_if_it_has_a_ready_server_that_is_not_terminating(
    is_ready: bool, is_terminating: bool, could: bool
) -> None:
    server = Member("new-0", "uid", 0, is_outdated=False, is_ready=is_ready, is_terminating=is_terminating)
    pool = PoolState("new", 1, None, may_lead=True, members=(server,))
    assert primary_handover([pool], "old-0") == PrimaryHandover("old-0", True, could)


def test_a_forced_removal_emits_an_event_with_the_skipped_steps() -> None:
    shard = ShardView(ObjectMeta(name="s", namespace="shop", uid="u"), ShardSpec(shard_name="0"))
    [event] = forced_removal_events(shard, [UnwantedChild(SET, None)])
    assert isinstance(event, Emit)
    assert (event.reason, event.type) == (reasons.FORCE_DELETED, EventType.WARNING)
    assert event.message == (
        "Deleted by force: old; skipped: the grace period of orchestrators and pools, and the check for the primary"
    )
    assert forced_removal_events(shard, []) == ()
