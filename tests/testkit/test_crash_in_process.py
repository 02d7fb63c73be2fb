"""A life that ends at a chosen write: what was sent, who heard of it, and that nothing comes after."""

import asyncio
from typing import Any, cast

import pytest

from steward.kube.errors import Conflict, KubeError, Unreachable
from steward.kube.transport.request import Effect, Request, Response
from steward.kube.transport.transport import Transport
from steward.testkit import Match, Moment, WriteMoment
from steward.testkit.clock import let_others_run
from steward.testkit.crash_in_process import Fate, MortalTransport

PODS = "/api/v1/namespaces/n/pods"


class Inner:
    """A server that remembers what reached it, answers when it is let, and refuses what it is told to."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.refused: set[str] = set()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def request(self, request: Request) -> Response:
        self.reached.append(request.path.rpartition("/")[2])
        await self.may_answer.wait()
        if self.reached[-1] in self.refused:
            raise Conflict(409, "Conflict", "somebody was faster")
        return Response(200, {}, b"")


@pytest.fixture
def inner() -> Inner:
    return Inner()


def life(inner: Inner, nth: int, moment: Moment) -> tuple[MortalTransport, Fate]:
    fate = Fate(WriteMoment(nth, moment, Match(write=True)))
    return MortalTransport(cast(Transport, inner), fate), fate


def write(name: str) -> Request:
    return Request(method="PATCH", path=f"{PODS}/{name}", effect=Effect.WRITE)


async def until_dead(transport: MortalTransport, fate: Fate, *names: str) -> list[Any]:
    """Writes one after the other; what each came to, None for those that never came back."""

    async def all_of_them() -> None:
        for name in names:
            await transport.request(write(name))

    working = asyncio.create_task(all_of_them())
    async with asyncio.timeout(60):
        await fate.met.wait()
    working.cancel()
    return await asyncio.gather(working, return_exceptions=True)


@pytest.mark.parametrize(("moment", "sent"), [(Moment.BEFORE, ["a"]), (Moment.AFTER, ["a", "b"])], ids=str)
async def test_the_last_write_is_never_sent_or_never_heard_of(
    inner: Inner, moment: Moment, sent: list[str]
) -> None:
    transport, fate = life(inner, 2, moment)
    [ended] = await until_dead(transport, fate, "a", "b", "c")
    assert isinstance(ended, asyncio.CancelledError)
    assert inner.reached == sent
    with pytest.raises(Unreachable):
        await transport.request(write("later"))
    assert inner.reached == sent


async def test_a_write_that_failed_is_not_the_last_one(inner: Inner) -> None:
    inner.refused = {"a"}
    transport, fate = life(inner, 1, Moment.AFTER)
    with pytest.raises(KubeError):
        await transport.request(write("a"))
    await until_dead(transport, fate, "b")
    assert inner.reached == ["a", "b"]


async def test_reads_do_not_count(inner: Inner) -> None:
    transport, fate = life(inner, 1, Moment.BEFORE)
    await transport.request(Request(method="GET", path=f"{PODS}/a"))
    assert not fate.is_dead


async def test_what_is_under_way_is_carried_out_and_nobody_hears_of_it(inner: Inner) -> None:
    transport, fate = life(inner, 2, Moment.BEFORE)
    inner.may_answer.clear()
    beside = asyncio.create_task(transport.request(write("beside")))
    await let_others_run()
    await until_dead(transport, fate, "last")
    beside.cancel()
    await asyncio.gather(beside, return_exceptions=True)
    inner.may_answer.set()
    [answer] = await asyncio.gather(*fate.under_way)
    assert answer.status == 200
    assert inner.reached == ["beside"]
