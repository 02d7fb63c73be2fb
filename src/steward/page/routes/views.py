"""Views as a stream or once, search, and what is read on demand: live objects beside rendered ones, kept objects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Final

from aiohttp import web

from steward.page.access.sessions import MOST_STREAMS, Session
from steward.page.live.comparison import compare_object
from steward.page.live.kept_objects import read_kept_objects
from steward.page.live.streams import json_object, named_event, view_events
from steward.page.models.addresses import ViewAddress, parse_address
from steward.page.models.search import search
from steward.page.routes.context import PageContext
from steward.page.routes.responses import Refused, json_response, with_headers
from steward.serving.connections import Connection

STALLED_SECONDS: Final = 60.0
"""A reader that takes nothing for this long is disconnected."""


def requested_view(request: web.BaseRequest) -> ViewAddress:
    address = parse_address(request.query.get("view", ""))
    if address is None:
        raise Refused(404, "there is no such view")
    return address


async def view_once(request: web.BaseRequest, session: Session, context: PageContext) -> web.Response:
    address = requested_view(request)
    async with context.pool.use(session.workspace_key, session.client) as (workspace, _):
        await workspace.wait_complete()
        async with workspace.follow(address):
            rendered = await workspace.render(address)
    return web.Response(body=json_object(rendered.sections), content_type="application/json", charset="utf-8")


async def find_objects(request: web.BaseRequest, session: Session, context: PageContext) -> web.Response:
    async with context.pool.use(session.workspace_key, session.client) as (workspace, _):
        await workspace.wait_first_snapshot()
        return json_response(search(workspace.snapshot, request.query.get("q", "")[:200]))


async def compare(request: web.BaseRequest, session: Session) -> web.Response:
    address = requested_view(request)
    compared = await compare_object(session.client, address.key, request.query.get("id", ""))
    if compared is None:
        raise Refused(404, "the Tenant has no such object")
    return json_response(compared)


async def kept_objects(request: web.BaseRequest, session: Session) -> web.Response:
    namespace = requested_view(request).key.namespace
    if not namespace:
        raise Refused(404, "this view has no kept objects")
    return json_response(await read_kept_objects(session.client, namespace))


async def stream_view(
    request: web.BaseRequest, connection: Connection, session: Session, context: PageContext
) -> web.StreamResponse:
    if session.streams >= MOST_STREAMS:
        raise Refused(429, f"this session has {MOST_STREAMS} open views: close a tab")
    address = requested_view(request)
    known = request.headers.get("Last-Event-ID") or request.query.get("known", "")
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    )
    with_headers(response, is_secure=context.options.is_secure)
    await response.prepare(request)
    connection.process()
    session.streams += 1
    try:
        async with (
            context.pool.use(session.workspace_key, session.client) as (workspace, closed),
            _until(session.ended, closed),
            aclosing(view_events(workspace, address, known)) as events,
        ):
            async for event in events:
                connection.deadline = asyncio.get_running_loop().time() + STALLED_SECONDS
                await response.write(event)
        if session.ended.is_set():
            await response.write(named_event("ended", b"{}"))
    finally:
        session.streams -= 1
    with suppress(ConnectionError):
        await response.write_eof()
    return response


@asynccontextmanager
async def _until(*ends: asyncio.Event) -> AsyncIterator[None]:
    """Ends what is inside when one of the events is set."""
    try:
        async with asyncio.timeout(None) as limit:
            watchers = [asyncio.create_task(_expire(limit, end)) for end in ends]
            try:
                yield
            finally:
                for watcher in watchers:
                    watcher.cancel()
                await asyncio.gather(*watchers, return_exceptions=True)
    except TimeoutError:
        return


async def _expire(limit: asyncio.Timeout, end: asyncio.Event) -> None:
    await end.wait()
    limit.reschedule(asyncio.get_running_loop().time())
