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
from steward.runtime.plan.event_recorder import (
    MAX_DELAY_SECONDS,
    SERIES_SECONDS,
    EventRecorder,
    EventTimes,
    ObjectEvent,
    Reporter,
    event_manifest,
)
from steward.runtime.plan.steps import EventType
from steward.testkit.clock import FakeClock, let_others_run

REF = Ref(DEPLOYMENT, Key("shop", "web"))
REPORTER = Reporter("tenant-operator", "pod-1")


def event(reason: str, message: str = "", ref: Ref = REF, uid: str = "u1") -> ObjectEvent:
    return ObjectEvent(ref, uid, EventType.NORMAL, reason, message)


def warning(reason: str) -> ObjectEvent:
    return ObjectEvent(REF, "u1", EventType.WARNING, reason, "")


class FakeServer:
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


class Recording:
    """A recorder with a fake server and a fake clock."""

    def __init__(self) -> None:
        self.server = FakeServer()
        self.clock = FakeClock()
        self.metrics = Metrics()
        self.is_busy = False
        self.recorder = EventRecorder(
            self.server,  # type: ignore[arg-type]
            REPORTER,
            self.metrics,
            self.clock,
            lambda: self.is_busy,
        )

    async def emit(self, *events: ObjectEvent) -> None:
        for one in events:
            self.recorder.emit(one)
        await let_others_run()

    def count(self, result: str) -> float:
        return self.metrics.registry.get_sample_value("steward_events_total", {"result": result}) or 0.0


@pytest.fixture
async def recording() -> AsyncIterator[Recording]:
    recording = Recording()
    recording.recorder.start()
    yield recording
    await recording.recorder.stop(0)


async def test_an_event_equal_to_the_last_one_is_not_emitted_again(recording: Recording) -> None:
    await recording.emit(event("Ready"), event("Ready"), event("Ready"))
    assert recording.server.reasons == ["Ready"]
    assert recording.server.patched == []


async def test_every_transition_is_emitted(recording: Recording) -> None:
    await recording.emit(event("Ready"), event("Degraded", "1 of 3"), event("Degraded", "2 of 3"))
    assert recording.server.reasons == ["Ready", "Degraded", "Degraded"]


async def test_a_repeated_event_continues_its_series(recording: Recording) -> None:
    await recording.emit(event("Ready"), event("Degraded"), event("Ready"))
    assert recording.server.reasons == ["Ready", "Degraded"]
    assert recording.server.patched == [2]


async def test_a_series_is_written_at_most_once_a_minute_and_counts_all_the_same(
    recording: Recording,
) -> None:
    for _ in range(10):
        await recording.emit(event("Ready"), event("Degraded"))
    assert recording.server.patched == [2, 2]
    recording.clock.advance(SERIES_SECONDS)
    await recording.emit(event("Ready"))
    assert recording.server.patched == [2, 2, 11]


async def test_a_series_that_expired_on_the_server_starts_again(recording: Recording) -> None:
    await recording.emit(event("Ready"), event("Degraded"))

    async def expired(ref: Ref, patch: MergePatch) -> bytes:
        raise NotFound(404, "NotFound", "expired")

    recording.server.patch = expired  # type: ignore[method-assign]
    await recording.emit(event("Ready"))
    assert recording.server.reasons == ["Ready", "Degraded", "Ready"]


async def test_objects_of_the_same_name_are_distinguished(recording: Recording) -> None:
    other = Ref(DEPLOYMENT, Key("shop", "api"))
    await recording.emit(event("Ready"), event("Ready", ref=other), event("Ready", uid="u2"))
    assert len(recording.server.created) == 3


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (Forbidden(403, "Forbidden", "the namespace is being terminated"), "refused"),
        (NotFound(404, "NotFound", "no namespace shop"), "refused"),
        (Unreachable("no route"), "failed"),
    ],
)
async def test_an_event_that_cannot_be_written_is_counted_and_raises_nothing(
    recording: Recording, error: Exception, result: str
) -> None:
    recording.server.error = error
    await recording.emit(event("Ready"))
    assert recording.count(result) == 1
    recording.server.error = None
    await recording.emit(event("Degraded"))
    assert recording.server.reasons == ["Degraded"]


async def test_a_full_queue_drops_and_counts_and_never_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_recorder, "QUEUE_CAPACITY", 3)
    recording = Recording()
    await recording.emit(*(event(f"R{number}") for number in range(5)))
    assert recording.count("dropped") == 2


async def test_a_stop_waits_for_queued_events_but_not_forever() -> None:
    recording = Recording()
    recording.recorder.start()
    recording.recorder.emit(event("Ready"))
    await recording.recorder.stop(5)
    assert recording.server.reasons == ["Ready"]

    stuck = Recording()

    async def never(manifest: Manifest) -> bytes:
        await asyncio.Event().wait()
        return b""

    stuck.server.create = never  # type: ignore[method-assign]
    stuck.recorder.start()
    stuck.recorder.emit(event("Ready"))
    await stuck.recorder.stop(0.01)


async def test_events_wait_for_other_writes_and_keep_their_time(recording: Recording) -> None:
    recording.is_busy = True
    await recording.emit(event("Ready"))
    await recording.clock.pass_time(5)
    assert recording.server.reasons == []
    recording.is_busy = False
    await recording.clock.pass_time(1)
    assert recording.server.reasons == ["Ready"]
    assert recording.server.created[0]["eventTime"] == "2027-01-15T08:00:00.000000Z"


async def test_warnings_do_not_wait_for_other_writes(recording: Recording) -> None:
    recording.is_busy = True
    await recording.emit(event("Ready"), warning("Failed"))
    assert recording.server.reasons == ["Failed"]


async def test_an_event_waits_for_other_writes_half_a_minute_at_most(recording: Recording) -> None:
    recording.is_busy = True
    await recording.emit(event("Ready"))
    await recording.clock.pass_time(MAX_DELAY_SECONDS + 1)
    assert recording.server.reasons == ["Ready"]


async def test_a_stop_sends_the_events_that_wait_for_other_writes() -> None:
    recording = Recording()
    recording.is_busy = True
    recording.recorder.start()
    await recording.emit(event("Ready"))
    stopped = asyncio.create_task(recording.recorder.stop(5))
    await recording.clock.pass_time(1)
    await stopped
    assert recording.server.reasons == ["Ready"]


def test_an_event_has_its_reason_reporter_and_time() -> None:
    told = event_manifest(event("Ready", "3 of 3"), REPORTER, EventTimes(1_800_000_000.25, 1_800_000_030.0))
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


def test_an_event_of_a_cluster_scoped_object_is_in_default() -> None:
    told = event_manifest(event("Ready", ref=Ref(NODE, Key("", "node-1"))), REPORTER, EventTimes(0.0, 0.0))
    assert told["metadata"]["namespace"] == "default"
    assert "namespace" not in told["regarding"]


def test_a_note_is_truncated_to_the_limit_of_the_server_and_has_no_secrets() -> None:
    told = event_manifest(event("Failed", "password=hunter2 " + "ü" * 2000), REPORTER, EventTimes(0.0, 0.0))
    assert len(told["note"].encode()) <= 1024
    assert "hunter2" not in told["note"]
