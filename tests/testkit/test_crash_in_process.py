"""A simulated crash at a chosen write: which requests are sent, and that none are sent afterwards."""

import asyncio
from typing import Any, cast

import pytest

from steward.kube.errors import Conflict, KubeError, Unreachable
from steward.kube.transport.request import Effect, Request, Response
from steward.kube.transport.transport import Transport
from steward.testkit import CrashPoint, CrashTiming, Match
from steward.testkit.clock import let_others_run
from steward.testkit.crash_in_process import CrashingTransport, CrashState

PODS = "/api/v1/namespaces/n/pods"


class RecordingTransport:
    """A transport that records requests, and can hold or reject them."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.rejected: set[str] = set()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def request(self, request: Request) -> Response:
        self.reached.append(request.path.rpartition("/")[2])
        await self.may_answer.wait()
        if self.reached[-1] in self.rejected:
            raise Conflict(409, "Conflict", "the object has been modified")
        return Response(200, {}, b"")


@pytest.fixture
def inner() -> RecordingTransport:
    return RecordingTransport()


def crashing_transport(
    inner: RecordingTransport, nth: int, timing: CrashTiming
) -> tuple[CrashingTransport, CrashState]:
    state = CrashState(CrashPoint(nth, timing, Match(write=True)))
    return CrashingTransport(cast(Transport, inner), state), state


def write(name: str) -> Request:
    return Request(method="PATCH", path=f"{PODS}/{name}", effect=Effect.WRITE)


async def write_until_crash(transport: CrashingTransport, state: CrashState, *names: str) -> list[Any]:
    """Write one object after the other until the crash, and return how the writer ended."""

    async def write_all() -> None:
        for name in names:
            await transport.request(write(name))

    writing = asyncio.create_task(write_all())
    async with asyncio.timeout(60):
        await state.crashed.wait()
    writing.cancel()
    return await asyncio.gather(writing, return_exceptions=True)


@pytest.mark.parametrize(
    ("timing", "sent"), [(CrashTiming.BEFORE, ["a"]), (CrashTiming.AFTER, ["a", "b"])], ids=str
)
async def test_the_write_at_the_crash_point_is_not_sent_or_its_response_is_lost(
    inner: RecordingTransport, timing: CrashTiming, sent: list[str]
) -> None:
    transport, state = crashing_transport(inner, 2, timing)
    [ended] = await write_until_crash(transport, state, "a", "b", "c")
    assert isinstance(ended, asyncio.CancelledError)
    assert inner.reached == sent
    with pytest.raises(Unreachable):
        await transport.request(write("later"))
    assert inner.reached == sent


async def test_a_failed_write_is_not_counted(inner: RecordingTransport) -> None:
    inner.rejected = {"a"}
    transport, state = crashing_transport(inner, 1, CrashTiming.AFTER)
    with pytest.raises(KubeError):
        await transport.request(write("a"))
    await write_until_crash(transport, state, "b")
    assert inner.reached == ["a", "b"]


async def test_reads_are_not_counted(inner: RecordingTransport) -> None:
    transport, state = crashing_transport(inner, 1, CrashTiming.BEFORE)
    await transport.request(Request(method="GET", path=f"{PODS}/a"))
    assert not state.has_ended


async def test_a_pending_write_is_committed_after_the_crash(inner: RecordingTransport) -> None:
    transport, state = crashing_transport(inner, 2, CrashTiming.BEFORE)
    inner.may_answer.clear()
    pending = asyncio.create_task(transport.request(write("pending")))
    await let_others_run()
    await write_until_crash(transport, state, "last")
    pending.cancel()
    await asyncio.gather(pending, return_exceptions=True)
    inner.may_answer.set()
    [answer] = await asyncio.gather(*state.pending_writes)
    assert answer.status == 200
    assert inner.reached == ["pending"]
