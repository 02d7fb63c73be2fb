"""Background reads: one at a time for each registry, and a failed one does no harm."""

import asyncio
from typing import Any

import pytest

from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key
from steward.tenants.controllers.registry.table_reads import SyncInputs, TableReads
from steward.tenants.errors import BrokenRead, SourceUnreachable
from steward.tenants.sources.rows import Rows

PROD = Key("shop", "prod")
INPUTS = SyncInputs(0, "u-1", 1, "", ())
ROWS = Rows(0, (), frozenset(), ())


class WokenKeys:
    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.event = asyncio.Event()

    def __call__(self, key: Key) -> None:
        self.keys.append(key)
        self.event.set()


@pytest.mark.parametrize(
    ("changed", "table", "tenants"),
    [
        ({"approval": "2-abc"}, True, True),
        ({"request": "2026-01-01T00:00:00Z"}, True, True),
        ({"templates": ("u-2", 1)}, True, False),
        ({"generation": 2}, False, False),
        ({"uid": "u-9"}, False, False),
        ({"term": "another"}, False, False),
    ],
)
def test_a_change_of_inputs_invalidates_rows_or_tenants(
    changed: dict[str, Any], table: bool, tenants: bool
) -> None:
    now = INPUTS._replace(**changed)
    assert INPUTS.reads_same_table(now) == table
    assert INPUTS.makes_same_tenants(now) == tenants


async def test_a_finished_read_wakes_its_registry_once() -> None:
    woken = WokenKeys()
    reads = TableReads(SystemClock(), woken)

    async def read() -> Rows:
        return ROWS

    reads.start(PROD, INPUTS, read)
    assert reads.is_pending(PROD)
    await woken.event.wait()
    finished = reads.take_finished(PROD)
    assert finished is not None
    assert (finished.rows, finished.error, finished.inputs) == (ROWS, None, INPUTS)
    assert finished.seconds > 0
    assert reads.take_finished(PROD) is None
    assert not reads.is_pending(PROD)
    assert woken.keys == [PROD]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [(SourceUnreachable("no answer"), SourceUnreachable), (RuntimeError("driver"), BrokenRead)],
)
async def test_every_error_of_a_read_is_a_failed_read(raised: Exception, expected: type[Exception]) -> None:
    woken = WokenKeys()
    reads = TableReads(SystemClock(), woken)

    async def read() -> Rows:
        raise raised

    reads.start(PROD, INPUTS, read)
    await woken.event.wait()
    finished = reads.take_finished(PROD)
    assert finished is not None
    assert finished.rows is None
    assert isinstance(finished.error, expected)


async def test_the_read_of_a_deleted_registry_is_cancelled() -> None:
    reads = TableReads(SystemClock(), WokenKeys())
    ended = asyncio.Event()

    async def read() -> Rows:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ROWS

    reads.start(PROD, INPUTS, read)
    await asyncio.sleep(0)
    reads.forget(PROD)
    await ended.wait()
    assert not reads.is_pending(PROD)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (INPUTS._replace(approval="2-abc"), True),
        (INPUTS._replace(templates=(1,)), True),
        (INPUTS._replace(generation=2), False),
        (INPUTS._replace(uid="u-2"), False),
        (INPUTS._replace(term=1), False),
    ],
    ids=["approval", "templates", "spec", "created-again", "another-term"],
)
def test_rows_are_only_used_for_the_spec_that_they_were_read_for(other: SyncInputs, same: bool) -> None:
    assert other.reads_same_table(INPUTS) is same


class RecordingClock(SystemClock):
    """Its sleeps end at once."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_a_registry_is_woken_once_when_its_next_read_is_due() -> None:
    woken, clock = WokenKeys(), RecordingClock()
    reads = TableReads(clock, woken)
    reads.wake_after(PROD, 30.0)
    reads.wake_after(PROD, 60.0)
    await woken.event.wait()
    assert (woken.keys, clock.slept) == ([PROD], [30.0])
    woken.event.clear()
    reads.wake_after(PROD, -5.0)
    await woken.event.wait()
    assert clock.slept == [30.0, 0.0]


async def test_a_forgotten_registry_is_not_woken() -> None:
    woken = WokenKeys()
    reads = TableReads(SystemClock(), woken)
    reads.wake_after(PROD, 3600.0)
    (timer,) = reads._timers.values()
    reads.forget(PROD)
    await asyncio.wait({timer})
    assert timer.cancelled()
    assert woken.keys == []
