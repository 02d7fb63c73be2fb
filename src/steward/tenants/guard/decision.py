"""The deletion guard: decides which Tenants are deleted, which wait for another read, and which are held. Pure.

A Tenant is deleted only when a clean read of the table implies it:

- A row that is present and inactive implies deletion at once.
- A missing row implies deletion only when a second clean read of the same source, a few seconds later, confirms it.
- A table without rows implies nothing, and rows without a uid may be those that are missing.
- A missing template implies nothing: a restore from backup may not have created it yet. A template that is deleted
  deletes its Tenants by its own finalizer. Only a template that exists and uses another registry makes its Tenants
  candidates here, with the second read, because that registry may be about to take them over.

Whatever a read implies, more deletions at once than the policy allows wait for an approval that names exactly that set.

    reads ──► candidates ──► confirmed? ──► within the limits? ──► grace period ──► delete
                                │ no           │ no                   │ not over
                           unconfirmed        hold ◄── approval     marked ◄── row returns: unmark

A mark (an annotation on the Tenant) records that the guard has allowed the deletion. An approval therefore only marks,
and the deletion follows: after a crash in between, the next read finds the same candidates, and the approval still
names them. A row may return just when the process stops, before its mark is removed: after every start, a missing row
needs a second read again, marked or not.

Tenants are compared with rows, never with what was rendered from them: a row that fails to render is still a row.

"At once" means in one read, or in two consecutive ones. Deletions in many small steps are only reported: see
`deletion_rate`.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from steward.kube.objects.durations import parse_interval
from steward.tenants.api.registry import DeletionGuard
from steward.tenants.api.scalars import Unset
from steward.tenants.guard.approval import DeletionHold, HoldReason, approves_exactly
from steward.tenants.guard.deletion_rate import DeletionRate
from steward.tenants.sources.rows import Rows

CONFIRMATION_SECONDS: Final = 5.0


class GuardedTenant(NamedTuple):
    """A Tenant that exists and is not terminating."""

    name: str
    uid: str
    template: str
    delete_after: float | None = None
    """Its deletion mark: the time at which it may be deleted."""


class CleanRead(NamedTuple):
    """A read that completed and found the columns that it expected."""

    at: float
    source: str
    """The identity of the source: a read confirms only reads of the same source."""
    rows: int
    """All rows, including rejected ones."""
    active: frozenset[str] = frozenset()
    inactive: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    """Uids of rows that are present and cannot become Tenants: their Tenants are neither updated nor deleted."""
    rows_without_uid: int = 0
    """Rejected rows whose uid cannot be read: each may be the row of a Tenant whose uid is missing."""


def clean_read(rows: Rows, at: float, source: str) -> CleanRead:
    return CleanRead(
        at,
        source,
        rows.total,
        active=frozenset(row.uid for row in rows.active),
        inactive=rows.inactive,
        rejected=frozenset(row.uid for row in rows.rejected if row.uid),
        rows_without_uid=sum(not row.uid for row in rows.rejected),
    )


class FailedRead(NamedTuple):
    """A read that was denied, interrupted, timed out, or found other columns."""

    at: float


TableRead = CleanRead | FailedRead


class GuardPolicy(NamedTuple):
    max_percent: int = 30
    max_count: int | None = None
    grace: float = 0.0
    confirm_after: float = CONFIRMATION_SECONDS
    allow_empty: bool = False


class GuardState(NamedTuple):
    """The state of the guard between two reads. Losing it is safe: deletions then wait for one more read."""

    source: str = ""
    missing_since: Mapping[str, float] = MappingProxyType({})
    """Uids without a row, with the time of the first clean read without it."""
    rows_without_uid: int = 0
    """The number of rows without a uid in the last clean read."""
    other_registry_since: Mapping[str, float] = MappingProxyType({})
    """By name, Tenants whose template uses another registry, with the time of the first clean read that found it so."""
    ambiguous_uids: Mapping[str, int] = MappingProxyType({})
    """Uids that went missing in a read with more rows without a uid than before: such a row may be theirs, so their
    Tenants are kept until the number of such rows is down to the one given here."""
    hold: DeletionHold | None = None
    deletion_rate: DeletionRate = DeletionRate()


class GuardInput(NamedTuple):
    """Everything besides the read that a decision depends on."""

    tenants: tuple[GuardedTenant, ...]
    policy: GuardPolicy
    other_registry_templates: frozenset[str] = frozenset()
    """Templates that exist and use another registry."""
    approval: str = ""
    state: GuardState = GuardState()


def guard_policy(guard: DeletionGuard, sync_interval: float) -> GuardPolicy:
    return GuardPolicy(
        max_percent=guard.max_percent,
        max_count=None if isinstance(guard.max_count, Unset) else guard.max_count,
        grace=parse_interval(guard.grace_period),
        confirm_after=min(sync_interval, CONFIRMATION_SECONDS),
        allow_empty=guard.allow_empty,
    )


class DeletionMark(NamedTuple):
    name: str
    delete_after: float


class GuardDecision(NamedTuple):
    state: GuardState
    delete: tuple[str, ...] = ()
    mark: tuple[DeletionMark, ...] = ()
    unmark: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    """Missing from one read so far; the next clean read decides."""
    recheck_at: float | None = None
    """When the passing of time alone can change the decision."""
    approval_is_obsolete: bool = False
    """The approval was used, or nothing is held any more: remove it, but only after all marks are written."""
    deleted_last_hour: int = 0
    """The deletions within the last hour, in the decision in which they first exceed the share that may be deleted at
    once; else 0."""

    @property
    def hold(self) -> DeletionHold | None:
        return self.state.hold

    @property
    def is_idle(self) -> bool:
        """No Tenant is missing, marked or held: the same read leads to the same decision at any time."""
        state = self.state
        pending = state.missing_since or state.other_registry_since or state.ambiguous_uids or state.hold
        return not pending and self == GuardDecision(state)


class _DeletionCandidates(NamedTuple):
    """Tenants that the read implies to delete."""

    marked: tuple[GuardedTenant, ...]
    """Marked before: the guard has already allowed their deletion."""
    confirmed: tuple[GuardedTenant, ...]
    unconfirmed: tuple[GuardedTenant, ...]

    @property
    def unmarked(self) -> tuple[GuardedTenant, ...]:
        return self.confirmed + self.unconfirmed


def decide_deletions(read: TableRead, given: GuardInput) -> GuardDecision:
    """The deletions, marks and holds that follow from a read."""
    if isinstance(read, FailedRead):
        return GuardDecision(given.state)
    if read.rows == 0 and not given.policy.allow_empty:
        return _decide_empty_table(given)
    state = _next_state(read, given)
    candidates = _find_candidates(read, given, state)
    decision = _decide_candidates(read, given, candidates, state)
    is_obsolete = bool(given.approval) and decision.hold is None
    return decision._replace(unmark=_returned_tenants(read, given), approval_is_obsolete=is_obsolete)


def _decide_empty_table(given: GuardInput) -> GuardDecision:
    # An empty result is far more often a broken query than an empty business. No approval overrides it.
    if not given.tenants:
        return GuardDecision(given.state._replace(hold=None))
    return GuardDecision(given.state._replace(hold=_make_hold(HoldReason.EMPTY_RESULT, given.tenants)))


def _next_state(read: CleanRead, given: GuardInput) -> GuardState:
    previous = given.state if given.state.source == read.source else GuardState()
    present = read.active | read.inactive | read.rejected
    missing: dict[str, float] = {}
    ambiguous: dict[str, int] = {}
    for uid in {tenant.uid for tenant in given.tenants} - present:
        usual_count = previous.ambiguous_uids.get(uid, previous.rows_without_uid)
        if uid in previous.missing_since or read.rows_without_uid <= usual_count:
            missing[uid] = previous.missing_since.get(uid, read.at)
        else:
            ambiguous[uid] = usual_count
    other_registry = {
        tenant.name: previous.other_registry_since.get(tenant.name, read.at)
        for tenant in given.tenants
        if tenant.template in given.other_registry_templates
    }
    return GuardState(
        read.source,
        missing,
        read.rows_without_uid,
        other_registry,
        ambiguous,
        deletion_rate=given.state.deletion_rate,
    )


def _find_candidates(read: CleanRead, given: GuardInput, state: GuardState) -> _DeletionCandidates:
    undesired = [
        tenant
        for tenant in given.tenants
        if not _is_desired(tenant, read, given) and tenant.uid not in state.ambiguous_uids
    ]
    unmarked = [tenant for tenant in undesired if tenant.delete_after is None]
    confirmed = {tenant.name for tenant in unmarked if _is_confirmed(tenant, read, given, state)}
    return _DeletionCandidates(
        marked=tuple(tenant for tenant in undesired if tenant.delete_after is not None),
        confirmed=tuple(tenant for tenant in unmarked if tenant.name in confirmed),
        unconfirmed=tuple(tenant for tenant in unmarked if tenant.name not in confirmed),
    )


def _is_desired(tenant: GuardedTenant, read: CleanRead, given: GuardInput) -> bool:
    if tenant.uid in read.rejected:
        return True
    return tenant.uid in read.active and tenant.template not in given.other_registry_templates


def _is_confirmed(tenant: GuardedTenant, read: CleanRead, given: GuardInput, state: GuardState) -> bool:
    since = _undesired_since(tenant, state)
    if since is None or tenant.uid in read.inactive:
        return True
    return read.at > since and read.at - since >= given.policy.confirm_after


def _undesired_since(tenant: GuardedTenant, state: GuardState) -> float | None:
    """Since when its row is missing, or since when its template uses another registry."""
    return state.missing_since.get(tenant.uid, state.other_registry_since.get(tenant.name))


def _decide_candidates(
    read: CleanRead, given: GuardInput, candidates: _DeletionCandidates, state: GuardState
) -> GuardDecision:
    policy = given.policy
    if reason := exceeded_limit(candidates.unmarked, len(given.tenants), policy):
        return _decide_held(
            read, given, candidates, state._replace(hold=_make_hold(reason, candidates.unmarked))
        )
    due = tuple(
        tenant
        for tenant in candidates.marked
        if _is_due(tenant, read.at) and _is_confirmed(tenant, read, given, state)
    )
    state = state._replace(deletion_rate=_deletion_rate(read, given, candidates))
    return GuardDecision(
        state,
        delete=_names(due if policy.grace else (*due, *candidates.confirmed)),
        mark=_marks(candidates.confirmed, read, policy) if policy.grace else (),
        unconfirmed=_names(candidates.unconfirmed),
        recheck_at=_next_recheck(read, policy, candidates, state),
        deleted_last_hour=_newly_reported(given.state.deletion_rate, state.deletion_rate),
    )


def _deletion_rate(read: CleanRead, given: GuardInput, candidates: _DeletionCandidates) -> DeletionRate:
    """Counts a deletion when it is allowed, and subtracts it if the row returns within the grace period."""
    allowed = len(candidates.confirmed)
    remaining = len(given.tenants) - allowed - len(candidates.marked)
    rate = given.state.deletion_rate.with_deletions(allowed - len(_returned_tenants(read, given)), read.at)
    return rate.reported_if_high(remaining, given.policy.max_percent)


def _newly_reported(previous: DeletionRate, current: DeletionRate) -> int:
    return current.deleted if current.is_reported and not previous.is_reported else 0


def _decide_held(
    read: CleanRead, given: GuardInput, candidates: _DeletionCandidates, state: GuardState
) -> GuardDecision:
    """Too many at once: nothing is deleted, not even what was due, until an approval names exactly this set."""
    unmarked = candidates.unmarked
    # Or the set with what is marked already: a crash may have interrupted the marking of an approved set.
    sets = (unmarked, (*unmarked, *candidates.marked))
    is_approved = any(approves_exactly(given.approval, _names(tenants)) for tenants in sets)
    if is_approved and not candidates.unconfirmed:
        marks = _marks(unmarked, read, given.policy)
        return GuardDecision(state._replace(hold=None), mark=marks, recheck_at=marks[0].delete_after)
    recheck_at = _next_recheck(read, given.policy, candidates, state)
    return GuardDecision(state, unconfirmed=_names(candidates.unconfirmed), recheck_at=recheck_at)


def exceeded_limit(deleted: Iterable[GuardedTenant], existing: int, policy: GuardPolicy) -> HoldReason | None:
    """The limit that deleting these Tenants at once would exceed.

    A share means little for few rows: the Tenants of one row may always be deleted. `max_count` has no such exception.
    """
    deleted = tuple(deleted)
    if policy.max_count is not None and len(deleted) > policy.max_count:
        return HoldReason.TOO_MANY
    is_one_row = len({tenant.uid for tenant in deleted}) <= 1
    if not is_one_row and len(deleted) * 100 > policy.max_percent * existing:
        return HoldReason.TOO_MANY_PERCENT
    return None


def owner_deletion_hold(deleted: Iterable[GuardedTenant], given: GuardInput) -> DeletionHold | None:
    """The hold on a template or registry whose deletion would delete these Tenants; None if it may be deleted now."""
    deleted = tuple(deleted)
    reason = exceeded_limit(deleted, len(given.tenants), given.policy)
    if reason is None or approves_exactly(given.approval, _names(deleted)):
        return None
    return _make_hold(reason, deleted)._replace(undo="Leave it held")


def _make_hold(reason: HoldReason, tenants: Iterable[GuardedTenant]) -> DeletionHold:
    return DeletionHold.for_tenants(reason, _names(tenants))


def _returned_tenants(read: CleanRead, given: GuardInput) -> tuple[str, ...]:
    return tuple(
        tenant.name
        for tenant in given.tenants
        if tenant.delete_after is not None and _is_desired(tenant, read, given)
    )


def _is_due(tenant: GuardedTenant, now: float) -> bool:
    return tenant.delete_after is not None and tenant.delete_after <= now


def _marks(
    tenants: Iterable[GuardedTenant], read: CleanRead, policy: GuardPolicy
) -> tuple[DeletionMark, ...]:
    return tuple(DeletionMark(tenant.name, read.at + policy.grace) for tenant in tenants)


def _next_recheck(
    read: CleanRead, policy: GuardPolicy, candidates: _DeletionCandidates, state: GuardState
) -> float | None:
    times = (_undesired_since(tenant, state) for tenant in (*candidates.unconfirmed, *candidates.marked))
    confirmations = (since + policy.confirm_after for since in times if since is not None)
    marks = (tenant.delete_after for tenant in candidates.marked if tenant.delete_after is not None)
    new_marks = [read.at + policy.grace] if policy.grace and candidates.confirmed else []
    return min((at for at in (*confirmations, *marks, *new_marks) if at > read.at), default=None)


def _names(tenants: Iterable[GuardedTenant]) -> tuple[str, ...]:
    return tuple(sorted(tenant.name for tenant in tenants))
