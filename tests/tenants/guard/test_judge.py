"""The deletion guard, sentence by sentence."""

from typing import Any

import pytest

from steward.tenants.api.registry import DeletionGuard
from steward.tenants.guard.approval import Hold, HoldReason, digest_of
from steward.tenants.guard.judge import (
    CleanRead,
    FailedRead,
    Known,
    Mark,
    Memory,
    Policy,
    Situation,
    Verdict,
    judge,
    judge_departure,
    policy_of,
)

TEN = tuple("abcdefghij")


def known(*uids: str, template: str = "web", delete_after: float | None = None) -> tuple[Known, ...]:
    return tuple(Known(f"{uid}-{template}", uid, template, delete_after) for uid in uids)


def names(*uids: str) -> tuple[str, ...]:
    return tuple(f"{uid}-web" for uid in uids)


def read(at: float, active: str = "", inactive: str = "", rejected: str = "", **more: Any) -> CleanRead:
    rows = len(active) + len(inactive) + len(rejected)
    return CleanRead(
        at,
        more.get("source", "db"),
        rows + more.get("nameless", 0),
        frozenset(active),
        frozenset(inactive),
        frozenset(rejected),
        more.get("nameless", 0),
    )


def situation(*tenants: Known, **more: Any) -> Situation:
    policy = more.pop("policy", Policy())
    return Situation(tenants, policy, **more)


def after(first: CleanRead | FailedRead, found: Situation) -> Situation:
    """The same situation, with what the guard remembers of a read."""
    return found._replace(memory=judge(first, found).memory)


def touched(verdict: Verdict) -> set[str]:
    return {*verdict.delete, *(mark.name for mark in verdict.mark)}


def approval(*names: str) -> str:
    return f"{len(names)}-{digest_of(names)}"


def test_a_row_that_is_there_and_inactive_is_believed_at_once() -> None:
    verdict = judge(read(0, active="bcdefghij", inactive="a"), situation(*known(*TEN)))
    assert verdict.delete == names("a")
    assert verdict.hold is None


def test_a_row_that_vanished_waits_for_a_second_read() -> None:
    verdict = judge(read(0, active="bcdefghij"), situation(*known(*TEN)))
    assert verdict.delete == ()
    assert verdict.waiting == names("a")
    assert verdict.look_again_at == 5


@pytest.mark.parametrize(("at", "gone"), [(4.9, ()), (5, names("a")), (60, names("a"))])
def test_the_second_read_counts_from_five_seconds_on(at: float, gone: tuple[str, ...]) -> None:
    found = after(read(0, active="bcdefghij"), situation(*known(*TEN)))
    assert judge(read(at, active="bcdefghij"), found).delete == gone


def test_a_shorter_sync_interval_confirms_sooner() -> None:
    assert policy_of(DeletionGuard(), 2.0).confirm_after == 2
    assert policy_of(DeletionGuard(), 30.0).confirm_after == 5


def test_one_read_never_confirms_itself() -> None:
    found = situation(*known(*TEN), policy=Policy(confirm_after=0))
    found = after(read(7, active="bcdefghij"), found)
    assert judge(read(7, active="bcdefghij"), found).delete == ()


def test_a_row_that_came_back_in_between_begins_anew() -> None:
    found = after(read(0, active="bcdefghij"), situation(*known(*TEN)))
    found = after(read(5, active="abcdefghij"), found)
    assert judge(read(10, active="bcdefghij"), found).delete == ()


def test_a_failed_read_between_two_good_ones_neither_helps_nor_harms() -> None:
    found = after(read(0, active="bcdefghij"), situation(*known(*TEN)))
    found = after(FailedRead(3), found)
    assert judge(read(6, active="bcdefghij"), found).delete == names("a")


def test_a_failed_read_confirms_nothing() -> None:
    found = after(FailedRead(0), situation(*known(*TEN)))
    assert judge(read(6, active="bcdefghij"), found).delete == ()


def test_reads_of_two_sources_do_not_agree_with_each_other() -> None:
    found = after(read(0, active="bcdefghij"), situation(*known(*TEN)))
    assert judge(read(6, active="bcdefghij", source="other"), found).waiting == names("a")


def test_zero_rows_delete_nothing() -> None:
    found = after(read(0), situation(*known(*TEN)))
    verdict = judge(read(60), found)
    assert touched(verdict) == set()
    assert verdict.hold is not None
    assert verdict.hold.reason is HoldReason.EMPTY_RESULT
    assert verdict.hold.size == 10
    assert "allowEmpty" in verdict.hold.message


def test_zero_rows_do_not_even_take_the_last_tenant() -> None:
    found = after(read(0), situation(*known("a")))
    assert judge(read(60), found).delete == ()


def test_no_approval_turns_an_empty_table_into_evidence() -> None:
    found = situation(*known(*TEN), approval=approval(*names(*TEN)))
    found = after(read(0), found)
    assert touched(judge(read(60), found)) == set()


def test_an_empty_read_is_no_first_read_for_a_vanished_row() -> None:
    found = after(read(0), situation(*known(*TEN)))
    assert judge(read(60, active="bcdefghij"), found).waiting == names("a")


def test_an_empty_table_without_tenants_is_nothing_to_hold() -> None:
    assert judge(read(0), situation()).hold is None


def test_allow_empty_believes_an_empty_table_at_the_second_read() -> None:
    found = situation(*known("a", "b"), policy=Policy(max_percent=100, believes_empty=True))
    found = after(read(0), found)
    assert judge(read(5), found).delete == names("a", "b")


def test_allow_empty_keeps_the_other_limits() -> None:
    found = after(read(0), situation(*known(*TEN), policy=Policy(believes_empty=True)))
    verdict = judge(read(5), found)
    assert touched(verdict) == set()
    assert verdict.hold is not None
    assert verdict.hold.reason is HoldReason.TOO_MANY_PERCENT


@pytest.mark.parametrize(("inactive", "gone"), [("abc", 3), ("abcd", 0)])
def test_more_than_thirty_percent_at_once_are_held(inactive: str, gone: int) -> None:
    active = "".join(uid for uid in TEN if uid not in inactive)
    verdict = judge(read(0, active=active, inactive=inactive), situation(*known(*TEN)))
    assert len(verdict.delete) == gone
    assert (verdict.hold is None) == bool(gone)


def test_the_vanished_and_the_inactive_count_together() -> None:
    verdict = judge(read(0, active="efghij", inactive="ab"), situation(*known(*TEN)))
    assert verdict.delete == ()
    assert verdict.hold is not None
    assert verdict.hold.size == 4


@pytest.mark.parametrize("fleet", ["a", "ab", "abc"])
def test_a_single_tenant_always_passes(fleet: str) -> None:
    verdict = judge(read(0, active=fleet[1:], inactive="a"), situation(*known(*fleet)))
    assert verdict.delete == names("a")


def test_one_row_passes_with_all_its_tenants() -> None:
    tenants = (*known("a", "b"), *known("a", "b", template="worker"))
    verdict = judge(read(0, active="b", inactive="a"), situation(*tenants))
    assert verdict.delete == ("a-web", "a-worker")


@pytest.mark.parametrize(("max_count", "is_held"), [(0, True), (1, True), (2, False)])
def test_max_count_is_meant_as_it_stands(max_count: int, is_held: bool) -> None:
    policy = Policy(max_percent=100, max_count=max_count)
    verdict = judge(read(0, active="cdefghij", inactive="ab"), situation(*known(*TEN), policy=policy))
    assert (verdict.hold is not None) is is_held
    assert bool(verdict.delete) is not is_held


def test_with_max_count_zero_even_one_deletion_is_asked_for() -> None:
    found = situation(*known(*TEN), policy=Policy(max_count=0))
    verdict = judge(read(0, active="bcdefghij", inactive="a"), found)
    assert verdict.hold is not None
    assert verdict.hold.reason is HoldReason.TOO_MANY


def test_a_hold_names_count_sample_and_digest() -> None:
    fleet = tuple(f"t{number:02}" for number in range(20))
    verdict = judge(
        CleanRead(0, "db", 20, inactive=frozenset(fleet)), situation(*known(*fleet), policy=Policy())
    )
    assert verdict.hold == Hold(
        HoldReason.TOO_MANY_PERCENT, 20, digest_of(names(*fleet)), tuple(sorted(names(*fleet))[:10])
    )
    assert f'"20-{verdict.hold.digest}"' in verdict.hold.message
    assert "and 10 more" in verdict.hold.message


def test_a_hold_ends_when_the_rows_come_back() -> None:
    found = after(read(0, active="efghij", inactive="abcd"), situation(*known(*TEN)))
    assert found.memory.hold is not None
    verdict = judge(read(5, active="abcdefghij"), found)
    assert verdict.hold is None
    assert touched(verdict) == set()


def test_a_hold_stays_while_the_database_is_away() -> None:
    found = after(read(0, active="efghij", inactive="abcd"), situation(*known(*TEN)))
    assert judge(FailedRead(9), found).hold == found.memory.hold


def test_an_approval_marks_exactly_its_set_and_is_spent() -> None:
    found = situation(*known(*TEN), approval=approval(*names(*"abcd")))
    verdict = judge(read(3, active="efghij", inactive="abcd"), found)
    assert verdict.mark == tuple(Mark(name, 3) for name in names(*"abcd"))
    assert verdict.approval_is_spent
    assert verdict.hold is None


def test_what_an_approval_marked_goes_with_the_next_read() -> None:
    tenants = (*known(*"abcd", delete_after=3), *known(*"efghij"))
    verdict = judge(read(4, active="efghij", inactive="abcd"), situation(*tenants))
    assert verdict.delete == names(*"abcd")


def test_an_approval_waits_for_the_second_read_and_is_not_spent_before() -> None:
    found = situation(*known(*TEN), approval=approval(*names(*"abcd")))
    first = judge(read(0, active="efghij"), found)
    assert touched(first) == set()
    assert not first.approval_is_spent
    second = judge(read(5, active="efghij"), found._replace(memory=first.memory))
    assert {mark.name for mark in second.mark} == set(names(*"abcd"))


@pytest.mark.parametrize(
    "said",
    [
        approval(*names(*"abc")),
        approval(*names(*"abce")),
        f"5-{digest_of(names(*'abcd'))}",
        digest_of(names(*"abcd")),
        "4",
        "yes",
        "",
    ],
)
def test_an_approval_of_another_set_releases_nothing(said: str) -> None:
    found = situation(*known(*TEN), approval=said)
    verdict = judge(read(0, active="efghij", inactive="abcd"), found)
    assert touched(verdict) == set()
    assert not verdict.approval_is_spent
    assert verdict.hold is not None


def test_an_approval_does_not_outlive_what_it_was_given_for() -> None:
    found = situation(*known(*TEN), approval=approval(*names(*"abcd")))
    assert judge(read(0, active="abcdefghij"), found).approval_is_spent
    assert not judge(FailedRead(0), found).approval_is_spent


def test_a_crash_while_marking_an_approved_set_needs_no_second_approval() -> None:
    tenants = (*known(*"ab", delete_after=1), *known(*"cdefghij"))
    found = situation(*tenants, approval=approval(*names(*"abcdef")))
    verdict = judge(read(5, active="ghij", inactive="abcdef"), found)
    assert {mark.name for mark in verdict.mark} == set(names(*"cdef"))
    assert verdict.delete == ()


def test_nothing_goes_while_anything_is_held() -> None:
    tenants = (*known("a", delete_after=1), *known(*"bcdefghij"))
    verdict = judge(read(5, active="fghij", inactive="abcde"), situation(*tenants))
    assert verdict.delete == ()


def test_a_grace_period_marks_first() -> None:
    found = situation(*known(*TEN), policy=Policy(grace=60))
    verdict = judge(read(1, active="bcdefghij", inactive="a"), found)
    assert verdict.mark == (Mark("a-web", 61),)
    assert verdict.delete == ()
    assert verdict.look_again_at == 61


@pytest.mark.parametrize(("at", "gone"), [(60.9, ()), (61, names("a"))])
def test_a_marked_tenant_goes_when_its_time_has_come(at: float, gone: tuple[str, ...]) -> None:
    tenants = (*known("a", delete_after=61), *known(*TEN[1:]))
    found = situation(*tenants, policy=Policy(grace=60))
    assert judge(read(at, active="bcdefghij", inactive="a"), found).delete == gone


@pytest.mark.parametrize(("active", "rejected"), [("abcdefghij", ""), ("bcdefghij", "a")])
def test_a_row_that_returns_in_time_cancels_the_deletion(active: str, rejected: str) -> None:
    tenants = (*known("a", delete_after=61), *known(*TEN[1:]))
    verdict = judge(read(99, active=active, rejected=rejected), situation(*tenants, policy=Policy(grace=60)))
    assert verdict.unmark == names("a")
    assert touched(verdict) == set()


def test_after_a_start_a_marked_tenant_whose_row_is_missed_waits_for_the_second_read_like_any_other() -> None:
    marked = known("a", delete_after=60.0) + known(*"bcdefghij")
    first = judge(read(100.0, "bcdefghij"), situation(*marked))
    assert (first.delete, first.look_again_at) == ((), 105.0)
    second = judge(read(105.0, "bcdefghij"), situation(*marked, memory=first.memory))
    assert second.delete == names("a")


def test_a_mark_does_not_make_a_failed_or_empty_read_deadly() -> None:
    found = situation(*known(*TEN, delete_after=1), policy=Policy(grace=60))
    assert judge(FailedRead(99), found).delete == ()
    assert judge(read(99), found).delete == ()


def test_a_rejected_row_is_not_gone() -> None:
    found = after(read(0, active="bcdefghij", rejected="a"), situation(*known(*TEN)))
    verdict = judge(read(60, active="bcdefghij", rejected="a"), found)
    assert touched(verdict) == set()
    assert verdict.waiting == ()


def test_a_tenant_stays_while_a_row_that_lost_its_uid_may_be_its_own() -> None:
    found = after(read(0, active="abcdefghij"), situation(*known(*TEN)))
    found = after(read(10, active="bcdefghij", nameless=1), found)
    verdict = judge(read(60, active="bcdefghij", nameless=1), found)
    assert touched(verdict) == set()
    assert set(verdict.memory.doubted) == {"a"}


def test_the_doubt_ends_with_the_row_and_two_more_reads_decide() -> None:
    found = after(read(0, active="abcdefghij"), situation(*known(*TEN)))
    found = after(read(10, active="bcdefghij", nameless=1), found)
    found = after(read(60, active="bcdefghij"), found)
    assert judge(read(60, active="bcdefghij"), found).waiting == names("a")
    assert judge(read(65, active="bcdefghij"), found).delete == names("a")


def test_a_row_that_never_had_a_uid_keeps_nobody_else() -> None:
    found = after(read(0, active="abcdefghij", nameless=1), situation(*known(*TEN)))
    found = after(read(10, active="bcdefghij", nameless=1), found)
    assert judge(read(15, active="bcdefghij", nameless=1), found).delete == names("a")


def test_a_doubted_tenant_keeps_its_mark_and_stays() -> None:
    tenants = (*known("a", delete_after=1), *known(*TEN[1:]))
    verdict = judge(read(60, active="bcdefghij", nameless=1), situation(*tenants))
    assert (verdict.delete, verdict.unmark) == ((), ())


@pytest.mark.parametrize(
    ("rows", "gone"),
    [
        ({"active": "abc"}, set()),
        ({"active": "bc", "rejected": "a"}, set()),
        ({"active": "bc", "inactive": "a"}, {"a-absent"}),
        ({"active": "bc"}, {"a-absent"}),
    ],
    ids=["active", "rejected", "inactive", "vanished"],
)
@pytest.mark.parametrize("others", [known("b", "c"), ()], ids=["among-others", "alone"])
def test_a_template_that_is_not_there_says_nothing_and_only_rows_judge(
    rows: dict[str, str], gone: set[str], others: tuple[Known, ...]
) -> None:
    found = situation(*known("a", template="absent"), *others)
    verdict = judge(read(60, **rows), after(read(0, **rows), found))
    assert touched(verdict) == gone


def test_a_whole_fleet_without_its_templates_is_neither_deleted_nor_held() -> None:
    verdict = judge(read(0, active="abcdefghij"), situation(*known(*TEN, template="absent")))
    assert touched(verdict) == set()
    assert verdict.hold is None


def test_a_mark_goes_when_the_row_is_active_even_without_a_template() -> None:
    found = situation(*known("a", template="absent", delete_after=61), policy=Policy(grace=60))
    assert judge(read(1, active="a"), found).unmark == ("a-absent",)


def test_a_tenant_of_a_template_that_uses_another_registry_goes_within_the_limits() -> None:
    tenants = (*known(*TEN), *known("a", template="old"))
    found = situation(*tenants, elsewhere=frozenset({"old"}))
    first = judge(read(0, active="abcdefghij"), found)
    assert (first.delete, first.waiting, first.look_again_at) == ((), ("a-old",), 5)
    second = judge(read(5, active="abcdefghij"), found._replace(memory=first.memory))
    assert second.delete == ("a-old",)


def test_a_tenant_that_another_registry_has_taken_over_in_between_stays() -> None:
    stray = known("a", template="old")
    found = situation(*known(*TEN), *stray, elsewhere=frozenset({"old"}))
    memory = judge(read(0, active="abcdefghij"), found).memory
    back = situation(*known(*TEN), *stray, memory=memory)
    later = after(read(5, active="abcdefghij"), back)
    assert later.memory.strayed_since == {}
    assert (
        touched(judge(read(10, active="abcdefghij"), later._replace(elsewhere=frozenset({"old"})))) == set()
    )


def test_a_template_that_uses_another_registry_is_held_with_many_tenants() -> None:
    tenants = (*known(*TEN), *known(*TEN, template="old"))
    verdict = judge(read(0, active="abcdefghij"), situation(*tenants, elsewhere=frozenset({"old"})))
    assert touched(verdict) == set()
    assert verdict.hold is not None
    assert verdict.hold.size == 10


def test_a_template_with_many_tenants_waits_for_its_approval() -> None:
    leaving = known(*TEN, template="worker")
    found = situation(*known(*TEN), *leaving)
    hold = judge_departure(leaving, found)
    assert hold is not None
    assert hold.size == 10
    assert judge_departure(leaving, found._replace(approval=hold.approve_with)) is None
    assert judge_departure(leaving[1:], found._replace(approval=hold.approve_with)) is not None


@pytest.mark.parametrize("leaving", [(), known("a"), known("a", "b", "c")])
def test_a_template_with_few_tenants_may_go(leaving: tuple[Known, ...]) -> None:
    assert judge_departure(leaving, situation(*known(*TEN))) is None


def test_a_registry_goes_with_its_only_tenant_and_else_asks() -> None:
    assert judge_departure(known("a"), situation(*known("a"))) is None
    assert judge_departure(known("a", "b"), situation(*known("a", "b"))) is not None


def test_a_policy_is_what_the_registry_says() -> None:
    guard = DeletionGuard(allow_empty=True, max_percent=10, max_count=5, grace_period="2h")
    assert policy_of(guard, 60.0) == Policy(10, 5, 7200.0, 5.0, believes_empty=True)
    assert policy_of(DeletionGuard(), 60.0) == Policy()


def test_the_guard_forgets_without_harm() -> None:
    found = after(read(0, active="bcdefghij"), situation(*known(*TEN)))
    assert judge(read(9, active="bcdefghij"), found._replace(memory=Memory())).waiting == names("a")
