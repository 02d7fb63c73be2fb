"""The deletion guard: which Tenants may go, which wait, and which are held.

The invariant: a Tenant is deleted only by a clean read of the table that says so. A row that is there and inactive says
so at once. A row that is missing says so only when a second clean read of the same source, a few seconds later, agrees.
A table without rows says nothing, and rows that lost their uid may be those that are missed. A template that is not
there says nothing either: it may not be back yet from a backup. One that leaves takes its Tenants along by its own
finalizer, and only one that is there and uses another registry condemns them here, at the second look: that registry
may be about to take them over. And whatever is said, more than the policy allows at once waits for a human who names
exactly that set.

    reads ──► condemned ──► confirmed? ──► within the limits? ──► grace period ──► delete
                               │ no           │ no                  │ not over
                            waiting          hold ◄── approval    marked ◄── row returns: unmark

A mark (an annotation on the Tenant) says that the guard has let this Tenant go. An approval therefore only marks, and
deletion follows: a crash in between finds the same condemned set again, and the approval still names it. A row may come
back just when the process ends, before the mark is taken away: so one that is missed needs its second read after every
start, marked or not.

Tenants are compared with rows, never with what was rendered from them: a row that fails to render is still a row.

"At once" means in one read, or two that follow each other. What goes in many small steps is told: see `attrition`.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from steward.tenants.api.registry import DeletionGuard
from steward.tenants.api.scalars import Unset
from steward.tenants.guard.approval import Hold, HoldReason, names_exactly
from steward.tenants.guard.attrition import Attrition
from steward.tenants.intervals import seconds_of
from steward.tenants.sources.rows import Rows

CONFIRMATION_SECONDS: Final = 5.0


class Known(NamedTuple):
    """A Tenant that exists and is not being deleted yet."""

    name: str
    uid: str
    template: str
    delete_after: float | None = None
    """Its mark: when it may be deleted."""


class CleanRead(NamedTuple):
    """A read that came to its end and found the columns that it expected."""

    at: float
    source: str
    """What was read: reads of two sources never agree with each other."""
    rows: int
    """All of them, rejected ones included."""
    active: frozenset[str] = frozenset()
    inactive: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    """Uids of rows that are there and cannot become Tenants: neither wanted nor gone."""
    nameless: int = 0
    """Rejected rows whose uid is lost: each may be the row of a Tenant whose uid is missed."""


def read_of(rows: Rows, at: float, source: str) -> CleanRead:
    return CleanRead(
        at,
        source,
        rows.total,
        active=frozenset(row.uid for row in rows.active),
        inactive=rows.inactive,
        rejected=frozenset(row.uid for row in rows.rejected if row.uid),
        nameless=sum(not row.uid for row in rows.rejected),
    )


class FailedRead(NamedTuple):
    """A read that was refused, cut, timed out, or found other columns."""

    at: float


Read = CleanRead | FailedRead


class Policy(NamedTuple):
    max_percent: int = 30
    max_count: int | None = None
    grace: float = 0.0
    confirm_after: float = CONFIRMATION_SECONDS
    believes_empty: bool = False


class Memory(NamedTuple):
    """What the guard remembers from one read to the next. Lost without harm: it then waits a little longer."""

    source: str = ""
    missing_since: Mapping[str, float] = MappingProxyType({})
    """Uids without a row, with the time of the first clean read that missed them."""
    nameless: int = 0
    """How many rows of the last clean read had lost their uid."""
    strayed_since: Mapping[str, float] = MappingProxyType({})
    """Tenants, by name, of templates that use another registry, with the time of the first clean read that met them."""
    doubted: Mapping[str, int] = MappingProxyType({})
    """Uids that were missed when more rows had lost theirs: one of those may be meant, and their Tenants stay. With the
    number of such rows at which the doubt ends."""
    hold: Hold | None = None
    attrition: Attrition = Attrition()


class Situation(NamedTuple):
    known: tuple[Known, ...]
    policy: Policy
    elsewhere: frozenset[str] = frozenset()
    """Templates that are there and use another registry."""
    approval: str = ""
    memory: Memory = Memory()


def policy_of(guard: DeletionGuard, sync_interval: float) -> Policy:
    return Policy(
        max_percent=guard.max_percent,
        max_count=None if isinstance(guard.max_count, Unset) else guard.max_count,
        grace=seconds_of(guard.grace_period),
        confirm_after=min(sync_interval, CONFIRMATION_SECONDS),
        believes_empty=guard.allow_empty,
    )


class Mark(NamedTuple):
    name: str
    delete_after: float


class Verdict(NamedTuple):
    memory: Memory
    delete: tuple[str, ...] = ()
    mark: tuple[Mark, ...] = ()
    unmark: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """Missing once; the next clean read decides."""
    look_again_at: float | None = None
    """When something can change without anybody's doing."""
    approval_is_spent: bool = False
    """Used, or nothing is held any more: take it away, but only once all marks are written."""
    gone_lately: int = 0
    """How many went within an hour, if that has just become a larger share than may go at once."""

    @property
    def hold(self) -> Hold | None:
        return self.memory.hold

    @property
    def is_calm(self) -> bool:
        """Nobody is missed, marked or held: the same read would say the same at any time."""
        memory = self.memory
        remembered = memory.missing_since or memory.strayed_since or memory.doubted or memory.hold
        return not remembered and self == Verdict(memory)


class _Condemned(NamedTuple):
    settled: tuple[Known, ...]
    """Marked before: the guard has already let them go."""
    confirmed: tuple[Known, ...]
    waiting: tuple[Known, ...]

    @property
    def undecided(self) -> tuple[Known, ...]:
        return self.confirmed + self.waiting


def judge(read: Read, situation: Situation) -> Verdict:
    """What a read means for the Tenants that exist."""
    if isinstance(read, FailedRead):
        return Verdict(situation.memory)
    if read.rows == 0 and not situation.policy.believes_empty:
        return _nothing_believed(situation)
    memory = _remember(read, situation)
    condemned = _condemn(read, situation, memory)
    verdict = _decide(read, situation, condemned, memory)
    is_spent = bool(situation.approval) and verdict.hold is None
    return verdict._replace(unmark=_returned(read, situation), approval_is_spent=is_spent)


def _nothing_believed(situation: Situation) -> Verdict:
    # An empty answer is far more often a broken query than an empty business; no approval turns it into evidence.
    if not situation.known:
        return Verdict(situation.memory._replace(hold=None))
    return Verdict(situation.memory._replace(hold=_hold(HoldReason.EMPTY_RESULT, situation.known)))


def _remember(read: CleanRead, situation: Situation) -> Memory:
    before = situation.memory if situation.memory.source == read.source else Memory()
    present = read.active | read.inactive | read.rejected
    missing: dict[str, float] = {}
    doubted: dict[str, int] = {}
    for uid in {tenant.uid for tenant in situation.known} - present:
        usual = before.doubted.get(uid, before.nameless)
        if uid in before.missing_since or read.nameless <= usual:
            missing[uid] = before.missing_since.get(uid, read.at)
        else:
            doubted[uid] = usual
    strayed = {
        tenant.name: before.strayed_since.get(tenant.name, read.at)
        for tenant in situation.known
        if tenant.template in situation.elsewhere
    }
    return Memory(read.source, missing, read.nameless, strayed, doubted, attrition=situation.memory.attrition)


def _condemn(read: CleanRead, situation: Situation, memory: Memory) -> _Condemned:
    gone = [
        tenant
        for tenant in situation.known
        if not _is_wanted(tenant, read, situation) and tenant.uid not in memory.doubted
    ]
    unmarked = [tenant for tenant in gone if tenant.delete_after is None]
    confirmed = {tenant.name for tenant in unmarked if _is_confirmed(tenant, read, situation, memory)}
    return _Condemned(
        settled=tuple(tenant for tenant in gone if tenant.delete_after is not None),
        confirmed=tuple(tenant for tenant in unmarked if tenant.name in confirmed),
        waiting=tuple(tenant for tenant in unmarked if tenant.name not in confirmed),
    )


def _is_wanted(tenant: Known, read: CleanRead, situation: Situation) -> bool:
    if tenant.uid in read.rejected:
        return True
    return tenant.uid in read.active and tenant.template not in situation.elsewhere


def _is_confirmed(tenant: Known, read: CleanRead, situation: Situation, memory: Memory) -> bool:
    since = _unwanted_since(tenant, memory)
    if since is None or tenant.uid in read.inactive:
        return True
    return read.at > since and read.at - since >= situation.policy.confirm_after


def _unwanted_since(tenant: Known, memory: Memory) -> float | None:
    """Since when its absence is known: that of its row, or that of its template from this registry."""
    return memory.missing_since.get(tenant.uid, memory.strayed_since.get(tenant.name))


def _decide(read: CleanRead, situation: Situation, condemned: _Condemned, memory: Memory) -> Verdict:
    policy = situation.policy
    if reason := exceeds(condemned.undecided, len(situation.known), policy):
        return _held(read, situation, condemned, memory._replace(hold=_hold(reason, condemned.undecided)))
    due = tuple(
        tenant
        for tenant in condemned.settled
        if _is_due(tenant, read.at) and _is_confirmed(tenant, read, situation, memory)
    )
    memory = memory._replace(attrition=_attrition(read, situation, condemned))
    return Verdict(
        memory,
        delete=_names(due if policy.grace else (*due, *condemned.confirmed)),
        mark=_marks(condemned.confirmed, read, policy) if policy.grace else (),
        waiting=_names(condemned.waiting),
        look_again_at=_next_look(read, policy, condemned, memory),
        gone_lately=_gone_lately(situation.memory.attrition, memory.attrition),
    )


def _attrition(read: CleanRead, situation: Situation, condemned: _Condemned) -> Attrition:
    """What was let go counts when that is decided, unless its row returns before its time: no loss then."""
    going = len(condemned.confirmed)
    staying = len(situation.known) - going - len(condemned.settled)
    found = situation.memory.attrition.after(going - len(_returned(read, situation)), read.at)
    return found.told_if(staying, situation.policy.max_percent)


def _gone_lately(before: Attrition, now: Attrition) -> int:
    return now.gone if now.is_told and not before.is_told else 0


def _held(read: CleanRead, situation: Situation, condemned: _Condemned, memory: Memory) -> Verdict:
    """Too many at once: nothing goes, not even what was due, until somebody has named exactly this set."""
    undecided = condemned.undecided
    # Also by what is marked already: a crash may have interrupted the marking of an approved set.
    sets = (undecided, (*undecided, *condemned.settled))
    is_approved = any(names_exactly(situation.approval, _names(tenants)) for tenants in sets)
    if is_approved and not condemned.waiting:
        marks = _marks(undecided, read, situation.policy)
        return Verdict(memory._replace(hold=None), mark=marks, look_again_at=marks[0].delete_after)
    again = _next_look(read, situation.policy, condemned, memory)
    return Verdict(memory, waiting=_names(condemned.waiting), look_again_at=again)


def exceeds(going: Iterable[Known], existing: int, policy: Policy) -> HoldReason | None:
    """Which limit so many Tenants at once would break.

    The share says nothing about one customer of two, so that one row may go with all its Tenants, however few there
    are; `max_count` is meant as it stands.
    """
    going = tuple(going)
    if policy.max_count is not None and len(going) > policy.max_count:
        return HoldReason.TOO_MANY
    is_one_row = len({tenant.uid for tenant in going}) <= 1
    if not is_one_row and len(going) * 100 > policy.max_percent * existing:
        return HoldReason.TOO_MANY_PERCENT
    return None


def judge_departure(leaving: Iterable[Known], situation: Situation) -> Hold | None:
    """Why a template or a registry may not go now with these Tenants, if it may not: no read, but as deadly."""
    leaving = tuple(leaving)
    reason = exceeds(leaving, len(situation.known), situation.policy)
    if reason is None or names_exactly(situation.approval, _names(leaving)):
        return None
    return _hold(reason, leaving)._replace(undo="Leave it held")


def _hold(reason: HoldReason, tenants: Iterable[Known]) -> Hold:
    return Hold.of(reason, _names(tenants))


def _returned(read: CleanRead, situation: Situation) -> tuple[str, ...]:
    return tuple(
        tenant.name
        for tenant in situation.known
        if tenant.delete_after is not None and _is_wanted(tenant, read, situation)
    )


def _is_due(tenant: Known, now: float) -> bool:
    return tenant.delete_after is not None and tenant.delete_after <= now


def _marks(tenants: Iterable[Known], read: CleanRead, policy: Policy) -> tuple[Mark, ...]:
    return tuple(Mark(tenant.name, read.at + policy.grace) for tenant in tenants)


def _next_look(read: CleanRead, policy: Policy, condemned: _Condemned, memory: Memory) -> float | None:
    known_since = (_unwanted_since(tenant, memory) for tenant in (*condemned.waiting, *condemned.settled))
    confirmations = (since + policy.confirm_after for since in known_since if since is not None)
    marks = (tenant.delete_after for tenant in condemned.settled if tenant.delete_after is not None)
    new_marks = [read.at + policy.grace] if policy.grace and condemned.confirmed else []
    return min((at for at in (*confirmations, *marks, *new_marks) if at > read.at), default=None)


def _names(tenants: Iterable[Known]) -> tuple[str, ...]:
    return tuple(sorted(tenant.name for tenant in tenants))
