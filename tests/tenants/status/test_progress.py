from typing import Any

import msgspec
import pytest

from steward.kube.objects.readiness import READY_NOW, Failed, NotYet, Readiness
from steward.kube.objects.timestamps import to_timestamp
from steward.tenants.api.resource import TResource
from steward.tenants.status.progress import Look, State, gate, progress_of
from tests.tenants.support.fleet import config_map, resource

NOW = 1_000_000.0


def typed(**fields: Any) -> TResource:
    return msgspec.convert(resource("it", config_map("it"), **fields), TResource)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ({"a": State.READY}, None),
        ({"a": State.WAITING}, State.BLOCKED),
        ({"a": State.BLOCKED}, State.BLOCKED),
        ({"a": State.FAILED}, State.SKIPPED),
        ({"a": State.CONFLICTED}, State.SKIPPED),
        ({"a": State.DENIED}, State.SKIPPED),
        ({"a": State.SKIPPED}, State.SKIPPED),
        ({}, None),
    ],
)
def test_what_a_dependency_means_for_a_dependent(states: dict[str, State], expected: State | None) -> None:
    found = gate(typed(dependIds=["a"]), states).progress
    assert (None if found is None else found.state) == expected


def test_who_does_not_skip_goes_on_in_spite_of_failures_but_still_waits_for_the_rest() -> None:
    stubborn = typed(dependIds=["a", "b"], skipOnDependencyFailure=False)
    assert gate(stubborn, {"a": State.FAILED, "b": State.READY}) == (None, ("a",))
    blocked = gate(stubborn, {"a": State.FAILED, "b": State.WAITING}).progress
    assert blocked is not None
    assert blocked.state is State.BLOCKED


@pytest.mark.parametrize(
    ("readiness", "age", "fields", "state"),
    [
        (READY_NOW, 9999, {}, State.READY),
        (NotYet("starts"), 10, {}, State.WAITING),
        (NotYet("starts"), 301, {}, State.FAILED),
        (NotYet("starts"), 10, {"timeoutSeconds": 5}, State.FAILED),
        (NotYet("starts"), 9999, {"waitForReady": False}, State.READY),
        (Failed("broke"), 0, {}, State.FAILED),
    ],
)
def test_how_far_an_object_is(readiness: Readiness, age: float, fields: dict[str, Any], state: State) -> None:
    found = progress_of(typed(**fields), Look(readiness, to_timestamp(NOW - age), NOW))
    assert found.state is state


def test_a_wait_is_looked_at_again_when_it_would_time_out() -> None:
    found = progress_of(typed(), Look(NotYet("starts"), to_timestamp(NOW - 100), NOW))
    assert found.look_again_after == pytest.approx(200.1)


def test_a_timeout_names_the_seconds_and_the_reason() -> None:
    found = progress_of(typed(timeoutSeconds=7), Look(NotYet("0 of 2"), to_timestamp(NOW - 8), NOW))
    assert (found.event, found.why) == ("ReadinessTimeout", "not ready within 7 seconds: 0 of 2")
