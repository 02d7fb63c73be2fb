"""Fields that another manager changes again and again are left to it."""

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.tenants.controllers.tenant.field_contests import RETRY_AFTER_SECONDS, WHOLE_OBJECT, FieldContests
from steward.tenants.objects.ownership import TakenField, contested_fields_message

REF = Ref(CONFIG_MAP, Key("saas", "config"))
TAKER = [("kubectl", ".spec.replicas")]


def test_three_times_in_a_minute_is_a_contest() -> None:
    contests = FieldContests()
    assert [bool(contests.record(REF, TAKER, now)) for now in (0.0, 20.0, 40.0, 45.0)] == [
        False,
        False,
        True,
        True,
    ]
    message = contested_fields_message(REF, contests.record(REF, TAKER, 50.0))
    assert "kubectl takes .spec.replicas again and again" in message
    assert "Force" not in message


def test_a_field_that_was_taken_three_times_in_a_minute_is_contested_for_a_while() -> None:
    contests = FieldContests()
    taken = TakenField(REF, "Tenant saas/other", WHOLE_OBJECT)
    found = []
    for now in (0.0, 1.0, 2.0):
        found.append(contests.is_contested(taken, now))
        contests.record(REF, [(taken.manager, taken.field)], now)
    assert found == [False, False, False]
    assert contests.is_contested(taken, 3.0)
    assert not contests.is_contested(taken, RETRY_AFTER_SECONDS + 3.0)


def test_slow_edits_different_fields_and_other_objects_are_no_contest() -> None:
    contests = FieldContests()
    assert not any(contests.record(REF, TAKER, now) for now in (0.0, 40.0, 80.0, 120.0))
    assert not any(contests.record(REF, [("kubectl", f".f{number}")], 120.0) for number in range(5))
    other = Ref(CONFIG_MAP, Key("saas", "other"))
    assert not contests.record(other, TAKER, 121.0)


def test_a_contest_ends_after_a_while() -> None:
    contests = FieldContests()
    for now in (0.0, 1.0, 2.0):
        contests.record(REF, TAKER, now)
    assert contests.record(REF, TAKER, RETRY_AFTER_SECONDS)
    assert not contests.record(REF, TAKER, RETRY_AFTER_SECONDS + 3.0)
