"""A desired child that is being deleted keeps its owner from being ready, and the owner reports why."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import DEPLOYMENT, PERSISTENT_VOLUME_CLAIM, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.cache_rules import CELL, TOPO_SERVER
from steward.multigres.deletion.dependents import DELETION_BLOCKED
from steward.multigres.deletion.terminating_children import terminating_component
from steward.multigres.status.conditions import ComponentStatus, assess_health, child_component

SINCE = "2026-01-01T00:00:00Z"
READY = ComponentStatus("cell z1", 1, 1, True)


def terminating(*finalizers: str) -> ObjectMeta:
    return ObjectMeta(name="x", generation=1, deletion_timestamp=SINCE, finalizers=finalizers)


def ref(kind: Kind) -> Ref:
    return Ref(kind, Key("shop", "x"))


def conditions(type_: str, reason: str, message: str) -> api.Conditions:
    condition: dict[str, Any] = {"type": type_, "status": "True", "reason": reason, "message": message}
    return msgspec.convert([{**condition, "lastTransitionTime": SINCE}], list[api.Condition])


def test_a_child_that_is_not_terminating_is_no_component() -> None:
    assert (
        terminating_component(ref(CELL), ObjectMeta(name="x", finalizers=("multigres.com/cleanup",))) is None
    )


def test_a_foreign_finalizer_is_named() -> None:
    component = terminating_component(ref(DEPLOYMENT), terminating("example.com/hold"))
    assert component is not None
    health = assess_health([READY, component])
    assert (health.phase, health.is_ready, health.is_available) == ("Degraded", False, True)
    assert health.message == (
        f"Deployment x: it is being deleted since {SINCE} although it is desired, and is recreated once it is gone; "
        "it waits for the controllers of its finalizers example.com/hold"
    )


def test_a_blocked_deletion_is_reported_with_the_cure() -> None:
    reported = conditions(
        DELETION_BLOCKED, reasons.DEPENDENTS_EXIST, "Cannot delete: 3 components depend on it"
    )
    component = terminating_component(ref(TOPO_SERVER), terminating("multigres.com/cleanup"), reported)
    assert component is not None
    assert component.problem.endswith(
        "Cannot delete: 3 components depend on it; to delete it all the same, "
        "annotate it with multigres.com/deletion-protection=disabled"
    )


def test_the_message_of_a_draining_child_is_reported() -> None:
    reported = conditions("Ready", reasons.DRAINING, "Waiting for connections to close (gateways a)")
    component = terminating_component(ref(CELL), terminating("multigres.com/cleanup"), reported)
    assert component is not None
    assert component.problem.endswith("; Waiting for connections to close (gateways a)")


@pytest.mark.parametrize("finalizer", ["orphan", "foregroundDeletion"])
def test_a_child_that_only_waits_for_the_garbage_collector_is_no_problem(finalizer: str) -> None:
    component = terminating_component(ref(DEPLOYMENT), terminating(finalizer))
    assert component is not None
    health = assess_health([component])
    assert (health.phase, health.is_ready, health.reason) == ("Progressing", False, reasons.WAITING)
    assert health.message == "waiting for Deployment x to be gone and recreated"


def test_a_terminating_volume_claim_in_use_is_a_problem() -> None:
    component = terminating_component(
        ref(PERSISTENT_VOLUME_CLAIM), terminating("kubernetes.io/pvc-protection")
    )
    assert component is not None
    assert component.problem


def test_a_terminating_child_is_not_ready() -> None:
    ready = conditions("Ready", reasons.HEALTHY, "everything is ready")
    assert not child_component("cell z1", terminating("multigres.com/cleanup"), ready, 1).is_ready
