"""A pool that is no longer asked for stays while it leads and another could."""

import pytest

from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import reasons
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.common.context import Surplus
from steward.multigres.controllers.shard.deletion import forced_removal
from steward.multigres.deletion.annotations import ASKED
from steward.multigres.deletion.primary_handover import (
    Leaver,
    Succession,
    Waiting,
    Word,
    holds_back,
    succession,
)
from steward.multigres.rollout.pods import Member, Pool
from steward.multigres.views import ShardView
from steward.runtime.plan.steps import Emit, EventType

NOW, PATIENCE = 1_000_000.0, 60.0
SET = Ref(STATEFUL_SET, Key("shop", "old"))
OLD = Leaver(SET, {}, ("old-0", "old-1"))


def held(after: Succession, leaver: Leaver = OLD) -> Waiting | None:
    return holds_back(leaver, after, NOW, PATIENCE)


def test_the_primary_stays_until_another_has_taken_over() -> None:
    waiting = held(Succession("old-1", has_heir=True, is_heir_ready=True))
    assert waiting is not None
    assert waiting.reason == reasons.PRIMARY_WOULD_GO
    assert waiting.told == (
        "removing old waits until another pod has taken over: old-1 is the primary. "
        "Switch it to another one, or it ends by itself in 1m0s at most"
    )
    [note] = waiting.steps
    assert note.patch.changes == {"metadata": {"annotations": {ASKED: to_timestamp(NOW)}}}  # type: ignore[union-attr]
    assert held(Succession("new-0", has_heir=True, is_heir_ready=True)) is None


@pytest.mark.parametrize(("seconds", "stays"), [(59, True), (60, False)])
def test_a_cell_that_holds_the_primary_does_not_wait_for_ever_for_somebody_to_switch_it(
    seconds: float, stays: bool
) -> None:
    noted = OLD._replace(annotations={ASKED: to_timestamp(NOW - seconds)})
    waiting = held(Succession("old-1", has_heir=True, is_heir_ready=True), noted)
    assert (waiting is not None) is stays


def test_the_primary_never_goes_while_no_server_that_stays_is_ready() -> None:
    noted = OLD._replace(annotations={ASKED: to_timestamp(NOW - 3600)})
    waiting = held(Succession("old-1", has_heir=True, is_heir_ready=False), noted)
    assert waiting is not None
    assert waiting.told.endswith("old-1 is the primary, and no server that stays is ready")


SILENT, STRANGE, JOINED = (
    Word(is_answered=False),
    Word(True, frozenset({"new-0"})),
    Word(True, frozenset({"old-0"})),
)


def test_while_nobody_knows_who_leads_it_waits_and_notes_since_when() -> None:
    waiting = held(Succession(None, has_heir=True))
    assert waiting is not None
    assert waiting.reason == reasons.PRIMARY_UNKNOWN
    assert waiting.told == "removing old waits until the topology says which pod is the primary"
    [note] = waiting.steps
    assert note.patch.changes == {"metadata": {"annotations": {ASKED: to_timestamp(NOW)}}}  # type: ignore[union-attr]


@pytest.mark.parametrize("word", [None, JOINED], ids=["not asked yet", "it is a member"])
def test_what_may_lead_never_goes_while_nobody_knows_who_does(word: Word | None) -> None:
    noted = OLD._replace(annotations={ASKED: to_timestamp(NOW - 3600)})
    waiting = held(Succession(None, has_heir=True, is_heir_ready=True, word=word), noted)
    assert waiting is not None
    assert waiting.steps == ()


@pytest.mark.parametrize("word", [SILENT, STRANGE], ids=["it is silent", "it has never heard of the pool"])
@pytest.mark.parametrize(("seconds", "stays"), [(59, True), (60, False)])
def test_it_does_not_wait_for_ever_for_a_topology_that_cannot_tell(
    word: Word, seconds: float, stays: bool
) -> None:
    noted = OLD._replace(annotations={ASKED: to_timestamp(NOW - seconds)})
    waiting = held(Succession(None, has_heir=True, is_heir_ready=True, word=word), noted)
    assert (waiting is not None) is stays
    assert waiting is None or waiting.steps == ()


@pytest.mark.parametrize("word", [SILENT, STRANGE], ids=["it is silent", "it has never heard of the pool"])
def test_a_topology_that_cannot_tell_is_no_reason_to_go_while_nobody_could_take_over(word: Word) -> None:
    noted = OLD._replace(annotations={ASKED: to_timestamp(NOW - 3600)})
    assert held(Succession(None, has_heir=True, is_heir_ready=False, word=word), noted) is not None


@pytest.mark.parametrize(
    ("word", "is_heir_ready", "hint"),
    [
        (None, True, "primary"),
        (JOINED, True, 'primary; with multigres.com/force-delete: "true" on its Shard it goes nevertheless'),
        (SILENT, True, "primary, at most 1m0s: it cannot tell"),
        (SILENT, False, "primary, and no server that stays is ready"),
    ],
)
def test_it_says_what_ends_the_wait(word: Word | None, is_heir_ready: bool, hint: str) -> None:
    waiting = held(Succession(None, has_heir=True, is_heir_ready=is_heir_ready, word=word))
    assert waiting is not None
    assert waiting.told == f"removing old waits until the topology says which pod is the {hint}"


def test_a_replica_stays_as_well_until_a_server_that_stays_is_ready() -> None:
    waiting = held(Succession("elsewhere-0", has_heir=True, is_heir_ready=False))
    assert waiting is not None
    assert waiting.reason == reasons.NO_OTHER_READY
    assert waiting.told == (
        "removing old waits until a server that stays is ready: until then its copy of the data is needed"
    )


def test_nonsense_in_the_note_starts_the_wait_anew() -> None:
    waiting = held(Succession(None, has_heir=True), OLD._replace(annotations={ASKED: "yesterday"}))
    assert waiting is not None
    assert waiting.steps


@pytest.mark.parametrize(
    "leaver",
    [OLD._replace(pods=()), OLD._replace(ref=Ref(DEPLOYMENT, Key("shop", "old")))],
    ids=["without pods", "no pool"],
)
def test_what_cannot_lead_goes_at_once(leaver: Leaver) -> None:
    assert held(Succession(None, has_heir=True), leaver) is None


@pytest.mark.parametrize("primary", ["old-0", None])
def test_where_nobody_could_take_over_there_is_nothing_to_wait_for(primary: str | None) -> None:
    assert held(Succession(primary, has_heir=False)) is None


@pytest.mark.parametrize(
    ("pool", "could"),
    [
        (Pool("new", 1, None, may_lead=True), True),
        (Pool("new", 0, None, may_lead=True), False),
        (Pool("new", 1, None, may_lead=False), False),
    ],
)
def test_an_heir_is_a_pool_that_stays_and_may_lead(pool: Pool, could: bool) -> None:
    assert succession([pool], "old-0") == Succession("old-0", could)


@pytest.mark.parametrize(
    ("is_ready", "is_leaving", "could"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_an_heir_is_ready_when_a_server_of_it_is_and_stays(
    is_ready: bool, is_leaving: bool, could: bool
) -> None:
    server = Member("new-0", "uid", 0, is_outdated=False, is_ready=is_ready, is_leaving=is_leaving)
    pool = Pool("new", 1, None, may_lead=True, members=(server,))
    assert succession([pool], "old-0") == Succession("old-0", True, could)


def test_a_removal_by_force_says_what_it_skipped_and_nothing_where_nothing_goes() -> None:
    shard = ShardView(ObjectMeta(name="s", namespace="shop", uid="u"), ShardSpec(shard_name="0"))
    [told] = forced_removal(shard, [Surplus(SET, None)])
    assert isinstance(told, Emit)
    assert (told.reason, told.type) == (reasons.FORCE_DELETED, EventType.WARNING)
    assert told.message == (
        "Deleted by force: old; skipped: the grace period of orchestrators and pools, and the question who leads"
    )
    assert forced_removal(shard, []) == ()
