"""Invariants of the deletion guard for any reads, Tenants and policy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.guard.approval import names_digest
from steward.tenants.guard.decision import (
    CleanRead,
    FailedRead,
    GuardedTenant,
    GuardInput,
    GuardPolicy,
    GuardState,
    decide_deletions,
)

pytestmark = pytest.mark.slow

UIDS = st.sampled_from([f"t{number}" for number in range(12)])
SETS = st.frozensets(UIDS)
TEMPLATES = ("web", "worker")
# Made once: Hypothesis checks a new strategy each time, which takes longer than drawing from it.
STATES = st.dictionaries(UIDS, st.sampled_from(["active", "inactive", "rejected"]))
ROWS_WITHOUT_UID = st.sampled_from([0, 0, 0, 1, 2])
SOURCES = st.sampled_from(["db", "db", "db", "other"])
TENANT_KEYS = st.frozensets(st.tuples(UIDS, st.sampled_from(TEMPLATES)))
MARKS = st.one_of(st.none(), st.floats(0, 100))
POLICIES = st.builds(
    GuardPolicy,
    max_percent=st.integers(0, 100),
    max_count=st.none() | st.integers(0, 12),
    grace=st.sampled_from([0.0, 30.0]),
    allow_empty=st.booleans(),
)


@st.composite
def reads(draw: st.DrawFn, at: float) -> CleanRead:
    states = draw(STATES)
    groups = {
        state: frozenset(uid for uid, found in states.items() if found == state)
        for state in ("active", "inactive", "rejected")
    }
    without_uid = draw(ROWS_WITHOUT_UID)
    source = draw(SOURCES)
    return CleanRead(at, source, len(states) + without_uid, **groups, rows_without_uid=without_uid)


@st.composite
def guard_inputs(draw: st.DrawFn) -> GuardInput:
    keys = sorted(draw(TENANT_KEYS))
    tenants = tuple(GuardedTenant(f"{uid}-{name}", uid, name, draw(MARKS)) for uid, name in keys)
    return GuardInput(tenants, draw(POLICIES), approval=draw(approvals(tenants)))


def approvals(tenants: tuple[GuardedTenant, ...]) -> st.SearchStrategy[str]:
    if not tenants:
        return st.just("")
    names = st.frozensets(st.sampled_from([tenant.name for tenant in tenants]), min_size=1)
    return st.just("") | names.map(lambda found: f"{len(found)}-{names_digest(found)}")


@settings(deadline=None)
@given(guard_inputs(), st.floats(0, 200))
def test_a_failed_read_changes_nothing(found: GuardInput, at: float) -> None:
    decision = decide_deletions(FailedRead(at), found)
    assert (decision.delete, decision.mark, decision.unmark, decision.approval_is_obsolete) == (
        (),
        (),
        (),
        False,
    )
    assert decision.state == found.state


@settings(deadline=None)
@given(guard_inputs(), reads(at=50.0))
def test_a_tenant_whose_row_is_active_or_rejected_is_never_touched(
    found: GuardInput, read: CleanRead
) -> None:
    decision = decide_deletions(read, found)
    touched = {*decision.delete, *(mark.name for mark in decision.mark)}
    safe = {tenant.name for tenant in found.tenants if tenant.uid in read.active | read.rejected}
    assert not touched & safe


@settings(deadline=None)
@given(guard_inputs(), reads(at=50.0))
def test_one_read_deletes_no_unmarked_tenant_whose_row_is_missing(found: GuardInput, read: CleanRead) -> None:
    decision = decide_deletions(read, found)
    seen = read.active | read.inactive | read.rejected
    missing = {
        tenant.name for tenant in found.tenants if tenant.uid not in seen and tenant.delete_after is None
    }
    assert not missing & {*decision.delete, *(mark.name for mark in decision.mark)}


@settings(deadline=None)
@given(guard_inputs(), reads(at=50.0))
def test_without_an_approval_no_more_than_the_limits_are_deleted_at_once(
    found: GuardInput, read: CleanRead
) -> None:
    decision = decide_deletions(read, found._replace(approval=""))
    unmarked = {tenant.name: tenant.uid for tenant in found.tenants if tenant.delete_after is None}
    deleted = [
        name for name in (*decision.delete, *(mark.name for mark in decision.mark)) if name in unmarked
    ]
    if found.policy.max_count is not None:
        assert len(deleted) <= found.policy.max_count
    if len({unmarked[name] for name in deleted}) > 1:
        assert len(deleted) * 100 <= found.policy.max_percent * len(found.tenants)


@settings(deadline=None)
@given(guard_inputs(), reads(at=50.0))
def test_an_approval_releases_its_own_set_or_nothing(found: GuardInput, read: CleanRead) -> None:
    without = decide_deletions(read, found._replace(approval=""))
    decision = decide_deletions(read, found)
    if decision.hold == without.hold:
        assert decision._replace(approval_is_obsolete=False) == without
        return
    marked = {tenant.name for tenant in found.tenants if tenant.delete_after is not None}
    new = {mark.name for mark in decision.mark}
    assert found.approval in {
        f"{len(names)}-{names_digest(names)}" for names in (new, new | (marked - set(decision.unmark)))
    }


@settings(deadline=None)
@given(guard_inputs(), reads(at=50.0))
def test_a_hold_deletes_and_marks_nothing(found: GuardInput, read: CleanRead) -> None:
    decision = decide_deletions(read, found)
    if decision.hold is not None:
        assert (decision.delete, decision.mark) == ((), ())


@settings(deadline=None)
@given(guard_inputs(), st.floats(0, 200))
def test_zero_rows_delete_nothing_unless_allowed(found: GuardInput, at: float) -> None:
    careful = found._replace(policy=found.policy._replace(allow_empty=False))
    decision = decide_deletions(CleanRead(at, "db", 0), careful)
    assert (decision.delete, decision.mark, decision.approval_is_obsolete) == ((), (), False)


@settings(deadline=None)
@given(guard_inputs(), reads(at=50.0), reads(at=55.0))
def test_two_agreeing_reads_within_the_limits_do_delete(
    found: GuardInput, first: CleanRead, second: CleanRead
) -> None:
    unlimited = found._replace(policy=GuardPolicy(max_percent=100, allow_empty=True), state=GuardState())
    state = decide_deletions(first, unlimited).state
    decision = decide_deletions(second, unlimited._replace(state=state))
    agreed = {
        tenant.name
        for tenant in found.tenants
        if first.source == second.source
        and first.rows_without_uid == second.rows_without_uid == 0
        and all(tenant.uid not in read.active | read.rejected | read.inactive for read in (first, second))
        and tenant.delete_after is None
    }
    assert agreed <= set(decision.delete)


FLAPPING = st.lists(
    st.dictionaries(st.sampled_from(["t0", "t1", "t2", "t3"]), st.sampled_from(["active", "inactive"])),
    min_size=1,
    max_size=12,
)


def consecutive_misses(reads: list[dict[str, str]], uid: str) -> int:
    """How many of the last reads, without empty ones, lacked the row."""
    has_row = [uid in states for states in reversed(reads) if states]
    return has_row.index(True) if True in has_row else len(has_row)


@settings(deadline=None)
@given(FLAPPING, st.sampled_from([1.0, 5.0, 30.0]))
def test_rows_that_come_and_go_delete_no_more_than_what_two_reads_in_a_row_agree_on(
    seen: list[dict[str, str]], interval: float
) -> None:
    tenants = {uid: GuardedTenant(f"{uid}-web", uid, "web") for uid in ("t0", "t1", "t2", "t3")}
    policy = GuardPolicy(max_percent=100, confirm_after=min(interval, 5.0))
    state = GuardState()
    for number, states in enumerate(seen):
        active = frozenset(uid for uid, row_state in states.items() if row_state == "active")
        read = CleanRead(number * interval, "db", len(states), active, frozenset(states) - active)
        decision = decide_deletions(read, GuardInput(tuple(tenants.values()), policy, state=state))
        state = decision.state
        for uid in (name.removesuffix("-web") for name in decision.delete):
            assert states.get(uid) == "inactive" or consecutive_misses(seen[: number + 1], uid) >= 2
            del tenants[uid]
