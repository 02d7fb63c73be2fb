"""Runs operators inside the test's own process and simulates a crash at a chosen write.

Everything that `steward run` starts (connection, caches, queues, controllers) is created for a run and dropped at the
crash point, so the next run knows only what is on the API server: the effect of SIGKILL, without starting a process.
The write at the crash point is either never sent, or committed without its response being read. Other writes that have
been sent are committed too; nothing is sent after them.

    while not await run_until_crash(operators, settings, CrashPoint(1, CrashTiming.AFTER), until=is_done()):
        ...                                             # it crashed; the next run continues from there

`crash_process` kills real processes, which takes seconds for each.
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
from steward.testkit.crash_process import CrashPoint, CrashTiming
from steward.testkit.proxy.requests import parse_call

POLL_SECONDS, MAX_POLLS = 0.01, 500


class CrashState:
    """Counts writes and records whether the crash point has been reached; without one there is no crash."""

    def __init__(self, crash_point: CrashPoint | None) -> None:
        self._crash_point = crash_point
        self._count = 0
        self.has_ended = False
        self.pending_writes: set[asyncio.Future[Response]] = set()
        self.crashed = asyncio.Event()

    def is_reached_by(self, request: Request) -> bool:
        crash_point = self._crash_point
        if crash_point is None or self._count == crash_point.nth:
            return False
        if not crash_point.match.matches(parse_call(request.method, request.path, request.query)):
            return False
        self._count += 1
        return self._count == crash_point.nth

    def uncount_failed_write(self) -> None:
        """The write failed and committed nothing: crash at the next one instead."""
        self._count -= 1

    @property
    def is_before_write(self) -> bool:
        return self._crash_point is not None and self._crash_point.timing is CrashTiming.BEFORE

    async def crash(self) -> None:
        """Record the crash and never return: the caller is cancelled with all other tasks."""
        self.has_ended = True
        self.crashed.set()
        await asyncio.Event().wait()


class CrashingTransport:
    """A transport that crashes at the crash point and sends nothing afterwards."""

    def __init__(self, inner: Transport, state: CrashState) -> None:
        self._inner = inner
        self._state = state

    async def request(self, request: Request) -> Response:
        self._check()
        is_crash_point = self._state.is_reached_by(request)
        if is_crash_point and self._state.is_before_write:
            await self._state.crash()
        try:
            response = await self._send(request)
        except KubeError:
            if is_crash_point:
                self._state.uncount_failed_write()
            raise
        if is_crash_point:
            await self._state.crash()
        self._check()
        return response

    async def _send(self, request: Request) -> Response:
        """Shield writes from cancellation: a request that has been sent is committed even after the crash."""
        if request.effect is Effect.READ:
            return await self._inner.request(request)
        sent = asyncio.ensure_future(self._inner.request(request))
        self._state.pending_writes.add(sent)
        sent.add_done_callback(self._state.pending_writes.discard)
        return await asyncio.shield(sent)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        self._check()
        async with self._inner.stream(request) as lines:
            yield lines

    async def close(self) -> None:
        await self._inner.close()

    def _check(self) -> None:
        if self._state.has_ended:
            raise Unreachable("the simulated process has crashed")


async def run_until_crash(
    operators: Sequence[Operator],
    settings: Settings,
    crash_point: CrashPoint | None,
    until: Awaitable[object],
) -> bool:
    """Run the operators; True if `until` completed, False if they crashed first."""
    state = CrashState(crash_point)
    manager = Manager(await _connection(operators[0].name, settings, state), _without_grace(settings))
    for operator in operators:
        operator.set_up(manager, settings)
    running = asyncio.ensure_future(manager.run())
    ends = [asyncio.ensure_future(until), asyncio.ensure_future(state.crashed.wait())]
    try:
        await asyncio.wait([running, *ends], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
            raise KeyboardInterrupt
        if ends[0].done():
            await ends[0]
        return not state.has_ended
    finally:
        state.has_ended = True
        await asyncio.gather(*state.pending_writes, return_exceptions=True)
        for task in ends:
            task.cancel()
        manager.stop()
        await asyncio.gather(running, *ends, return_exceptions=True)
        await _wait_for_closed_sockets()


async def _wait_for_closed_sockets() -> None:
    """Wait until sockets that were cancelled during a TLS handshake are closed: a loop that ends earlier leaks them."""
    transports = getattr(asyncio.get_running_loop(), "_transports", {})
    for _ in range(MAX_POLLS):
        open_ones = [transport for transport in list(transports.values()) if transport._sock is not None]
        for transport in filter(_is_abandoned, open_ones):
            transport.abort()
        if not any(transport.is_closing() for transport in open_ones):
            return
        await asyncio.sleep(POLL_SECONDS)


def _is_abandoned(transport: asyncio.Transport) -> bool:
    """Whether asyncio leaked the socket: it does if TLS is cancelled before the first byte."""
    above = getattr(transport.get_protocol(), "_app_transport", None)
    return above is not None and above.is_closing() and not transport.is_closing()


def _without_grace(settings: Settings) -> Settings:
    """Without a shutdown grace period: a killed process has none."""
    return msgspec.structs.replace(settings, shutdown_grace=0.0)


async def _connection(name: str, settings: Settings, state: CrashState) -> Connection:
    who = identity(name, {})
    opened = await open_connection(settings, who, {})
    await opened.client.close()
    found = load_settings(ConfigSource(kubeconfig=settings.kubeconfig, context=settings.context, environ={}))
    options = TransportOptions(user_agent=who.user_agent, hooks=Hooks(before_write=opened.write_fence.check))
    transport = cast(Transport, CrashingTransport(Transport(found, options), state))
    return replace(opened, client=Client(transport, Discovery(transport, opened.clock)))
