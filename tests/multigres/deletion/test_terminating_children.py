"""A child that is being deleted although it is asked for keeps its owner from being ready, and the owner says why."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import DEPLOYMENT, PERSISTENT_VOLUME_CLAIM, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.cache_rules import CELL, TOPO_SERVER
from steward.multigres.deletion.dependents import DELETION_BLOCKED
from steward.multigres.deletion.terminating_children import going_piece
from steward.multigres.status.conditions import Piece, assess, child_piece

SINCE = "2026-01-01T00:00:00Z"
READY = Piece("cell z1", 1, 1, True)


def going(*finalizers: str) -> ObjectMeta:
    return ObjectMeta(name="x", generation=1, deletion_timestamp=SINCE, finalizers=finalizers)


def ref(kind: Kind) -> Ref:
    return Ref(kind, Key("shop", "x"))


def conditions(type_: str, reason: str, message: str) -> api.Conditions:
    told: dict[str, Any] = {"type": type_, "status": "True", "reason": reason, "message": message}
    return msgspec.convert([{**told, "lastTransitionTime": SINCE}], list[api.Condition])


def test_a_child_that_stays_is_no_piece() -> None:
    assert going_piece(ref(CELL), ObjectMeta(name="x", finalizers=("multigres.com/cleanup",))) is None


def test_a_foreign_finalizer_is_named() -> None:
    piece = going_piece(ref(DEPLOYMENT), going("example.com/hold"))
    assert piece is not None
    health = assess([READY, piece])
    assert (health.phase, health.is_ready, health.is_available) == ("Degraded", False, True)
    assert health.message == (
        f"Deployment x: it is being deleted since {SINCE} although it is asked for, and is made anew once it is gone; "
        "it waits for whoever answers to example.com/hold"
    )


def test_what_a_topology_server_says_of_its_dependents_is_passed_on_with_the_cure() -> None:
    told = conditions(DELETION_BLOCKED, reasons.DEPENDENTS_EXIST, "Cannot delete: 3 components depend on it")
    piece = going_piece(ref(TOPO_SERVER), going("multigres.com/cleanup"), told)
    assert piece is not None
    assert piece.trouble.endswith(
        "Cannot delete: 3 components depend on it; to let it go all the same, "
        "annotate it with multigres.com/deletion-protection=disabled"
    )


def test_what_a_child_waits_for_while_it_drains_is_passed_on() -> None:
    told = conditions("Ready", reasons.DRAINING, "Waiting for connections to close (gateways a)")
    piece = going_piece(ref(CELL), going("multigres.com/cleanup"), told)
    assert piece is not None
    assert piece.trouble.endswith("; Waiting for connections to close (gateways a)")


@pytest.mark.parametrize("finalizer", ["orphan", "foregroundDeletion"])
def test_what_the_garbage_collector_takes_is_waited_for_and_no_trouble(finalizer: str) -> None:
    piece = going_piece(ref(DEPLOYMENT), going(finalizer))
    assert piece is not None
    health = assess([piece])
    assert (health.phase, health.is_ready, health.reason) == ("Progressing", False, reasons.WAITING)
    assert health.message == "waiting for Deployment x to be gone and made anew"


def test_a_volume_that_its_pods_still_use_is_trouble() -> None:
    piece = going_piece(ref(PERSISTENT_VOLUME_CLAIM), going("kubernetes.io/pvc-protection"))
    assert piece is not None
    assert piece.trouble


def test_a_child_that_goes_is_not_counted_as_ready() -> None:
    ready = conditions("Ready", reasons.HEALTHY, "everything is ready")
    assert not child_piece("cell z1", going("multigres.com/cleanup"), ready, 1).is_ready
