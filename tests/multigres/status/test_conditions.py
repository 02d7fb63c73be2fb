"""Conditions, phase and message of a status, and which of their changes emit events."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from steward.kube.objects.conditions import Condition
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.status.changes import Transition, has_degraded, is_urgent, transitions
from steward.multigres.status.conditions import (
    ComponentStatus,
    ObjectHealth,
    Serving,
    Stall,
    StatusContext,
    assess_health,
    certificates_component,
    child_component,
    common_status,
)

META = ObjectMeta(name="mini", generation=2)
READY = ComponentStatus("pool a", 1, 1, True)
WAITING = ComponentStatus("pool b", 3, 1, True)
FAILING = ComponentStatus("pool c", 1, 0, True, problem="pod c-0: container postgres is in CrashLoopBackOff")
UNBOUND = ComponentStatus("pool d", 1, 0, True, hint="pod d-0 cannot be scheduled: no zone z9")
UNKNOWN = ComponentStatus(
    "servers", 3, 0, True, serving=Serving.UNKNOWN, unknown="multiadmin does not answer"
)
STOPPED = ComponentStatus("servers", 0, 0, True, serving=Serving.NO, is_stopped=True)
STALL = Stall(reasons.INVALID_SPEC, "spec.cells: correct it")


def status(health: ObjectHealth, previous: Any = msgspec.UNSET) -> dict[str, Any]:
    return common_status(StatusContext(META, previous, "2026-01-01T00:00:00Z"), health)


def conditions_of(health: ObjectHealth) -> api.Conditions:
    return msgspec.convert(status(health)["conditions"], list[api.Condition])


@pytest.mark.parametrize(
    ("components", "stall", "phase", "message"),
    [
        ([READY], None, "Healthy", "everything is ready"),
        ([], None, "Initializing", "waiting for its parts to appear (since 2026-01-01T00:00:00Z)"),
        ([WAITING], None, "Progressing", "waiting for pool b: 1 of 3 ready (since 2026-01-01T00:00:00Z)"),
        ([FAILING], None, "Degraded", "pool c: pod c-0: container postgres is in CrashLoopBackOff"),
        ([UNBOUND], None, "Initializing", "waiting for pool d (pod d-0 cannot be scheduled: no zone z9)"),
        ([READY], STALL, "Degraded", "spec.cells: correct it"),
        (
            [READY, UNKNOWN],
            None,
            "Unknown",
            "servers: multiadmin does not answer (since 2026-01-01T00:00:00Z)",
        ),
        ([UNKNOWN, WAITING], None, "Progressing", "waiting for pool b: 1 of 3 ready"),
        ([UNKNOWN, FAILING], None, "Degraded", "pool c: pod c-0"),
        ([READY, STOPPED], None, "Stopped", "servers: every pool has 0 replicas"),
        ([STOPPED, WAITING], None, "Progressing", "waiting for pool b: 1 of 3 ready"),
    ],
)
def test_phase_and_message_follow_from_the_components(
    components: list[ComponentStatus], stall: Stall | None, phase: str, message: str
) -> None:
    actual = status(assess_health(components, stall))
    assert actual["phase"] == phase
    assert actual["message"].startswith(message)


def test_an_object_that_was_never_ready_is_unready_since_its_creation() -> None:
    created = replace(META, creation_timestamp="2025-12-31T23:59:00Z")
    actual = common_status(
        StatusContext(created, msgspec.UNSET, "2026-01-01T00:00:00Z"), assess_health([WAITING])
    )
    assert actual["message"].endswith("(since 2025-12-31T23:59:00Z)")


def test_an_object_that_is_ready_at_once_is_ready_since_now() -> None:
    created = replace(META, creation_timestamp="2025-12-31T23:59:00Z")
    actual = common_status(
        StatusContext(created, msgspec.UNSET, "2026-01-01T00:00:00Z"), assess_health([READY])
    )
    assert actual["conditions"][0]["type"] == "Ready"
    assert actual["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:00:00Z"


def test_the_hint_of_a_child_is_reported_by_its_parent() -> None:
    child = conditions_of(assess_health([UNBOUND]))
    parent = assess_health([child_component("shard x", META, child, META.generation)])
    assert parent.reason == reasons.HELD_UP
    assert "pod d-0 cannot be scheduled: no zone z9" in parent.message


def test_a_child_that_has_not_observed_its_generation_is_not_ready() -> None:
    component = child_component("shard x", META, conditions_of(assess_health([READY])), META.generation - 1)
    assert not component.is_ready


def statuses_of(health: ObjectHealth) -> dict[str, str]:
    return {condition.type: condition.status for condition in conditions_of(health)}


@pytest.mark.parametrize(
    ("components", "ready", "available", "degraded"),
    [
        ([READY], "True", "True", "False"),
        ([READY, UNKNOWN], "Unknown", "Unknown", "Unknown"),
        ([UNKNOWN, WAITING], "False", "Unknown", "False"),
        ([UNKNOWN, UNBOUND], "False", "False", "False"),
        ([UNKNOWN, FAILING], "False", "False", "True"),
        ([READY, STOPPED], "True", "False", "False"),
    ],
    ids=["ready", "unknown", "waiting", "held up", "failing", "stopped"],
)
def test_conditions_are_unknown_only_if_none_is_false(
    components: list[ComponentStatus], ready: str, available: str, degraded: str
) -> None:
    statuses = statuses_of(assess_health(components))
    assert (statuses["Ready"], statuses["Available"], statuses["Degraded"]) == (ready, available, degraded)
    assert ("Reconciling" in statuses) is (ready == "False")


@pytest.mark.parametrize("components", [[READY], [UNKNOWN], [STOPPED], [FAILING], [WAITING]])
def test_parent_reports_ready_and_available_as_its_only_child(components: list[ComponentStatus]) -> None:
    child = assess_health(components)
    parent = assess_health([child_component("shard x", META, conditions_of(child), META.generation)])
    assert (parent.is_ready, parent.is_available) == (child.is_ready, child.is_available)


def test_parent_names_the_child_whose_state_is_unknown() -> None:
    child = conditions_of(assess_health([UNKNOWN]))
    parent = assess_health([READY, child_component("shard x", META, child, META.generation)])
    assert (parent.phase, parent.message) == ("Unknown", "shard x: servers: multiadmin does not answer")


def test_child_that_serves_while_it_changes_keeps_its_parent_available() -> None:
    child = assess_health([READY, WAITING])
    parent = assess_health([child_component("shard x", META, conditions_of(child), META.generation)])
    assert (parent.is_ready, parent.is_available) == (False, True)


@pytest.mark.parametrize(
    ("previous", "current", "expected"),
    [
        (None, assess_health([WAITING]), []),
        (None, assess_health([], STALL), [Transition(reasons.INVALID_SPEC, "spec.cells: correct it", True)]),
        (
            assess_health([WAITING]),
            assess_health([READY]),
            [Transition(reasons.HEALTHY, "everything is ready", False)],
        ),
        (assess_health([READY]), assess_health([READY]), []),
        (assess_health([], STALL), assess_health([], STALL), []),
        (
            assess_health([READY]),
            assess_health([WAITING]),
            [Transition(reasons.WAITING, "waiting for pool b: 1 of 3 ready", False)],
        ),
        (
            assess_health([WAITING]),
            assess_health([FAILING]),
            [
                Transition(
                    reasons.COMPONENT_IN_TROUBLE,
                    "pool c: pod c-0: container postgres is in CrashLoopBackOff",
                    True,
                )
            ],
        ),
        (assess_health([FAILING]), assess_health([FAILING]), []),
        (
            assess_health([FAILING]),
            assess_health([READY]),
            [Transition(reasons.HEALTHY, "everything is ready", False)],
        ),
    ],
)
def test_events_report_a_change_and_never_a_state(
    previous: ObjectHealth | None, current: ObjectHealth, expected: list[Transition]
) -> None:
    old = msgspec.UNSET if previous is None else conditions_of(previous)
    assert transitions(old, status(current)["conditions"]) == expected


@pytest.mark.parametrize("type_", ["Draining", "ConnectionDraining", "ScaleDownPending"])
def test_the_condition_of_a_change_ends_with_it(type_: str) -> None:
    """Two equal clusters have equal statuses, whatever was removed from one of them before."""
    ended = Condition(type_, "True", "X", "y", 2, "2026-01-01T00:00:00Z")
    before = msgspec.convert([ended.manifest()], list[api.Condition])
    after = status(assess_health([READY]), before)["conditions"]
    assert type_ not in [condition["type"] for condition in after]


def test_a_condition_of_another_controller_stays() -> None:
    other = Condition("TopologyRegistered", "True", "X", "y", 2, "2026-01-01T00:00:00Z")
    before = msgspec.convert([other.manifest()], list[api.Condition])
    assert other.manifest() in status(assess_health([READY]), before)["conditions"]


@pytest.mark.parametrize(("status", "problems"), [("False", ["no keys"]), ("True", []), ("Unknown", [])])
def test_missing_certificates_are_a_problem_and_do_not_make_unready(status: str, problems: list[str]) -> None:
    written = {"type": "BackupCertificatesReady", "status": status, "reason": "X", "message": "no keys"}
    known = {**written, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    components = certificates_component(msgspec.convert([known], list[api.Condition]))
    assert [component.problem for component in components] == problems
    assert all(component.is_ready for component in components)


TOPOLOGY = Condition("TopologyRegistered", "True", "Registered", "", 2, "2026-01-01T00:00:00Z")
ROLLING = Condition("RollingUpdate", "True", "Rolling", "1 of 3", 2, "2026-01-01T00:00:00Z")
CERTIFICATES = Condition("BackupCertificatesReady", "False", "Missing", "", 2, "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("previous", "current", "urgent"),
    [
        (assess_health([WAITING]), assess_health([WAITING]), False),
        (assess_health([WAITING]), assess_health([READY]), True),
        (assess_health([READY]), assess_health([WAITING]), True),
        (assess_health([WAITING]), assess_health([FAILING]), True),
        (assess_health([FAILING]), assess_health([WAITING]), True),
        (assess_health([READY], STALL), assess_health([WAITING]), True),
        (assess_health([UNBOUND]), assess_health([WAITING]), False),
    ],
    ids=["the same", "ready", "not ready", "problem", "problem solved", "stall solved", "progress"],
)
def test_which_status_changes_are_urgent(previous: ObjectHealth, current: ObjectHealth, urgent: bool) -> None:
    assert is_urgent(conditions_of(previous), 2, status(current)) is urgent


@pytest.mark.parametrize(
    ("health", "degraded"),
    [
        (assess_health([WAITING]), False),
        (assess_health([UNBOUND]), False),
        (assess_health([READY]), False),
        (assess_health([FAILING]), True),
        (assess_health([READY], STALL), True),
    ],
    ids=["waiting", "hint", "ready", "problem", "stalled"],
)
def test_which_initial_statuses_are_degraded(health: ObjectHealth, degraded: bool) -> None:
    assert has_degraded(msgspec.UNSET, status(health)) is degraded


def test_a_status_of_an_older_generation_is_urgent() -> None:
    assert is_urgent(conditions_of(assess_health([WAITING])), 1, status(assess_health([WAITING])))


@pytest.mark.parametrize(
    ("old", "new", "urgent"),
    [
        ((), (TOPOLOGY,), False),
        ((TOPOLOGY,), (replace(TOPOLOGY, status="False"),), True),
        ((), (replace(TOPOLOGY, status="False"),), False),
        ((), (CERTIFICATES,), True),
        ((CERTIFICATES,), (replace(CERTIFICATES, status="True"),), False),
        ((ROLLING,), (replace(ROLLING, reason="PrimaryUnknown"),), True),
        ((ROLLING,), (replace(ROLLING, message="2 of 3"),), False),
    ],
    ids=[
        "registered",
        "lost",
        "not yet registered",
        "no certificates",
        "certificates created",
        "unknown primary",
        "the next pod",
    ],
)
def test_a_contributed_condition_is_urgent_if_it_gets_worse(
    old: tuple[Condition, ...], new: tuple[Condition, ...], urgent: bool
) -> None:
    waiting = status(assess_health([WAITING]))
    previous = [*waiting["conditions"], *(each.manifest() for each in old)]
    current = {**waiting, "conditions": [*waiting["conditions"], *(each.manifest() for each in new)]}
    assert is_urgent(msgspec.convert(previous, list[api.Condition]), 2, current) is urgent
