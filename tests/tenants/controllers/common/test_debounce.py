"""Reconciles of a key are limited to one in an interval, unless the inputs change."""

from steward.kube.objects.kinds import Key
from steward.tenants.controllers.common.debounce import ReconcileDebounce
from steward.testkit.clock import FakeClock

PROD, TEST = Key("shop", "prod"), Key("shop", "test")


def test_the_second_reconcile_waits_for_the_rest_of_the_interval() -> None:
    clock = FakeClock()
    debounce = ReconcileDebounce(clock, seconds=1.0)
    assert debounce.seconds_to_wait(PROD, 1) == 0.0
    clock.advance(0.25)
    assert debounce.seconds_to_wait(PROD, 1) == 0.75
    assert debounce.seconds_to_wait(TEST, 1) == 0.0
    clock.advance(0.75)
    assert debounce.seconds_to_wait(PROD, 1) == 0.0


def test_changed_inputs_and_a_forgotten_key_do_not_wait() -> None:
    debounce = ReconcileDebounce(FakeClock(), seconds=1.0)
    assert debounce.seconds_to_wait(PROD, 1) == 0.0
    assert debounce.seconds_to_wait(PROD, 2) == 0.0
    assert debounce.seconds_to_wait(PROD, 2) == 1.0
    debounce.forget(PROD)
    assert debounce.seconds_to_wait(PROD, 2) == 0.0
