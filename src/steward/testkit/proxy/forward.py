"""Forwards calls to the API server and applies the faults of matching rules.

Watches are forwarded line by line; all other replies are buffered. Without a matching rule nothing is changed.
"""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import msgspec
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from steward.kube.clock import Clock
from steward.testkit.proxy.faults import (
    Answer,
    Cut,
    Delay,
    Drop,
    Hold,
    HoldReply,
    LoseReply,
    RequestFault,
    status_body,
)
from steward.testkit.proxy.requests import Call
from steward.testkit.proxy.rules import ActiveRule, RuleSet
from steward.testkit.proxy.upstream import Upstream
from steward.testkit.proxy.watch_tampering import WatchTamperer

LARGE_BODY = 1024 * 1024
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "host"}
)


class RecordedCall(msgspec.Struct):
    """One call: `code` is the response code that the client got (0: none), `upstream_code` the API server's."""

    call: Call
    number: int
    at: float
    body: bytes = b""
    code: int = 0
    upstream_code: int = 0
    fault: str = ""


class ClientConnectionAborted(Exception):
    """A fault closes the connection to the client."""


class Forwarder:
    """Forwards calls to one API server under the active rules."""

    def __init__(self, upstream: Upstream, rules: RuleSet, clock: Clock) -> None:
        self._url = upstream.url
        self._rules = rules
        self._clock = clock
        self._session = upstream.session()
        self._bare_session = upstream.bare_session()

    async def close(self) -> None:
        await self._session.close()
        await self._bare_session.close()

    async def forward(self, request: web.BaseRequest, recorded: RecordedCall) -> web.StreamResponse:
        """The response for the client; a connection that a rule closes gets none."""
        try:
            return await self._forward(request, recorded)
        except (ClientConnectionAborted, aiohttp.ClientError):
            if request.transport is not None:
                request.transport.abort()
            return web.Response()

    async def _forward(self, request: web.BaseRequest, recorded: RecordedCall) -> web.StreamResponse:
        fault, entry = self._rules.fault_for(recorded.call) or (None, None)
        recorded.fault = type(fault).__name__ if fault else ""
        if isinstance(fault, Answer):
            return _scripted_response(fault, recorded)
        await self._before_sending(fault, entry)
        async with self._send_upstream(request, recorded) as reply, _aborted_on_error(reply):
            recorded.upstream_code = reply.status
            await _before_replying(reply, fault, entry)
            limit = fault.after if isinstance(fault, Cut) else None
            if reply.status == 200 and (recorded.call.verb == "watch" or request.query.get("follow")):
                return await self._stream(_Exchange(request, reply, recorded), limit)
            return await _forward_buffered(_Exchange(request, reply, recorded), limit)

    async def _before_sending(self, fault: RequestFault | None, entry: ActiveRule | None) -> None:
        if isinstance(fault, Drop):
            raise ClientConnectionAborted
        if isinstance(fault, Delay):
            await self._clock.sleep(fault.seconds)
        if isinstance(fault, Hold) and entry is not None:
            await entry.hold()

    def _send_upstream(
        self, request: web.BaseRequest, recorded: RecordedCall
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = _end_to_end(request.headers)
        if recorded.call.verb == "watch":
            headers.popall("Accept-Encoding", None)
        session = self._bare_session if "Authorization" in headers else self._session
        url = URL(self._url + request.raw_path, encoded=True)
        # aiohttp warns about large bodies given as bytes, because it writes them at once.
        body = io.BytesIO(recorded.body) if len(recorded.body) > LARGE_BODY else recorded.body or None
        return session.request(request.method, url, headers=headers, data=body, allow_redirects=False)

    async def _stream(self, exchange: "_Exchange", limit: int | None) -> web.StreamResponse:
        out = await exchange.begin()
        left = limit
        async for piece in self._pieces(exchange.reply, exchange.recorded.call):
            if not piece:
                continue
            if left is not None and len(piece) > left:
                await out.write(piece[:left])
                raise ClientConnectionAborted
            await out.write(piece)
            left = None if left is None else left - len(piece)
        await out.write_eof()
        return out

    def _pieces(self, reply: aiohttp.ClientResponse, call: Call) -> AsyncIterator[bytes]:
        # Protobuf streams are framed by length, not by line: their events cannot be changed.
        if call.verb == "watch" and reply.content_type == "application/json":
            return self._events(reply, call)
        return reply.content.iter_any()

    async def _events(self, reply: aiohttp.ClientResponse, call: Call) -> AsyncIterator[bytes]:
        tamper = WatchTamperer(lambda event: self._rules.faults_for(call, event))
        pending = b""
        async for chunk in reply.content.iter_any():
            lines, pending = _whole_lines(pending + chunk)
            if not self._rules.tampers_with(call) and not tamper.has_delayed:
                yield lines
                continue
            for line in lines.splitlines(keepends=True):
                async for piece in self._tampered(tamper, line):
                    yield piece
        yield b"".join(tamper.flush()) + pending

    async def _tampered(self, tamper: WatchTamperer, line: bytes) -> AsyncIterator[bytes]:
        result = tamper.feed(line)
        if result.cut:
            raise ClientConnectionAborted
        holder = self._rules.get(result.hold_by) if result.hold_by is not None else None
        if holder is not None:
            await holder.hold()
        for piece in result.lines:
            yield piece


class _Exchange:
    """A request, its upstream reply, and the record of both."""

    def __init__(
        self, request: web.BaseRequest, reply: aiohttp.ClientResponse, recorded: RecordedCall
    ) -> None:
        self.request = request
        self.reply = reply
        self.recorded = recorded

    async def begin(self) -> web.StreamResponse:
        """Send status and headers."""
        out = web.StreamResponse(status=self.reply.status, headers=_end_to_end(self.reply.headers))
        await out.prepare(self.request)
        self.recorded.code = self.reply.status
        return out


@asynccontextmanager
async def _aborted_on_error(reply: aiohttp.ClientResponse) -> AsyncIterator[None]:
    """Abort the upstream connection: a TLS shutdown would take time after the client has disconnected."""
    try:
        yield
    except BaseException:
        wire = reply.connection.transport if reply.connection else None
        if isinstance(wire, asyncio.WriteTransport):
            wire.abort()
        raise


async def _before_replying(
    reply: aiohttp.ClientResponse, fault: RequestFault | None, entry: ActiveRule | None
) -> None:
    if isinstance(fault, HoldReply) and entry is not None:
        await reply.read()
        await entry.hold()
    if isinstance(fault, LoseReply):
        await reply.read()
        raise ClientConnectionAborted


async def _forward_buffered(exchange: _Exchange, limit: int | None) -> web.StreamResponse:
    body = await exchange.reply.read()
    if limit is not None and limit < len(body):
        out = await exchange.begin()
        await out.write(body[:limit])
        raise ClientConnectionAborted
    exchange.recorded.code = exchange.reply.status
    headers = _end_to_end(exchange.reply.headers)
    return web.Response(status=exchange.reply.status, headers=headers, body=body)


def _scripted_response(answer: Answer, recorded: RecordedCall) -> web.Response:
    recorded.code = answer.code
    headers = {"Content-Type": "application/json"}
    if answer.retry_after is not None:
        headers["Retry-After"] = str(answer.retry_after)
    return web.Response(status=answer.code, headers=headers, body=status_body(answer, recorded.call))


def _end_to_end(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _HOP_BY_HOP)


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]
