"""Carries one call from the client to the API server and back, and does to it on the way what the rules say.

Watches pass line by line as they come; everything else passes as a whole. Nothing is changed unless a rule hits.
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
from steward.testkit.proxy.rules import Entry, Rules
from steward.testkit.proxy.upstream import Upstream
from steward.testkit.proxy.watch_tampering import Tamper

LARGE_BODY = 1024 * 1024
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length", "host"}
)


class Seen(msgspec.Struct):
    """One call: `code` is what the client was told (0: nothing), `upstream_code` what the API server said."""

    call: Call
    number: int
    at: float
    body: bytes = b""
    code: int = 0
    upstream_code: int = 0
    fault: str = ""


class HungUpError(Exception):
    """The connection to the client was closed on purpose; there is nobody to answer."""


class Forwarder:
    """Forwards calls to one API server under the rules in force."""

    def __init__(self, upstream: Upstream, rules: Rules, clock: Clock) -> None:
        self._url = upstream.url
        self._rules = rules
        self._clock = clock
        self._session = upstream.session()
        self._bare_session = upstream.bare_session()

    async def close(self) -> None:
        await self._session.close()
        await self._bare_session.close()

    async def answer(self, request: web.BaseRequest, seen: Seen) -> web.StreamResponse:
        """The answer that the client gets; a connection that a rule closes gets none."""
        try:
            return await self._answer(request, seen)
        except (HungUpError, aiohttp.ClientError):
            if request.transport is not None:
                request.transport.abort()
            return web.Response()

    async def _answer(self, request: web.BaseRequest, seen: Seen) -> web.StreamResponse:
        fault, entry = self._rules.fault_for(seen.call) or (None, None)
        seen.fault = type(fault).__name__ if fault else ""
        if isinstance(fault, Answer):
            return _scripted(fault, seen)
        await self._before_sending(fault, entry)
        async with self._send_on(request, seen) as reply, _aborted_on_error(reply):
            seen.upstream_code = reply.status
            await _before_replying(reply, fault, entry)
            limit = fault.after if isinstance(fault, Cut) else None
            if reply.status == 200 and (seen.call.verb == "watch" or request.query.get("follow")):
                return await self._stream(_Exchange(request, reply, seen), limit)
            return await _whole(_Exchange(request, reply, seen), limit)

    async def _before_sending(self, fault: RequestFault | None, entry: Entry | None) -> None:
        if isinstance(fault, Drop):
            raise HungUpError
        if isinstance(fault, Delay):
            await self._clock.sleep(fault.seconds)
        if isinstance(fault, Hold) and entry is not None:
            await entry.hold()

    def _send_on(
        self, request: web.BaseRequest, seen: Seen
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = _end_to_end(request.headers)
        if seen.call.verb == "watch":
            headers.popall("Accept-Encoding", None)
        session = self._bare_session if "Authorization" in headers else self._session
        url = URL(self._url + request.raw_path, encoded=True)
        # aiohttp warns about large bodies given as bytes: it writes them in one go.
        body = io.BytesIO(seen.body) if len(seen.body) > LARGE_BODY else seen.body or None
        return session.request(request.method, url, headers=headers, data=body, allow_redirects=False)

    async def _stream(self, exchange: "_Exchange", limit: int | None) -> web.StreamResponse:
        out = await exchange.begin()
        left = limit
        async for piece in self._pieces(exchange.reply, exchange.seen.call):
            if not piece:
                continue
            if left is not None and len(piece) > left:
                await out.write(piece[:left])
                raise HungUpError
            await out.write(piece)
            left = None if left is None else left - len(piece)
        await out.write_eof()
        return out

    def _pieces(self, reply: aiohttp.ClientResponse, call: Call) -> AsyncIterator[bytes]:
        # Protobuf streams are framed by length, not by line: events in them cannot be tampered with.
        if call.verb == "watch" and reply.content_type == "application/json":
            return self._events(reply, call)
        return reply.content.iter_any()

    async def _events(self, reply: aiohttp.ClientResponse, call: Call) -> AsyncIterator[bytes]:
        tamper = Tamper(lambda event: self._rules.faults_for(call, event))
        pending = b""
        async for chunk in reply.content.iter_any():
            lines, pending = _whole_lines(pending + chunk)
            if not self._rules.tampers_with(call) and not tamper.keeps_any:
                yield lines
                continue
            for line in lines.splitlines(keepends=True):
                async for piece in self._tampered(tamper, line):
                    yield piece
        yield b"".join(tamper.rest()) + pending

    async def _tampered(self, tamper: Tamper, line: bytes) -> AsyncIterator[bytes]:
        verdict = tamper.feed(line)
        if verdict.cut:
            raise HungUpError
        holder = self._rules.get(verdict.hold_by) if verdict.hold_by is not None else None
        if holder is not None:
            await holder.hold()
        for piece in verdict.lines:
            yield piece


class _Exchange:
    """A request, its reply from upstream, and the record of both."""

    def __init__(self, request: web.BaseRequest, reply: aiohttp.ClientResponse, seen: Seen) -> None:
        self.request = request
        self.reply = reply
        self.seen = seen

    async def begin(self) -> web.StreamResponse:
        """Send status and headers."""
        out = web.StreamResponse(status=self.reply.status, headers=_end_to_end(self.reply.headers))
        await out.prepare(self.request)
        self.seen.code = self.reply.status
        return out


@asynccontextmanager
async def _aborted_on_error(reply: aiohttp.ClientResponse) -> AsyncIterator[None]:
    """Drop the upstream connection at once: a TLS good-bye would linger behind a client that is long gone."""
    try:
        yield
    except BaseException:
        wire = reply.connection.transport if reply.connection else None
        if isinstance(wire, asyncio.WriteTransport):
            wire.abort()
        raise


async def _before_replying(
    reply: aiohttp.ClientResponse, fault: RequestFault | None, entry: Entry | None
) -> None:
    if isinstance(fault, HoldReply) and entry is not None:
        await reply.read()
        await entry.hold()
    if isinstance(fault, LoseReply):
        await reply.read()
        raise HungUpError


async def _whole(exchange: _Exchange, limit: int | None) -> web.StreamResponse:
    body = await exchange.reply.read()
    if limit is not None and limit < len(body):
        out = await exchange.begin()
        await out.write(body[:limit])
        raise HungUpError
    exchange.seen.code = exchange.reply.status
    headers = _end_to_end(exchange.reply.headers)
    return web.Response(status=exchange.reply.status, headers=headers, body=body)


def _scripted(answer: Answer, seen: Seen) -> web.Response:
    seen.code = answer.code
    headers = {"Content-Type": "application/json"}
    if answer.retry_after is not None:
        headers["Retry-After"] = str(answer.retry_after)
    return web.Response(status=answer.code, headers=headers, body=status_body(answer, seen.call))


def _end_to_end(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _HOP_BY_HOP)


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    end = data.rfind(b"\n") + 1
    return data[:end], data[end:]
