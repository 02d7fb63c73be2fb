"""A workspace on an API server in memory, and readers of its streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from steward.kube.cache.rules import EVERY_NAMESPACE
from steward.kube.objects.kinds import Kind
from steward.page.live.streams import view_events
from steward.page.live.watch_rules import WATCHED
from steward.page.live.workspace import Workspace
from steward.page.models.addresses import parse_address
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi

EVERYTHING = dict.fromkeys(WATCHED, (EVERY_NAMESPACE,))


@asynccontextmanager
async def running(api: MemoryApi, without: Kind | None = None) -> AsyncIterator[Workspace]:
    """`without` is a kind that the reader may not see."""
    allowed = {kind: namespaces for kind, namespaces in EVERYTHING.items() if kind != without}
    workspace = Workspace(api.client(), allowed)
    await workspace.start()
    try:
        yield workspace
    finally:
        await workspace.stop()


class StreamReader:
    """Reads the events of one view; keeps the sections and the last id, as a browser does."""

    def __init__(self, workspace: Workspace, view: str, known: str = "") -> None:
        address = parse_address(view)
        assert address is not None
        self._events = view_events(workspace, address, known)
        self.sections: dict[str, Any] = {}
        self.identifier = known

    async def read(self) -> dict[str, Any]:
        """The sections of the next event."""
        async with asyncio.timeout(20):
            async for event in self._events:
                pairs = (line.partition(": ") for line in event.decode().splitlines())
                lines = {name: value for name, _, value in pairs}
                if lines.get("event") == "sections":
                    self.identifier = lines["id"]
                    changed: dict[str, Any] = json.loads(lines["data"])
                    self.sections |= changed
                    return changed
        raise AssertionError("the stream has ended")

    async def read_all(self) -> dict[str, Any]:
        """The sections when everything has been read."""
        await self.read()
        while self.sections.get("reading"):
            await self.read()
        return self.sections

    async def read_until(self, section: str, condition: Any) -> None:
        while section not in self.sections or not condition(self.sections[section]):
            await self.read()

    async def close(self) -> None:
        await self._events.aclose()


def sample_api() -> MemoryApi:
    api = MemoryApi()
    api.apply(*sample.sample())
    return api
