"""A controller that heeds others alone: nothing that a stranger did is lost on it, in whatever order it is told."""

import random
from typing import Any

import msgspec
import pytest

from steward.kube.kinds import Key
from steward.kube.meta import ObjectMeta
from steward.kube.store import Store
from steward.runtime.logs import Writer
from steward.runtime.queue import Lane
from steward.runtime.triggers import Heeds, Listener, Owns
from tests.runtime.views import PARTS, THING, Part, key, owned_by

PART, OWNER = key("part"), key("thing")
ME = Writer("things", OWNER)


class World:
    """One part in a cluster, our store of it, and a controller of its owner."""

    def __init__(self, heeds: Heeds = Heeds.OTHERS) -> None:
        self.store: Store[Part] = Store(PARTS)
        self.store.finish_list(0, set(), "1")
        self.looks: list[int] = []
        """The newest version that the store was told of, at each look."""
        self.newest = 0
        self.held_at_last_look = 0
        self.is_listing = False
        Listener(Owns(PARTS, heeds=heeds), THING, self._wake, lambda: None).listen_to(self.store, "things")
        self.version = 100
        self.uid = 1
        self.history: list[tuple[str, dict[str, Any]]] = []
        """Of the cluster: what happened, and the object then."""
        self.shown = 0
        """How much of the history the watch has told."""

    def _wake(self, key: Key, lane: Lane, gather: float) -> None:
        assert key == OWNER
        self.looks.append(self.newest)
        self.held_at_last_look = self.held

    @property
    def held(self) -> int:
        part = self.store.get(PART)
        return 0 if part is None else int(part.metadata.resource_version)

    @property
    def last_of_strangers(self) -> int:
        theirs = [seen for what, seen in self.history if what == "DELETED" or not _is_ours(seen)]
        return int(theirs[-1]["metadata"]["resourceVersion"]) if theirs else 0

    @property
    def exists(self) -> bool:
        return bool(self.history) and self.history[-1][0] != "DELETED"

    def commit(self, by: str) -> bytes:
        self.version += 1
        what = "MODIFIED" if self.exists else "ADDED"
        if what == "ADDED":
            self.uid += 1
        self.history.append((what, self._body(by)))
        return msgspec.json.encode(self.history[-1][1])

    def delete(self) -> None:
        self.version += 1
        self.history.append(("DELETED", self._body("nobody")))

    def _body(self, by: str) -> dict[str, Any]:
        content = {"annotations": {"by": f"{by} {self.version}"}, **owned_by("thing")}
        identity = {"name": "part", "namespace": PART.namespace, "uid": f"u{self.uid}"}
        return {"metadata": {**identity, "resourceVersion": str(self.version), **content}}

    def show(self) -> None:
        """The watch tells the next thing that happened."""
        what, seen = self.history[self.shown]
        self.shown += 1
        self.newest = max(self.newest, int(seen["metadata"]["resourceVersion"]))
        if what == "DELETED":
            self.store.remove(0, msgspec.convert(seen["metadata"], ObjectMeta))
        else:
            self.store.put(0, msgspec.json.encode(seen))

    def answer(self, body: bytes) -> None:
        """One of our writes is answered."""
        version = msgspec.json.decode(body)["metadata"]["resourceVersion"]
        self.newest = max(self.newest, int(version))
        self.store.observe(body)

    def show_all(self) -> None:
        while self.shown < len(self.history):
            self.show()

    def begin_list(self) -> None:
        """The watch broke: what happened meanwhile will be seen by its result alone."""
        self.is_listing = True
        self.store.begin_list(0)

    def finish_list(self) -> None:
        self.is_listing = False
        self.shown = len(self.history)
        self.newest = self.version
        if self.exists:
            self.store.put(0, msgspec.json.encode(self.history[-1][1]))
        self.store.finish_list(0, {PART} if self.exists else set(), str(self.version))


def _is_ours(seen: dict[str, Any]) -> bool:
    by: str = seen["metadata"]["annotations"]["by"]
    return by.startswith("us ")


def write(world: World) -> None:
    world.store.begin_write(PART, ME)
    world.answer(world.commit("us"))
    world.store.end_write(PART)


@pytest.mark.parametrize(("heeds", "looks"), [(Heeds.OTHERS, 0), (Heeds.EVERYBODY, 1)])
def test_an_own_write_is_no_news_to_who_heeds_others_alone(heeds: Heeds, looks: int) -> None:
    world = World(heeds)
    write(world)
    world.show_all()
    assert len(world.looks) == looks


def test_an_own_write_that_the_watch_shows_first_is_no_news_either() -> None:
    world = World()
    world.store.begin_write(PART, ME)
    body = world.commit("us")
    world.show_all()
    world.answer(body)
    world.store.end_write(PART)
    assert world.looks == []


@pytest.mark.parametrize(
    "writer",
    [Writer("others", OWNER), Writer("things", key("else")), None],
    ids=["controller", "key", "nobody"],
)
def test_the_write_of_another_controller_or_key_is_news(writer: Writer | None) -> None:
    world = World()
    world.store.begin_write(PART, writer)
    world.answer(world.commit("them"))
    world.store.end_write(PART)
    assert world.looks == [world.version]


def test_an_edit_that_our_answer_holds_already_is_looked_at_once_the_watch_shows_it() -> None:
    world = World()
    world.commit("a stranger")
    write(world)
    assert world.looks == []
    world.show_all()
    assert world.looks == [world.version]


def test_an_edit_between_answer_and_echo_is_looked_at() -> None:
    world = World()
    write(world)
    world.commit("a stranger")
    world.show_all()
    assert world.looks[-1] == world.version


def test_an_object_that_was_deleted_and_made_again_by_our_write_is_looked_at() -> None:
    world = World()
    world.commit("a stranger")
    world.show_all()
    world.looks.clear()
    world.delete()
    write(world)
    world.show_all()
    assert set(world.looks) == {world.version}


def test_a_deletion_is_always_looked_at() -> None:
    world = World()
    write(world)
    world.delete()
    world.show_all()
    assert world.looks == [world.version]


def test_an_edit_that_our_answer_holds_and_a_list_passes_over_is_looked_at() -> None:
    world = World()
    world.commit("a stranger")
    write(world)
    world.begin_list()
    world.finish_list()
    assert world.looks == [world.version]


def test_who_heeds_everybody_is_not_told_twice() -> None:
    world = World(Heeds.EVERYBODY)
    world.commit("a stranger")
    write(world)
    world.show_all()
    assert world.looks == [world.version]


class Chance:
    """Strangers, our writes, the watch and its failures, in any order that can happen."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.world = World()
        self.answers: list[bytes] = []
        self.writing = False

    def play(self) -> None:
        for _ in range(self.dice.randint(4, 12)):
            self.dice.choice(self.moves())()
        if self.writing:
            self.end()
        if self.world.is_listing:
            self.world.finish_list()
        self.world.show_all()

    def moves(self) -> list[Any]:
        world = self.world
        moves = [
            self.stranger,
            self.vanish,
            *([self.commit, self.answer, self.end] if self.writing else [self.begin]),
        ]
        if world.is_listing:
            return [*moves, world.finish_list]
        if world.shown < len(world.history):
            moves += [world.show] * 3
        return [*moves, world.begin_list] if self.dice.random() < 0.3 else moves

    def stranger(self) -> None:
        self.world.commit("a stranger")

    def vanish(self) -> None:
        if self.world.exists and self.dice.random() < 0.3:
            self.world.delete()

    def begin(self) -> None:
        self.writing = True
        self.world.store.begin_write(PART, ME)

    def commit(self) -> None:
        self.answers.append(self.world.commit("us"))

    def answer(self) -> None:
        if self.answers:
            self.world.answer(self.answers.pop(0))

    def end(self) -> None:
        """Answers that have not come by now are lost."""
        self.answers.clear()
        self.writing = False
        self.world.store.end_write(PART)


@pytest.mark.parametrize("block", range(10))
def test_whatever_the_order_everything_of_a_stranger_is_looked_at_in_the_end(block: int) -> None:
    for seed in range(block * 300, (block + 1) * 300):
        chance = Chance(seed)
        chance.play()
        world = chance.world
        assert world.held == (world.version if world.exists else 0), f"seed {seed}: not what the cluster has"
        # What came and went between two lists has left no trace that anybody could look at.
        if world.exists or world.held_at_last_look:
            saw, last = max(world.looks, default=0), world.last_of_strangers
            assert saw >= last, f"seed {seed}: the last edit of a stranger was never looked at"
