"""Server-sent events of one view: at first all sections, then those that change. The encoding is pure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from steward.page.live.rendered_views import RenderedView
from steward.page.live.workspace import Workspace
from steward.page.models.addresses import ViewAddress

HEARTBEAT_SECONDS: Final = 15.0
PROGRESS_SECONDS: Final = 0.5
HEARTBEAT: Final = b": still here\n\n"
RETRY: Final = b"retry: 2000\n\n"


async def view_events(workspace: Workspace, address: ViewAddress, known: str) -> AsyncGenerator[bytes, None]:
    """Yields events for ever; `known` is the digest of what the reader already has, "" if nothing."""
    yield RETRY
    while not await _is_read(workspace):
        yield named_event("progress", b'{"objects":%d}' % workspace.objects_read)
    async with workspace.follow(address):
        sent: dict[str, bytes] = {}
        while True:
            rendered = await workspace.render(address)
            if rendered.digest != known and rendered.sections != sent:
                yield sections_event(rendered, sent)
            known, sent = "", rendered.sections
            while not await _has_newer(workspace, rendered.version):
                yield HEARTBEAT


async def _is_read(workspace: Workspace) -> bool:
    """False if the first list takes longer than the reader should wait for a sign of life."""
    try:
        async with asyncio.timeout(PROGRESS_SECONDS):
            await workspace.wait_first_snapshot()
    except TimeoutError:
        return False
    return True


async def _has_newer(workspace: Workspace, version: int) -> bool:
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            await workspace.wait_newer(version)
    except TimeoutError:
        return False
    return True


def sections_event(rendered: RenderedView, sent: Mapping[str, bytes]) -> bytes:
    """The sections that differ from those that were sent; a section that is gone is null."""
    changed = {name: body for name, body in rendered.sections.items() if sent.get(name) != body}
    changed |= dict.fromkeys(sent.keys() - rendered.sections.keys(), b"null")
    return named_event("sections", json_object(changed), rendered.digest)


def json_object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(b'"%s":%s' % (name.encode(), body) for name, body in members.items()) + b"}"


def named_event(name: str, data: bytes, identifier: str = "") -> bytes:
    head = f"id: {identifier}\n" if identifier else ""
    return f"{head}event: {name}\ndata: ".encode() + data + b"\n\n"
