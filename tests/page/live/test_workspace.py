"""A workspace follows its objects, and streams send what changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from steward.kube.cache.rules import EVERY_NAMESPACE
from steward.kube.objects.kinds import ref_of
from steward.page.live.streams import view_events
from steward.page.live.watch_rules import WATCHED
from steward.page.live.workspace import Workspace
from steward.page.models.addresses import parse_address
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi

EVERYTHING = dict.fromkeys(WATCHED, (EVERY_NAMESPACE,))


@asynccontextmanager
async def running(api: MemoryApi) -> AsyncIterator[Workspace]:
    workspace = Workspace(api.client(), EVERYTHING)
    await workspace.start()
    try:
        yield workspace
    finally:
        await workspace.stop()


class Reader:
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

    async def read_until(self, section: str, condition: Any) -> None:
        while section not in self.sections or not condition(self.sections[section]):
            await self.read()

    async def close(self) -> None:
        await self._events.aclose()


def sample_api() -> MemoryApi:
    api = MemoryApi()
    api.apply(*sample.sample())
    return api


async def test_a_stream_begins_with_all_sections_and_goes_on_with_those_that_change() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = Reader(workspace, "/registry/shop/customers")
        assert {"head", "tenants", "guard"} <= (await reader.read()).keys()
        api.apply(sample.tenant("nova"))
        await reader.read_until("tenants", lambda tenants: tenants["matching"] == 13)
        api.apply(sample.held_registry())
        changed: dict[str, Any] = {}
        while "guard" not in changed:
            changed = await reader.read()
        assert "tenants" not in changed
        await reader.close()


async def test_a_deleted_object_is_gone_from_the_view() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = Reader(workspace, "/cluster/shop/db")
        await reader.read()
        api.delete(ref_of(sample.cluster()))
        await reader.read_until("missing", bool)
        assert reader.sections["head"] is None
        assert "multigrescluster/db" in reader.sections["missing"]
        await reader.close()


async def test_a_reader_who_missed_nothing_gets_only_what_changes() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = Reader(workspace, "/registry/shop/customers?q=acme")
        await reader.read()
        await reader.close()
        again = Reader(workspace, "/registry/shop/customers?q=acme", reader.identifier)
        api.apply(sample.held_registry())
        assert "tenants" not in await again.read()
        await again.close()


async def test_a_reader_who_missed_a_change_gets_everything() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = Reader(workspace, "/registry/shop/customers?q=acme")
        await reader.read()
        await reader.close()
        version = workspace.snapshot.version
        api.apply(sample.held_registry())
        await workspace.wait_newer(version)
        again = Reader(workspace, "/registry/shop/customers?q=acme", reader.identifier)
        assert "tenants" in await again.read()
        await again.close()


async def test_events_of_the_namespace_are_watched_while_a_view_is_open() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = Reader(workspace, "/tenant/shop/acme-web")
        await reader.read_until("drift", bool)
        assert "Event" in {watcher.kind.kind for watcher in api.watchers}
        await reader.close()
        assert "Event" not in {watcher.kind.kind for watcher in api.watchers}


async def test_a_cut_watch_loses_nothing() -> None:
    api = sample_api()
    async with running(api) as workspace:
        reader = Reader(workspace, "/now")
        await reader.read()
        api.cut_watches()
        api.apply(sample.cluster("second"))
        await reader.read_until("counts", lambda counts: counts[0]["ready"] == 2)
        await reader.close()


async def test_readers_of_a_view_share_what_is_rendered() -> None:
    async with running(sample_api()) as workspace:
        await workspace.wait_first_snapshot()
        address = parse_address("/now")
        assert address is not None
        assert await workspace.render(address) is await workspace.render(address)


async def test_secrets_are_never_requested() -> None:
    api = sample_api()
    async with running(api) as workspace:
        for view in ("/now", "/cluster/shop/db", "/registry/shop/customers", "/tenant/shop/acme-web"):
            reader = Reader(workspace, view)
            await reader.read()
            await reader.close()
    assert not [path for _, path in api.requests if "secrets" in path]


async def test_the_actions_are_read_again_only_when_others_are_possible() -> None:
    api = MemoryApi()
    api.apply(*sample.sample())
    async with running(api) as workspace:
        reader = Reader(workspace, "/registry/shop/customers")
        before = (await reader.read())["actions"]
        changed = sample.registry()
        changed["status"]["activeRows"] = 13
        api.apply(changed)
        await reader.read_until("source", lambda source: source["activeRows"] == 13)
        assert reader.sections["actions"] == before
        changed["spec"]["paused"] = True
        api.apply(changed)
        await reader.read_until("head", lambda head: head["paused"])
        assert reader.sections["actions"] != before
        await reader.close()


async def test_a_reader_sees_progress_while_the_first_list_is_read() -> None:
    api = MemoryApi()
    workspace = Workspace(api.client(), EVERYTHING)  # not started: nothing is read
    address = parse_address("/now")
    assert address is not None
    events = view_events(workspace, address, "")
    async with asyncio.timeout(20):
        assert (await anext(events)).startswith(b"retry:")
        assert await anext(events) == b'event: progress\ndata: {"objects":0}\n\n'
    await events.aclose()
