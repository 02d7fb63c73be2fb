"""What conditions, phase and message say, and which changes are told as events."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from steward.kube.objects.conditions import Condition
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api import status as api
from steward.multigres.status.conditions import (
    Health,
    Piece,
    Report,
    Stall,
    Transition,
    assess,
    certificates_piece,
    child_piece,
    common_status,
    is_bad_news,
    is_urgent,
    transitions,
)

META = ObjectMeta(name="mini", generation=2)
READY = Piece("pool a", 1, 1, True)
WAITING = Piece("pool b", 3, 1, True)
BROKEN = Piece("pool c", 1, 0, True, trouble="pod c-0: container postgres is in CrashLoopBackOff")
UNBOUND = Piece("pool d", 1, 0, True, hint="pod d-0 cannot be scheduled: no zone z9")
STALL = Stall(reasons.INVALID_SPEC, "spec.cells: mend it")


def status(health: Health, before: Any = msgspec.UNSET) -> dict[str, Any]:
    return common_status(Report(META, before, "2026-01-01T00:00:00Z"), health)


def told_by(health: Health) -> api.Conditions:
    return msgspec.convert(status(health)["conditions"], list[api.Condition])


@pytest.mark.parametrize(
    ("pieces", "stall", "phase", "message"),
    [
        ([READY], None, "Healthy", "everything is ready"),
        ([], None, "Initializing", "waiting for its parts to appear (since 2026-01-01T00:00:00Z)"),
        ([WAITING], None, "Progressing", "waiting for pool b: 1 of 3 ready (since 2026-01-01T00:00:00Z)"),
        ([BROKEN], None, "Degraded", "pool c: pod c-0: container postgres is in CrashLoopBackOff"),
        ([UNBOUND], None, "Initializing", "waiting for pool d (pod d-0 cannot be scheduled: no zone z9)"),
        ([READY], STALL, "Degraded", "spec.cells: mend it"),
    ],
)
def test_one_sentence_says_how_it_is(
    pieces: list[Piece], stall: Stall | None, phase: str, message: str
) -> None:
    told = status(assess(pieces, stall))
    assert told["phase"] == phase
    assert told["message"].startswith(message)


def test_what_was_never_ready_has_not_been_so_since_it_was_made() -> None:
    made = replace(META, creation_timestamp="2025-12-31T23:59:00Z")
    told = common_status(Report(made, msgspec.UNSET, "2026-01-01T00:00:00Z"), assess([WAITING]))
    assert told["message"].endswith("(since 2025-12-31T23:59:00Z)")


def test_what_is_ready_at_first_sight_is_so_since_then() -> None:
    made = replace(META, creation_timestamp="2025-12-31T23:59:00Z")
    told = common_status(Report(made, msgspec.UNSET, "2026-01-01T00:00:00Z"), assess([READY]))
    assert told["conditions"][0]["type"] == "Ready"
    assert told["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:00:00Z"


def test_what_holds_a_child_up_is_told_by_its_parents() -> None:
    below = told_by(assess([UNBOUND]))
    above = assess([child_piece("shard x", META, below, META.generation)])
    assert above.reason == reasons.HELD_UP
    assert "pod d-0 cannot be scheduled: no zone z9" in above.message


def test_a_child_that_has_not_seen_the_last_change_is_not_ready() -> None:
    piece = child_piece("shard x", META, told_by(assess([READY])), META.generation - 1)
    assert not piece.is_ready


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, assess([WAITING]), []),
        (None, assess([], STALL), [Transition(reasons.INVALID_SPEC, "spec.cells: mend it", True)]),
        (assess([WAITING]), assess([READY]), [Transition(reasons.HEALTHY, "everything is ready", False)]),
        (assess([READY]), assess([READY]), []),
        (assess([], STALL), assess([], STALL), []),
        (
            assess([READY]),
            assess([WAITING]),
            [Transition(reasons.WAITING, "waiting for pool b: 1 of 3 ready", False)],
        ),
        (
            assess([WAITING]),
            assess([BROKEN]),
            [Transition(reasons.TROUBLE, "pool c: pod c-0: container postgres is in CrashLoopBackOff", True)],
        ),
        (assess([BROKEN]), assess([BROKEN]), []),
        (assess([BROKEN]), assess([READY]), [Transition(reasons.HEALTHY, "everything is ready", False)]),
    ],
)
def test_events_tell_the_moment_of_a_change_and_never_the_state(
    before: Health | None, after: Health, told: list[Transition]
) -> None:
    old = msgspec.UNSET if before is None else told_by(before)
    assert transitions(old, status(after)["conditions"]) == told


def test_a_condition_that_another_controller_looks_after_stays() -> None:
    other = Condition("TopologyRegistered", "True", "X", "y", 2, "2026-01-01T00:00:00Z")
    before = msgspec.convert([other.manifest()], list[api.Condition])
    assert other.manifest() in status(assess([READY]), before)["conditions"]


@pytest.mark.parametrize(("status", "told"), [("False", ["no keys"]), ("True", []), ("Unknown", [])])
def test_certificates_that_are_missing_are_trouble_and_do_not_make_unready(
    status: str, told: list[str]
) -> None:
    written = {"type": "BackupCertificatesReady", "status": status, "reason": "X", "message": "no keys"}
    known = {**written, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    pieces = certificates_piece(msgspec.convert([known], list[api.Condition]))
    assert [piece.trouble for piece in pieces] == told
    assert all(piece.is_ready for piece in pieces)


TOPOLOGY = Condition("TopologyRegistered", "True", "Registered", "", 2, "2026-01-01T00:00:00Z")
PODS_ROLL = Condition("RollingUpdate", "True", "Rolling", "1 of 3", 2, "2026-01-01T00:00:00Z")
CERTIFICATES = Condition("BackupCertificatesReady", "False", "Missing", "", 2, "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("before", "after", "urgent"),
    [
        (assess([WAITING]), assess([WAITING]), False),
        (assess([WAITING]), assess([READY]), True),
        (assess([READY]), assess([WAITING]), True),
        (assess([WAITING]), assess([BROKEN]), True),
        (assess([BROKEN]), assess([WAITING]), True),
        (assess([READY], STALL), assess([WAITING]), True),
        (assess([UNBOUND]), assess([WAITING]), False),
    ],
    ids=["the same", "ready", "not ready", "trouble", "its end", "the end of a stall", "progress"],
)
def test_what_a_status_must_tell_at_once(before: Health, after: Health, urgent: bool) -> None:
    assert is_urgent(told_by(before), 2, status(after)) is urgent


@pytest.mark.parametrize(
    ("health", "bad"),
    [
        (assess([WAITING]), False),
        (assess([UNBOUND]), False),
        (assess([READY]), False),
        (assess([BROKEN]), True),
        (assess([READY], STALL), True),
    ],
    ids=["waits", "is held up", "ready", "trouble", "stalled"],
)
def test_a_first_word_that_is_bad_news(health: Health, bad: bool) -> None:
    assert is_bad_news(msgspec.UNSET, status(health)) is bad


def test_what_speaks_of_an_older_generation_is_replaced_at_once() -> None:
    assert is_urgent(told_by(assess([WAITING])), 1, status(assess([WAITING])))


@pytest.mark.parametrize(
    ("old", "new", "urgent"),
    [
        ((), (TOPOLOGY,), False),
        ((TOPOLOGY,), (replace(TOPOLOGY, status="False"),), True),
        ((), (replace(TOPOLOGY, status="False"),), False),
        ((), (CERTIFICATES,), True),
        ((CERTIFICATES,), (replace(CERTIFICATES, status="True"),), False),
        ((PODS_ROLL,), (replace(PODS_ROLL, reason="PrimaryUnknown"),), True),
        ((PODS_ROLL,), (replace(PODS_ROLL, message="2 of 3"),), False),
    ],
    ids=[
        "registered",
        "lost",
        "not yet registered",
        "no certificates",
        "certificates at last",
        "nobody knows the primary",
        "the next pod",
    ],
)
def test_bad_news_of_other_controllers_is_urgent_and_good_news_is_not(
    old: tuple[Condition, ...], new: tuple[Condition, ...], urgent: bool
) -> None:
    waiting = status(assess([WAITING]))
    before = [*waiting["conditions"], *(each.manifest() for each in old)]
    after = {**waiting, "conditions": [*waiting["conditions"], *(each.manifest() for each in new)]}
    assert is_urgent(msgspec.convert(before, list[api.Condition]), 2, after) is urgent
