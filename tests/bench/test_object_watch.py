"""Waiting for objects that match a predicate, by the events of a watch."""

import asyncio
import json

from bench.measuring.object_watch import (
    ObjectWatch,
    WatchedMeta,
    WatchedObject,
    WatchedSpec,
    WatchedStatus,
    has_ready_pods,
)


class Lines:
    """A bare client whose watch delivers the events that a test adds."""

    def __init__(self):
        self.queue = asyncio.Queue()

    def show(self, type_, name, **data):
        self.queue.put_nowait(
            json.dumps({"type": type_, "object": {"metadata": {"name": name}, "data": data}})
        )

    def lines(self, path):
        return self

    async def __aenter__(self):
        return self._read()

    async def __aexit__(self, *_):
        return None

    async def _read(self):
        while True:
            yield (await self.queue.get()).encode()


async def following(watch, lines):
    return asyncio.create_task(watch.follow(lines, "/x"))


async def test_waits_until_enough_objects_match_at_the_same_time():
    lines, watch = Lines(), ObjectWatch(lambda item: item.data.get("v") == "2")
    task = await following(watch, lines)
    for name in ("a", "b"):
        lines.show("ADDED", name, v="1")
    lines.show("MODIFIED", "a", v="2")
    lines.show("MODIFIED", "a", v="1")
    waiting = asyncio.create_task(watch.until(2))
    lines.show("MODIFIED", "b", v="2")
    await watch.until(1)
    assert not waiting.done()
    lines.show("MODIFIED", "a", v="2")
    await waiting
    task.cancel()


async def test_an_object_that_was_deleted_and_recreated_has_mismatched():
    lines, watch = Lines(), ObjectWatch(lambda item: True)
    task = await following(watch, lines)
    lines.show("ADDED", "a")
    await watch.until(1)
    watch.expect(lambda item: item.metadata.name == "a")
    lines.show("DELETED", "a")
    await watch.until_mismatched({"a"})
    lines.show("ADDED", "a")
    await watch.until(1)
    task.cancel()


def test_a_workload_is_ready_when_its_latest_generation_is():
    spec, status = WatchedSpec(replicas=2), WatchedStatus(observed_generation=1, ready_replicas=2)

    assert has_ready_pods(WatchedObject(WatchedMeta("a", 1), spec, status))
    assert not has_ready_pods(WatchedObject(WatchedMeta("a", 2), spec, status))
    assert not has_ready_pods(WatchedObject(WatchedMeta("a", 1), WatchedSpec(replicas=3), status))


async def test_the_first_match_of_each_object_and_the_last_of_all_are_timed():
    lines, watch = Lines(), ObjectWatch(lambda item: item.data.get("v") == "2")
    task = await following(watch, lines)
    lines.show("ADDED", "a", v="2")
    lines.show("MODIFIED", "a", v="2")
    lines.show("ADDED", "b", v="2")
    await watch.until(2)
    first, second = watch.match_times()
    assert first < second == watch.last_match()
    lines.show("MODIFIED", "a", v="1")
    lines.show("MODIFIED", "a", v="2")
    await watch.until_mismatched({"a"})
    await watch.until(2)
    assert watch.match_times()[0] == first
    assert watch.last_match() > second
    task.cancel()
