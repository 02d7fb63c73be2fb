from typing import Any

import msgspec
import pytest

from steward.kube.objects.readiness import READY_NOW, Failed, NotReady, Readiness
from steward.kube.objects.timestamps import to_timestamp
from steward.tenants.api.resource import TResource
from steward.tenants.status.progress import (
    ObservedReadiness,
    ResourceState,
    check_dependencies,
    resource_progress,
)
from tests.tenants.support.fleet import config_map, resource

NOW = 1_000_000.0


def typed(**fields: Any) -> TResource:
    return msgspec.convert(resource("it", config_map("it"), **fields), TResource)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ({"a": ResourceState.READY}, None),
        ({"a": ResourceState.WAITING}, ResourceState.BLOCKED),
        ({"a": ResourceState.BLOCKED}, ResourceState.BLOCKED),
        ({"a": ResourceState.FAILED}, ResourceState.SKIPPED),
        ({"a": ResourceState.CONFLICTED}, ResourceState.SKIPPED),
        ({"a": ResourceState.DENIED}, ResourceState.SKIPPED),
        ({"a": ResourceState.SKIPPED}, ResourceState.SKIPPED),
        ({}, None),
    ],
)
def test_the_state_of_a_dependency_decides_about_its_dependent(
    states: dict[str, ResourceState], expected: ResourceState | None
) -> None:
    found = check_dependencies(typed(dependIds=["a"]), states).progress
    assert (None if found is None else found.state) == expected


def test_without_skipping_a_dependent_proceeds_despite_failures_and_waits_for_the_rest() -> None:
    proceeding = typed(dependIds=["a", "b"], skipOnDependencyFailure=False)
    assert check_dependencies(proceeding, {"a": ResourceState.FAILED, "b": ResourceState.READY}) == (
        None,
        ("a",),
    )
    blocked = check_dependencies(proceeding, {"a": ResourceState.FAILED, "b": ResourceState.WAITING}).progress
    assert blocked is not None
    assert blocked.state is ResourceState.BLOCKED


@pytest.mark.parametrize(
    ("readiness", "age", "fields", "state"),
    [
        (READY_NOW, 9999, {}, ResourceState.READY),
        (NotReady("starts"), 10, {}, ResourceState.WAITING),
        (NotReady("starts"), 301, {}, ResourceState.FAILED),
        (NotReady("starts"), 10, {"timeoutSeconds": 5}, ResourceState.FAILED),
        (NotReady("starts"), 9999, {"waitForReady": False}, ResourceState.READY),
        (Failed("broke"), 0, {}, ResourceState.FAILED),
    ],
)
def test_the_state_follows_from_readiness_and_timeout(
    readiness: Readiness, age: float, fields: dict[str, Any], state: ResourceState
) -> None:
    found = resource_progress(typed(**fields), ObservedReadiness(readiness, to_timestamp(NOW - age), NOW))
    assert found.state is state


def test_a_waiting_resource_is_checked_again_when_it_would_time_out() -> None:
    found = resource_progress(typed(), ObservedReadiness(NotReady("starts"), to_timestamp(NOW - 100), NOW))
    assert found.recheck_after == pytest.approx(200.1)


def test_a_timeout_names_the_seconds_and_the_reason() -> None:
    found = resource_progress(
        typed(timeoutSeconds=7), ObservedReadiness(NotReady("0 of 2"), to_timestamp(NOW - 8), NOW)
    )
    assert (found.event_reason, found.message) == ("ReadinessTimeout", "not ready within 7 seconds: 0 of 2")
