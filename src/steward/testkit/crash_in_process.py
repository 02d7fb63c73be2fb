"""Lives of an operator inside the test's own process, each of which ends at a chosen write.

A life is everything that `steward run` starts: connection, caches, queues, controllers. When it ends, all of it is
dropped, and the next one knows only what the server tells it: what a SIGKILL does to a process, without the price of
starting one. The write it dies at is either never sent, or committed with nobody left to hear of it; what was under way
beside it is carried out unheard, and nothing is sent after it.

    while not await live(operators, settings, WriteMoment(1, Moment.AFTER), until=world_is_as_wanted()):
        ...                                             # it died; the next life goes on from there

`crash` kills real processes, and costs seconds for each.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

import msgspec

from steward.kube.client.client import Client
from steward.kube.client.discovery import Discovery
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.errors import KubeError, Unreachable
from steward.kube.transport.request import Effect, Request, Response
from steward.kube.transport.transport import Hooks, Transport, TransportOptions
from steward.runtime.manager.clients import Connection, open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.run import Operator
from steward.runtime.manager.settings import Settings
from steward.testkit.crash_process import Moment, WriteMoment
from steward.testkit.proxy.requests import parse_call

LOOK_SECONDS, MOST_LOOKS = 0.01, 500


class Fate:
    """When a life ends; None lets it live."""

    def __init__(self, at: WriteMoment | None) -> None:
        self._at = at
        self._seen = 0
        self.is_dead = False
        self.under_way: set[asyncio.Future[Response]] = set()
        self.met = asyncio.Event()

    def is_sealed_by(self, request: Request) -> bool:
        at = self._at
        if at is None or self._seen == at.nth:
            return False
        if not at.match.fits(parse_call(request.method, request.path, request.query)):
            return False
        self._seen += 1
        return self._seen == at.nth

    def spare(self) -> None:
        """The write failed, so that nothing was committed: the next one takes its place."""
        self._seen -= 1

    @property
    def is_unsent(self) -> bool:
        return self._at is not None and self._at.moment is Moment.BEFORE

    async def die(self) -> None:
        """Never returns: whoever waits here is cancelled with all the rest."""
        self.is_dead = True
        self.met.set()
        await asyncio.Event().wait()


class MortalTransport:
    """A transport that a life has for as long as it lasts."""

    def __init__(self, inner: Transport, fate: Fate) -> None:
        self._inner = inner
        self._fate = fate

    async def request(self, request: Request) -> Response:
        self._check()
        is_last = self._fate.is_sealed_by(request)
        if is_last and self._fate.is_unsent:
            await self._fate.die()
        try:
            response = await self._sent(request)
        except KubeError:
            if is_last:
                self._fate.spare()
            raise
        if is_last:
            await self._fate.die()
        self._check()
        return response

    async def _sent(self, request: Request) -> Response:
        """What has left is carried out, whether or not somebody lives to hear of it."""
        if request.effect is Effect.READ:
            return await self._inner.request(request)
        sent = asyncio.ensure_future(self._inner.request(request))
        self._fate.under_way.add(sent)
        sent.add_done_callback(self._fate.under_way.discard)
        return await asyncio.shield(sent)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        self._check()
        async with self._inner.stream(request) as lines:
            yield lines

    async def close(self) -> None:
        await self._inner.close()

    def _check(self) -> None:
        if self._fate.is_dead:
            raise Unreachable("this life is over")


async def live(
    operators: Sequence[Operator], settings: Settings, at: WriteMoment | None, until: Awaitable[object]
) -> bool:
    """One life; True when `until` came, False when it ended at that write before."""
    fate = Fate(at)
    manager = Manager(await _connection(operators[0].name, settings, fate), _hasty(settings))
    for operator in operators:
        operator.set_up(manager, settings)
    working = asyncio.ensure_future(manager.run())
    ends = [asyncio.ensure_future(until), asyncio.ensure_future(fate.met.wait())]
    try:
        await asyncio.wait([working, *ends], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
            raise KeyboardInterrupt
        if ends[0].done():
            await ends[0]
        return not fate.is_dead
    finally:
        fate.is_dead = True
        await asyncio.gather(*fate.under_way, return_exceptions=True)
        for task in ends:
            task.cancel()
        manager.stop()
        await asyncio.gather(working, *ends, return_exceptions=True)
        await _sockets_closed()


async def _sockets_closed() -> None:
    """What was cut off in the middle of a handshake closes a little later; a loop that ends before would leak it."""
    transports = getattr(asyncio.get_running_loop(), "_transports", {})
    for _ in range(MOST_LOOKS):
        open_ones = [each for each in list(transports.values()) if each._sock is not None]
        for each in filter(_is_abandoned, open_ones):
            each.abort()
        if not any(each.is_closing() for each in open_ones):
            return
        await asyncio.sleep(LOOK_SECONDS)


def _is_abandoned(transport: asyncio.Transport) -> bool:
    """asyncio forgets a socket whose TLS is called off before its first byte: the handshake goes on for nobody."""
    above = getattr(transport.get_protocol(), "_app_transport", None)
    return above is not None and above.is_closing() and not transport.is_closing()


def _hasty(settings: Settings) -> Settings:
    """Nobody winds up what is killed."""
    return msgspec.structs.replace(settings, shutdown_grace=0.0)


async def _connection(name: str, settings: Settings, fate: Fate) -> Connection:
    who = identity(name, {})
    opened = await open_connection(settings, who, {})
    await opened.client.close()
    found = load_settings(ConfigSource(kubeconfig=settings.kubeconfig, context=settings.context, environ={}))
    options = TransportOptions(user_agent=who.user_agent, hooks=Hooks(before_write=opened.guard.check))
    transport = cast(Transport, MortalTransport(Transport(found, options), fate))
    return replace(opened, client=Client(transport, Discovery(transport, opened.clock)))
