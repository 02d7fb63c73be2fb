"""The rules of the deletion guard, one by one."""

import pytest

from steward.tenants.api.registry import DeletionGuard
from steward.tenants.guard.approval import DeletionHold, HoldReason, names_digest
from steward.tenants.guard.decision import (
    CleanRead,
    DeletionMark,
    FailedRead,
    GuardedTenant,
    GuardPolicy,
    GuardState,
    decide_deletions,
    guard_policy,
    owner_deletion_hold,
)
from tests.tenants.guard.support.reads import (
    TEN,
    after,
    approval,
    guard_input,
    names,
    read,
    tenants_of,
    touched,
)


def test_an_inactive_row_deletes_its_tenant_at_once() -> None:
    decision = decide_deletions(read(0, active="bcdefghij", inactive="a"), guard_input(*tenants_of(*TEN)))
    assert decision.delete == names("a")
    assert decision.hold is None


def test_a_missing_row_waits_for_a_second_read() -> None:
    decision = decide_deletions(read(0, active="bcdefghij"), guard_input(*tenants_of(*TEN)))
    assert decision.delete == ()
    assert decision.unconfirmed == names("a")
    assert decision.recheck_at == 5


@pytest.mark.parametrize(("at", "deleted"), [(4.9, ()), (5, names("a")), (60, names("a"))])
def test_the_second_read_counts_from_five_seconds_on(at: float, deleted: tuple[str, ...]) -> None:
    found = after(read(0, active="bcdefghij"), guard_input(*tenants_of(*TEN)))
    assert decide_deletions(read(at, active="bcdefghij"), found).delete == deleted


def test_a_shorter_sync_interval_confirms_sooner() -> None:
    assert guard_policy(DeletionGuard(), 2.0).confirm_after == 2
    assert guard_policy(DeletionGuard(), 30.0).confirm_after == 5


def test_one_read_never_confirms_itself() -> None:
    found = guard_input(*tenants_of(*TEN), policy=GuardPolicy(confirm_after=0))
    found = after(read(7, active="bcdefghij"), found)
    decision = decide_deletions(read(7, active="bcdefghij"), found)
    assert (decision.delete, decision.recheck_at) == ((), None)


def test_a_row_that_returned_in_between_starts_the_confirmation_again() -> None:
    found = after(read(0, active="bcdefghij"), guard_input(*tenants_of(*TEN)))
    found = after(read(5, active="abcdefghij"), found)
    assert decide_deletions(read(10, active="bcdefghij"), found).delete == ()


def test_a_failed_read_between_two_clean_ones_changes_nothing() -> None:
    found = after(read(0, active="bcdefghij"), guard_input(*tenants_of(*TEN)))
    found = after(FailedRead(3), found)
    assert decide_deletions(read(6, active="bcdefghij"), found).delete == names("a")


def test_a_failed_read_confirms_nothing() -> None:
    found = after(FailedRead(0), guard_input(*tenants_of(*TEN)))
    assert decide_deletions(read(6, active="bcdefghij"), found).delete == ()


def test_a_read_does_not_confirm_a_read_of_another_source() -> None:
    found = after(read(0, active="bcdefghij"), guard_input(*tenants_of(*TEN)))
    assert decide_deletions(read(6, active="bcdefghij", source="other"), found).unconfirmed == names("a")


def test_zero_rows_delete_nothing() -> None:
    found = after(read(0), guard_input(*tenants_of(*TEN)))
    decision = decide_deletions(read(60), found)
    assert touched(decision) == set()
    assert decision.hold is not None
    assert decision.hold.reason is HoldReason.EMPTY_RESULT
    assert decision.hold.size == 10
    assert "allowEmpty" in decision.hold.message


def test_zero_rows_do_not_delete_the_last_tenant() -> None:
    found = after(read(0), guard_input(*tenants_of("a")))
    assert decide_deletions(read(60), found).delete == ()


def test_an_approval_does_not_release_an_empty_table() -> None:
    found = guard_input(*tenants_of(*TEN), approval=approval(*names(*TEN)))
    found = after(read(0), found)
    assert touched(decide_deletions(read(60), found)) == set()


def test_an_empty_read_is_not_the_first_read_of_a_missing_row() -> None:
    found = after(read(0), guard_input(*tenants_of(*TEN)))
    assert decide_deletions(read(60, active="bcdefghij"), found).unconfirmed == names("a")


def test_an_empty_table_without_tenants_holds_nothing() -> None:
    assert decide_deletions(read(0), guard_input()).hold is None


def test_allow_empty_deletes_after_the_second_empty_read() -> None:
    found = guard_input(*tenants_of("a", "b"), policy=GuardPolicy(max_percent=100, allow_empty=True))
    found = after(read(0), found)
    assert decide_deletions(read(5), found).delete == names("a", "b")


def test_allow_empty_keeps_the_other_limits() -> None:
    found = after(read(0), guard_input(*tenants_of(*TEN), policy=GuardPolicy(allow_empty=True)))
    decision = decide_deletions(read(5), found)
    assert touched(decision) == set()
    assert decision.hold is not None
    assert decision.hold.reason is HoldReason.TOO_MANY_PERCENT


@pytest.mark.parametrize(("inactive", "deleted"), [("abc", 3), ("abcd", 0)])
def test_more_than_thirty_percent_at_once_are_held(inactive: str, deleted: int) -> None:
    active = "".join(uid for uid in TEN if uid not in inactive)
    decision = decide_deletions(read(0, active=active, inactive=inactive), guard_input(*tenants_of(*TEN)))
    assert len(decision.delete) == deleted
    assert (decision.hold is None) == bool(deleted)


def test_missing_and_inactive_rows_count_together() -> None:
    decision = decide_deletions(read(0, active="efghij", inactive="ab"), guard_input(*tenants_of(*TEN)))
    assert decision.delete == ()
    assert decision.hold is not None
    assert decision.hold.size == 4


@pytest.mark.parametrize("fleet", ["a", "ab", "abc"])
def test_a_single_tenant_always_passes(fleet: str) -> None:
    decision = decide_deletions(read(0, active=fleet[1:], inactive="a"), guard_input(*tenants_of(*fleet)))
    assert decision.delete == names("a")


def test_one_row_passes_with_all_its_tenants() -> None:
    tenants = (*tenants_of("a", "b"), *tenants_of("a", "b", template="worker"))
    decision = decide_deletions(read(0, active="b", inactive="a"), guard_input(*tenants))
    assert decision.delete == ("a-web", "a-worker")


@pytest.mark.parametrize(("max_count", "is_held"), [(0, True), (1, True), (2, False)])
def test_max_count_is_an_exact_limit(max_count: int, is_held: bool) -> None:
    policy = GuardPolicy(max_percent=100, max_count=max_count)
    decision = decide_deletions(
        read(0, active="cdefghij", inactive="ab"), guard_input(*tenants_of(*TEN), policy=policy)
    )
    assert (decision.hold is not None) is is_held
    assert bool(decision.delete) is not is_held


def test_with_max_count_zero_every_deletion_is_held() -> None:
    found = guard_input(*tenants_of(*TEN), policy=GuardPolicy(max_count=0))
    decision = decide_deletions(read(0, active="bcdefghij", inactive="a"), found)
    assert decision.hold is not None
    assert decision.hold.reason is HoldReason.TOO_MANY


def test_a_hold_names_count_sample_and_digest() -> None:
    fleet = tuple(f"t{number:02}" for number in range(20))
    decision = decide_deletions(
        CleanRead(0, "db", 20, inactive=frozenset(fleet)),
        guard_input(*tenants_of(*fleet), policy=GuardPolicy()),
    )
    assert decision.hold == DeletionHold(
        HoldReason.TOO_MANY_PERCENT, 20, names_digest(names(*fleet)), tuple(sorted(names(*fleet))[:10])
    )
    assert f'"20-{decision.hold.digest}"' in decision.hold.message
    assert len(decision.hold.digest) == 12, "approvals that users wrote before stay valid"
    assert "and 10 more" in decision.hold.message


def test_a_hold_ends_when_the_rows_come_back() -> None:
    found = after(read(0, active="efghij", inactive="abcd"), guard_input(*tenants_of(*TEN)))
    assert found.state.hold is not None
    decision = decide_deletions(read(5, active="abcdefghij"), found)
    assert decision.hold is None
    assert touched(decision) == set()


def test_a_hold_stays_while_the_database_is_unreachable() -> None:
    found = after(read(0, active="efghij", inactive="abcd"), guard_input(*tenants_of(*TEN)))
    assert decide_deletions(FailedRead(9), found).hold == found.state.hold


def test_an_approval_marks_exactly_its_set_and_is_then_obsolete() -> None:
    found = guard_input(*tenants_of(*TEN), approval=approval(*names(*"abcd")))
    decision = decide_deletions(read(3, active="efghij", inactive="abcd"), found)
    assert decision.mark == tuple(DeletionMark(name, 3) for name in names(*"abcd"))
    assert decision.approval_is_obsolete
    assert decision.hold is None


def test_approved_tenants_are_deleted_with_the_next_read() -> None:
    tenants = (*tenants_of(*"abcd", delete_after=3), *tenants_of(*"efghij"))
    decision = decide_deletions(read(4, active="efghij", inactive="abcd"), guard_input(*tenants))
    assert decision.delete == names(*"abcd")


def test_an_approval_waits_for_the_second_read_and_is_kept_until_then() -> None:
    found = guard_input(*tenants_of(*TEN), approval=approval(*names(*"abcd")))
    first = decide_deletions(read(0, active="efghij"), found)
    assert touched(first) == set()
    assert not first.approval_is_obsolete
    second = decide_deletions(read(5, active="efghij"), found._replace(state=first.state))
    assert {mark.name for mark in second.mark} == set(names(*"abcd"))


@pytest.mark.parametrize(
    "approved_with",
    [
        approval(*names(*"abc")),
        approval(*names(*"abce")),
        f"5-{names_digest(names(*'abcd'))}",
        names_digest(names(*"abcd")),
        "4",
        "yes",
        "",
    ],
)
def test_an_approval_of_another_set_releases_nothing(approved_with: str) -> None:
    found = guard_input(*tenants_of(*TEN), approval=approved_with)
    decision = decide_deletions(read(0, active="efghij", inactive="abcd"), found)
    assert touched(decision) == set()
    assert not decision.approval_is_obsolete
    assert decision.hold is not None


def test_an_approval_is_obsolete_when_nothing_is_held() -> None:
    found = guard_input(*tenants_of(*TEN), approval=approval(*names(*"abcd")))
    assert decide_deletions(read(0, active="abcdefghij"), found).approval_is_obsolete
    assert not decide_deletions(FailedRead(0), found).approval_is_obsolete


def test_a_crash_while_marking_an_approved_set_needs_no_second_approval() -> None:
    tenants = (*tenants_of(*"ab", delete_after=1), *tenants_of(*"cdefghij"))
    found = guard_input(*tenants, approval=approval(*names(*"abcdef")))
    decision = decide_deletions(read(5, active="ghij", inactive="abcdef"), found)
    assert {mark.name for mark in decision.mark} == set(names(*"cdef"))
    assert decision.delete == ()


def test_nothing_is_deleted_while_anything_is_held() -> None:
    tenants = (*tenants_of("a", delete_after=1), *tenants_of(*"bcdefghij"))
    decision = decide_deletions(read(5, active="fghij", inactive="abcde"), guard_input(*tenants))
    assert decision.delete == ()


def test_a_grace_period_marks_first() -> None:
    found = guard_input(*tenants_of(*TEN), policy=GuardPolicy(grace=60))
    decision = decide_deletions(read(1, active="bcdefghij", inactive="a"), found)
    assert decision.mark == (DeletionMark("a-web", 61),)
    assert decision.delete == ()
    assert decision.recheck_at == 61


@pytest.mark.parametrize(("at", "deleted"), [(60.9, ()), (61, names("a"))])
def test_a_marked_tenant_is_deleted_after_its_grace_period(at: float, deleted: tuple[str, ...]) -> None:
    tenants = (*tenants_of("a", delete_after=61), *tenants_of(*TEN[1:]))
    found = guard_input(*tenants, policy=GuardPolicy(grace=60))
    decision = decide_deletions(read(at, active="bcdefghij", inactive="a"), found)
    assert decision.delete == deleted
    assert decision.recheck_at == (None if deleted else 61)


@pytest.mark.parametrize(("active", "rejected"), [("abcdefghij", ""), ("bcdefghij", "a")])
def test_a_row_that_returns_in_time_cancels_the_deletion(active: str, rejected: str) -> None:
    tenants = (*tenants_of("a", delete_after=61), *tenants_of(*TEN[1:]))
    decision = decide_deletions(
        read(99, active=active, rejected=rejected), guard_input(*tenants, policy=GuardPolicy(grace=60))
    )
    assert decision.unmark == names("a")
    assert touched(decision) == set()


def test_after_a_start_a_marked_tenant_with_a_missing_row_waits_for_the_second_read() -> None:
    marked = tenants_of("a", delete_after=60.0) + tenants_of(*"bcdefghij")
    first = decide_deletions(read(100.0, "bcdefghij"), guard_input(*marked))
    assert (first.delete, first.recheck_at) == ((), 105.0)
    second = decide_deletions(read(105.0, "bcdefghij"), guard_input(*marked, state=first.state))
    assert second.delete == names("a")


def test_a_marked_tenant_is_not_deleted_by_a_failed_or_empty_read() -> None:
    found = guard_input(*tenants_of(*TEN, delete_after=1), policy=GuardPolicy(grace=60))
    assert decide_deletions(FailedRead(99), found).delete == ()
    assert decide_deletions(read(99), found).delete == ()


def test_a_rejected_row_is_not_missing() -> None:
    found = after(read(0, active="bcdefghij", rejected="a"), guard_input(*tenants_of(*TEN)))
    decision = decide_deletions(read(60, active="bcdefghij", rejected="a"), found)
    assert touched(decision) == set()
    assert decision.unconfirmed == ()


def test_a_tenant_is_kept_while_a_row_without_uid_may_be_its_row() -> None:
    found = after(read(0, active="abcdefghij"), guard_input(*tenants_of(*TEN)))
    found = after(read(10, active="bcdefghij", rows_without_uid=1), found)
    decision = decide_deletions(read(60, active="bcdefghij", rows_without_uid=1), found)
    assert touched(decision) == set()
    assert set(decision.state.ambiguous_uids) == {"a"}


def test_when_the_row_without_uid_disappears_two_more_reads_decide() -> None:
    found = after(read(0, active="abcdefghij"), guard_input(*tenants_of(*TEN)))
    found = after(read(10, active="bcdefghij", rows_without_uid=1), found)
    found = after(read(60, active="bcdefghij"), found)
    assert decide_deletions(read(60, active="bcdefghij"), found).unconfirmed == names("a")
    assert decide_deletions(read(65, active="bcdefghij"), found).delete == names("a")


def test_a_row_that_never_had_a_uid_keeps_no_tenant() -> None:
    found = after(read(0, active="abcdefghij", rows_without_uid=1), guard_input(*tenants_of(*TEN)))
    found = after(read(10, active="bcdefghij", rows_without_uid=1), found)
    assert decide_deletions(read(15, active="bcdefghij", rows_without_uid=1), found).delete == names("a")


def test_a_tenant_with_an_ambiguous_uid_keeps_its_mark_and_is_not_deleted() -> None:
    tenants = (*tenants_of("a", delete_after=1), *tenants_of(*TEN[1:]))
    decision = decide_deletions(read(60, active="bcdefghij", rows_without_uid=1), guard_input(*tenants))
    assert (decision.delete, decision.unmark) == ((), ())
    assert decision.state.ambiguous_uids == {"a": 0}, "a new state expects no row without a uid"


@pytest.mark.parametrize(
    ("rows", "deleted"),
    [
        ({"active": "abc"}, set()),
        ({"active": "bc", "rejected": "a"}, set()),
        ({"active": "bc", "inactive": "a"}, {"a-absent"}),
        ({"active": "bc"}, {"a-absent"}),
    ],
    ids=["active", "rejected", "inactive", "vanished"],
)
@pytest.mark.parametrize("others", [tenants_of("b", "c"), ()], ids=["among-others", "alone"])
def test_with_a_missing_template_only_rows_decide(
    rows: dict[str, str], deleted: set[str], others: tuple[GuardedTenant, ...]
) -> None:
    found = guard_input(*tenants_of("a", template="absent"), *others)
    decision = decide_deletions(read(60, **rows), after(read(0, **rows), found))
    assert touched(decision) == deleted


def test_a_whole_fleet_without_its_templates_is_neither_deleted_nor_held() -> None:
    decision = decide_deletions(
        read(0, active="abcdefghij"), guard_input(*tenants_of(*TEN, template="absent"))
    )
    assert touched(decision) == set()
    assert decision.hold is None


def test_a_mark_is_removed_when_the_row_is_active_even_without_a_template() -> None:
    found = guard_input(*tenants_of("a", template="absent", delete_after=61), policy=GuardPolicy(grace=60))
    assert decide_deletions(read(1, active="a"), found).unmark == ("a-absent",)


def test_a_tenant_of_a_template_that_uses_another_registry_is_deleted_within_the_limits() -> None:
    tenants = (*tenants_of(*TEN), *tenants_of("a", template="old"))
    found = guard_input(*tenants, other_registry_templates=frozenset({"old"}))
    first = decide_deletions(read(0, active="abcdefghij"), found)
    assert (first.delete, first.unconfirmed, first.recheck_at) == ((), ("a-old",), 5)
    second = decide_deletions(read(5, active="abcdefghij"), found._replace(state=first.state))
    assert second.delete == ("a-old",)


def test_a_tenant_whose_template_is_back_in_between_is_kept() -> None:
    moved = tenants_of("a", template="old")
    found = guard_input(*tenants_of(*TEN), *moved, other_registry_templates=frozenset({"old"}))
    state = decide_deletions(read(0, active="abcdefghij"), found).state
    back = guard_input(*tenants_of(*TEN), *moved, state=state)
    later = after(read(5, active="abcdefghij"), back)
    assert later.state.other_registry_since == {}
    assert (
        touched(
            decide_deletions(
                read(10, active="abcdefghij"), later._replace(other_registry_templates=frozenset({"old"}))
            )
        )
        == set()
    )


def test_a_template_that_uses_another_registry_is_held_with_many_tenants() -> None:
    tenants = (*tenants_of(*TEN), *tenants_of(*TEN, template="old"))
    decision = decide_deletions(
        read(0, active="abcdefghij"), guard_input(*tenants, other_registry_templates=frozenset({"old"}))
    )
    assert touched(decision) == set()
    assert decision.hold is not None
    assert decision.hold.size == 10


def test_a_template_with_many_tenants_waits_for_its_approval() -> None:
    deleted = tenants_of(*TEN, template="worker")
    found = guard_input(*tenants_of(*TEN), *deleted)
    hold = owner_deletion_hold(deleted, found)
    assert hold is not None
    assert hold.size == 10
    assert owner_deletion_hold(deleted, found._replace(approval=hold.approve_with)) is None
    assert owner_deletion_hold(deleted[1:], found._replace(approval=hold.approve_with)) is not None


@pytest.mark.parametrize("deleted", [(), tenants_of("a"), tenants_of("a", "b", "c")])
def test_a_template_with_few_tenants_may_be_deleted(deleted: tuple[GuardedTenant, ...]) -> None:
    assert owner_deletion_hold(deleted, guard_input(*tenants_of(*TEN))) is None


def test_a_registry_with_one_tenant_is_deleted_and_with_more_is_held() -> None:
    assert owner_deletion_hold(tenants_of("a"), guard_input(*tenants_of("a"))) is None
    assert owner_deletion_hold(tenants_of("a", "b"), guard_input(*tenants_of("a", "b"))) is not None


def test_the_policy_comes_from_the_registry() -> None:
    guard = DeletionGuard(allow_empty=True, max_percent=10, max_count=5, grace_period="2h")
    assert guard_policy(guard, 60.0) == GuardPolicy(10, 5, 7200.0, 5.0, allow_empty=True)
    assert guard_policy(DeletionGuard(), 60.0) == GuardPolicy()


def test_losing_the_state_only_delays_a_deletion() -> None:
    found = after(read(0, active="bcdefghij"), guard_input(*tenants_of(*TEN)))
    assert decide_deletions(
        read(9, active="bcdefghij"), found._replace(state=GuardState())
    ).unconfirmed == names("a")
