from steward.kube.objects.conditions import (
    FALSE,
    TRUE,
    Condition,
    condition_manifests,
    find_condition,
    is_true,
    set_condition,
    set_conditions,
    without_condition,
)

EARLIER, NOW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"

READY = Condition("Ready", TRUE, "Fine", "all is well", 1, EARLIER)
DEGRADED = Condition("Degraded", FALSE, "Fine", "", 1, EARLIER)


def test_the_transition_time_is_kept_while_the_status_is_unchanged() -> None:
    changed = Condition("Ready", TRUE, "Better", "all is better", 2)

    (ready,) = set_condition((READY,), changed, NOW)

    assert (ready.reason, ready.message, ready.observed_generation) == ("Better", "all is better", 2)
    assert ready.last_transition_time == EARLIER


def test_the_time_moves_with_the_status() -> None:
    (ready,) = set_condition((READY,), Condition("Ready", FALSE, "Broken"), NOW)

    assert ready.last_transition_time == NOW


def test_a_new_condition_is_appended_and_the_order_is_stable() -> None:
    conditions = set_condition((READY, DEGRADED), Condition("Stalled", TRUE, "Stuck"), NOW)
    conditions = set_condition(conditions, Condition("Ready", FALSE, "Broken"), NOW)

    assert [condition.type for condition in conditions] == ["Ready", "Degraded", "Stalled"]


def test_reporting_the_same_state_twice_changes_nothing() -> None:
    world = [Condition("Ready", FALSE, "Broken", "why", 3), Condition("Stalled", TRUE, "Stuck", "why", 3)]
    once = set_conditions((), world, EARLIER)

    assert set_conditions(once, world, NOW) == once


def test_a_condition_without_a_time_gets_one() -> None:
    (ready,) = set_condition((Condition("Ready", TRUE),), Condition("Ready", TRUE), NOW)

    assert ready.last_transition_time == NOW


def test_conditions_are_found_and_taken_away_by_type() -> None:
    assert find_condition((READY, DEGRADED), "Degraded") is DEGRADED
    assert find_condition((READY,), "Stalled") is None
    assert is_true((READY, DEGRADED), "Ready")
    assert not is_true((READY, DEGRADED), "Degraded")
    assert not is_true((), "Ready")
    assert without_condition((READY, DEGRADED), "Ready") == (DEGRADED,)


def test_conditions_are_written_as_the_api_has_them() -> None:
    assert condition_manifests((READY, Condition("Stalled", TRUE, "Stuck", "why", 0, NOW))) == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Fine",
            "message": "all is well",
            "lastTransitionTime": EARLIER,
            "observedGeneration": 1,
        },
        {"type": "Stalled", "status": "True", "reason": "Stuck", "message": "why", "lastTransitionTime": NOW},
    ]
