"""One list a kind and namespace tells who else has objects there; what cannot be listed is asked for by name."""

import asyncio
from typing import Any, cast

import pytest

from steward.kube.client.client import Client, ListQuery
from steward.kube.client.decode import Page
from steward.kube.objects.kinds import DEPLOYMENT, SERVICE, Key, Kind, Ref
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.multigres.controllers.common.foreign_objects import FRESH_SECONDS, OF_OTHERS, Neighbours, Place
from steward.testkit import FakeClock

SERVICES = Place(SERVICE, "shop")


class Lists:
    """As much of a client as is needed here."""

    def __init__(self) -> None:
        self.asked: list[tuple[Kind, ListQuery]] = []
        self.names: list[str] = []
        self.more = ""

    def metadata_only(self) -> Any:
        return self

    async def first_page(self, kind: Kind, query: ListQuery, view: type[Metadata]) -> Page[Metadata]:
        self.asked.append((kind, query))
        await asyncio.sleep(0)
        return Page([Metadata(metadata=ObjectMeta(name=name)) for name in self.names], "1", self.more)


class Scene:
    def __init__(self) -> None:
        self.lists, self.clock = Lists(), FakeClock()
        self.neighbours = Neighbours(cast(Client, self.lists), self.clock)


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_what_is_not_ours_is_listed(scene: Scene) -> None:
    scene.lists.names = ["theirs"]
    assert await scene.neighbours.taken(SERVICES) == frozenset({"theirs"})
    [(kind, query)] = scene.lists.asked
    assert (kind, query.namespace, query.label_selector) == (SERVICE, "shop", OF_OTHERS)


async def test_a_hundred_who_ask_at_once_cost_one_list(scene: Scene) -> None:
    await asyncio.gather(*(scene.neighbours.taken(SERVICES) for _ in range(100)))
    assert len(scene.lists.asked) == 1


async def test_each_kind_and_namespace_is_asked_for_by_itself(scene: Scene) -> None:
    for place in (SERVICES, Place(DEPLOYMENT, "shop"), Place(SERVICE, "other")):
        await scene.neighbours.taken(place)
    assert len(scene.lists.asked) == 3


async def test_what_was_seen_a_while_ago_is_looked_at_again(scene: Scene) -> None:
    await scene.neighbours.taken(SERVICES)
    scene.lists.names = ["new"]
    assert await scene.neighbours.taken(SERVICES) == frozenset()
    scene.clock.advance(FRESH_SECONDS)
    assert await scene.neighbours.taken(SERVICES) == frozenset({"new"})


async def test_whoever_was_surprised_looks_again_at_once(scene: Scene) -> None:
    await scene.neighbours.taken(SERVICES)
    scene.lists.names = ["new"]
    scene.neighbours.forget("shop")
    assert await scene.neighbours.taken(SERVICES) == frozenset({"new"})


async def test_more_than_can_be_listed_is_not_known(scene: Scene) -> None:
    scene.lists.more = "token"
    assert await scene.neighbours.taken(SERVICES) is None


@pytest.mark.parametrize(
    ("more", "name", "may_have"), [("", "theirs", True), ("", "ours", False), ("token", "ours", True)]
)
async def test_a_name_is_theirs_if_it_is_listed_or_nobody_knows(
    scene: Scene, more: str, name: str, may_have: bool
) -> None:
    scene.lists.names, scene.lists.more = ["theirs"], more
    assert await scene.neighbours.may_have(Ref(SERVICE, Key("shop", name))) is may_have
