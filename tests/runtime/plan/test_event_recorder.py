from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from steward.kube.errors import Forbidden, NotFound, Unreachable
from steward.kube.objects.kinds import DEPLOYMENT, NODE, Key, Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan import event_recorder
from steward.runtime.plan.event_recorder import SERIES_SECONDS, EventRecorder, Note, Reporter, event_manifest
from steward.runtime.plan.steps import EventType
from steward.testkit.clock import FakeClock, let_others_run

REF = Ref(DEPLOYMENT, Key("shop", "web"))
REPORTER = Reporter("tenant-operator", "pod-1")


def note(reason: str, message: str = "", ref: Ref = REF, uid: str = "u1") -> Note:
    return Note(ref, uid, EventType.NORMAL, reason, message)


class Server:
    def __init__(self) -> None:
        self.created: list[Manifest] = []
        self.patched: list[Any] = []
        self.error: Exception | None = None

    async def create(self, manifest: Manifest) -> bytes:
        if self.error:
            raise self.error
        self.created.append(manifest)
        return b""

    async def patch(self, ref: Ref, patch: MergePatch) -> bytes:
        if self.error:
            raise self.error
        self.patched.append(patch.changes["series"]["count"])
        return b""

    @property
    def reasons(self) -> list[str]:
        return [event["reason"] for event in self.created]


class Desk:
    """A recorder, the server behind it and the clock over it."""

    def __init__(self) -> None:
        self.server = Server()
        self.clock = FakeClock()
        self.metrics = Metrics()
        self.recorder = EventRecorder(self.server, REPORTER, self.metrics, self.clock)  # type: ignore[arg-type]

    async def say(self, *notes: Note) -> None:
        for one in notes:
            self.recorder.emit(one)
        await let_others_run()

    def count(self, result: str) -> float:
        return self.metrics.registry.get_sample_value("steward_events_total", {"result": result}) or 0.0


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk()
    desk.recorder.start()
    yield desk
    await desk.recorder.stop(0)


async def test_what_was_said_last_is_not_said_again(desk: Desk) -> None:
    await desk.say(note("Ready"), note("Ready"), note("Ready"))
    assert desk.server.reasons == ["Ready"]
    assert desk.server.patched == []


async def test_every_transition_is_told(desk: Desk) -> None:
    await desk.say(note("Ready"), note("Degraded", "1 of 3"), note("Degraded", "2 of 3"))
    assert desk.server.reasons == ["Ready", "Degraded", "Degraded"]


async def test_what_comes_back_continues_its_series(desk: Desk) -> None:
    await desk.say(note("Ready"), note("Degraded"), note("Ready"))
    assert desk.server.reasons == ["Ready", "Degraded"]
    assert desk.server.patched == [2]


async def test_a_series_is_written_at_most_once_a_minute_and_counts_all_the_same(desk: Desk) -> None:
    for _ in range(10):
        await desk.say(note("Ready"), note("Degraded"))
    assert desk.server.patched == [2, 2]
    desk.clock.advance(SERIES_SECONDS)
    await desk.say(note("Ready"))
    assert desk.server.patched == [2, 2, 11]


async def test_a_series_that_the_server_has_forgotten_begins_anew(desk: Desk) -> None:
    await desk.say(note("Ready"), note("Degraded"))

    async def forgotten(ref: Ref, patch: MergePatch) -> bytes:
        raise NotFound(404, "NotFound", "expired")

    desk.server.patch = forgotten  # type: ignore[method-assign]
    await desk.say(note("Ready"))
    assert desk.server.reasons == ["Ready", "Degraded", "Ready"]


async def test_objects_and_their_namesakes_are_told_apart(desk: Desk) -> None:
    other = Ref(DEPLOYMENT, Key("shop", "api"))
    await desk.say(note("Ready"), note("Ready", ref=other), note("Ready", uid="u2"))
    assert len(desk.server.created) == 3


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (Forbidden(403, "Forbidden", "the namespace is being terminated"), "refused"),
        (NotFound(404, "NotFound", "no namespace shop"), "refused"),
        (Unreachable("no route"), "failed"),
    ],
)
async def test_an_event_that_cannot_be_written_is_counted_and_hurts_nobody(
    desk: Desk, error: Exception, result: str
) -> None:
    desk.server.error = error
    await desk.say(note("Ready"))
    assert desk.count(result) == 1
    desk.server.error = None
    await desk.say(note("Degraded"))
    assert desk.server.reasons == ["Degraded"]


async def test_a_full_queue_drops_and_counts_and_never_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_recorder, "QUEUED", 3)
    desk = Desk()
    await desk.say(*(note(f"R{number}") for number in range(5)))
    assert desk.count("dropped") == 2


async def test_the_end_waits_for_what_is_queued_but_not_for_ever() -> None:
    desk = Desk()
    desk.recorder.start()
    desk.recorder.emit(note("Ready"))
    await desk.recorder.stop(5)
    assert desk.server.reasons == ["Ready"]

    stuck = Desk()

    async def never(manifest: Manifest) -> bytes:
        await asyncio.Event().wait()
        return b""

    stuck.server.create = never  # type: ignore[method-assign]
    stuck.recorder.start()
    stuck.recorder.emit(note("Ready"))
    await stuck.recorder.stop(0.01)


def test_an_event_says_what_who_and_when() -> None:
    told = event_manifest(note("Ready", "3 of 3"), REPORTER, 1_800_000_000.25)
    assert told["eventTime"] == "2027-01-15T08:00:00.250000Z"
    assert (told["reportingController"], told["reportingInstance"]) == REPORTER
    assert told["regarding"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "namespace": "shop",
        "name": "web",
        "uid": "u1",
    }
    assert (told["metadata"]["namespace"], told["note"], told["type"]) == ("shop", "3 of 3", "Normal")


def test_an_event_about_something_without_a_namespace_lives_in_default() -> None:
    told = event_manifest(note("Ready", ref=Ref(NODE, Key("", "node-1"))), REPORTER, 0.0)
    assert told["metadata"]["namespace"] == "default"
    assert "namespace" not in told["regarding"]


def test_a_note_is_cut_to_what_the_server_takes_and_holds_no_secret() -> None:
    told = event_manifest(note("Failed", "password=hunter2 " + "ü" * 2000), REPORTER, 0.0)
    assert len(told["note"].encode()) <= 1024
    assert "hunter2" not in told["note"]
