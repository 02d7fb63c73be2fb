"""When a decision is final: the same read leads to the same decision at any time."""

import pytest

from steward.tenants.guard.approval import DeletionHold, HoldReason
from steward.tenants.guard.decision import (
    CleanRead,
    DeletionMark,
    GuardDecision,
    GuardState,
    clean_read,
    decide_deletions,
)
from steward.tenants.sources.rows import Row, RowRejection, Rows
from tests.tenants.guard.support.reads import TEN, guard_input, read, tenants_of

HOLD = DeletionHold(HoldReason.EMPTY_RESULT, 1, "digest", ("a-web",))


def test_without_missing_rows_a_decision_is_idle() -> None:
    assert decide_deletions(read(0, active="abcdefghij"), guard_input(*tenants_of(*TEN))).is_idle


@pytest.mark.parametrize(
    "pending",
    [
        GuardDecision(GuardState(missing_since={"a": 1.0})),
        GuardDecision(GuardState(other_registry_since={"a-web": 1.0})),
        GuardDecision(GuardState(ambiguous_uids={"a": 0})),
        GuardDecision(GuardState(hold=HOLD)),
        GuardDecision(GuardState(), delete=("a-web",)),
        GuardDecision(GuardState(), mark=(DeletionMark("a-web", 1.0),)),
        GuardDecision(GuardState(), unmark=("a-web",)),
        GuardDecision(GuardState(), recheck_at=5.0),
        GuardDecision(GuardState(), approval_is_obsolete=True),
        GuardDecision(GuardState(), deleted_last_hour=5),
    ],
    ids=lambda decision: str(decision._replace(state=())) if decision.state == GuardState() else "state",
)
def test_what_waits_or_is_to_be_done_is_not_idle(pending: GuardDecision) -> None:
    assert not pending.is_idle


def test_an_inactive_row_of_a_template_that_uses_another_registry_needs_no_second_read() -> None:
    fleet = (*tenants_of(*TEN), *tenants_of("a", template="old"))
    found = guard_input(*fleet, other_registry_templates=frozenset({"old"}))
    decision = decide_deletions(read(0, active="bcdefghij", inactive="a"), found)
    assert decision.delete == ("a-old", "a-web")


def test_rows_without_a_uid_are_counted_and_no_uid_is_made_up_for_them() -> None:
    active = Row("a", "a.example.com", "1", {})
    rejected = (RowRejection("b", "twice"), RowRejection("", "NULL"), RowRejection("", "NULL"))
    found = clean_read(Rows(5, (active,), frozenset({"c"}), rejected), 7.0, "db")
    expected = CleanRead(7.0, "db", 5, frozenset({"a"}), frozenset({"c"}), frozenset({"b"}), 2)
    assert found == expected
    assert clean_read(Rows(0, (), frozenset(), ()), 7.0, "db") == CleanRead(7.0, "db", 0)
