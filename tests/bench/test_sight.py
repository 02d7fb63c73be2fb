"""How many objects are as they should be, by the events of a watch."""

import asyncio
import json

from bench.measuring.sight import Seen, SeenMeta, SeenSpec, SeenStatus, Sight, has_ready_pods


class Lines:
    """A bare client whose watch shows what it is given."""

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


async def following(sight, lines):
    return asyncio.create_task(sight.follow(lines, "/x"))


async def test_waits_until_so_many_are_right_at_the_same_time():
    lines, sight = Lines(), Sight(lambda seen: seen.data.get("v") == "2")
    task = await following(sight, lines)
    for name in ("a", "b"):
        lines.show("ADDED", name, v="1")
    lines.show("MODIFIED", "a", v="2")
    lines.show("MODIFIED", "a", v="1")
    waiting = asyncio.create_task(sight.until(2))
    lines.show("MODIFIED", "b", v="2")
    await sight.until(1)
    assert not waiting.done()
    lines.show("MODIFIED", "a", v="2")
    await waiting
    task.cancel()


async def test_what_is_deleted_and_comes_back_was_wrong_once():
    lines, sight = Lines(), Sight(lambda seen: True)
    task = await following(sight, lines)
    lines.show("ADDED", "a")
    await sight.until(1)
    sight.expect(lambda seen: seen.metadata.name == "a")
    lines.show("DELETED", "a")
    await sight.until_wrong_once({"a"})
    lines.show("ADDED", "a")
    await sight.until(1)
    task.cancel()


def test_a_workload_is_ready_when_its_last_generation_is():
    spec, status = SeenSpec(replicas=2), SeenStatus(observed_generation=1, ready_replicas=2)

    assert has_ready_pods(Seen(SeenMeta("a", 1), spec, status))
    assert not has_ready_pods(Seen(SeenMeta("a", 2), spec, status))
    assert not has_ready_pods(Seen(SeenMeta("a", 1), SeenSpec(replicas=3), status))
