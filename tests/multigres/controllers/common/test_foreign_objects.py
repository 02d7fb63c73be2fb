"""Foreign objects are listed once per kind and namespace; if they are too many, each name is read by itself."""

import asyncio
from typing import Any, cast

import pytest

from steward.kube.cache.store import ObjectChange
from steward.kube.client.client import Client, ListQuery
from steward.kube.client.decode import Page
from steward.kube.objects.kinds import DEPLOYMENT, SERVICE, Key, Kind, Ref
from steward.kube.objects.meta import Metadata, ObjectMeta, OwnerReference
from steward.multigres.controllers.common.foreign_objects import (
    FOREIGN_SELECTOR,
    FRESH_SECONDS,
    ForeignNames,
    ForeignObjects,
    NamespacedKind,
    is_object_of,
)
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY_LABEL
from steward.testkit import FakeClock

SERVICES = NamespacedKind(SERVICE, "shop")


class FakeClient:
    def __init__(self) -> None:
        self.lists: list[tuple[Kind, ListQuery]] = []
        self.names: list[str] = []
        self.more = ""

    def metadata_only(self) -> Any:
        return self

    async def first_page(self, kind: Kind, query: ListQuery, view: type[Metadata]) -> Page[Metadata]:
        self.lists.append((kind, query))
        await asyncio.sleep(0)
        return Page([Metadata(metadata=ObjectMeta(name=name)) for name in self.names], "1", self.more)


class Setup:
    def __init__(self) -> None:
        self.client, self.clock = FakeClient(), FakeClock()
        self.names = ForeignNames(cast(Client, self.client), self.clock)


@pytest.fixture
def setup() -> Setup:
    return Setup()


async def test_foreign_objects_are_listed(setup: Setup) -> None:
    setup.client.names = ["foreign"]
    assert await setup.names.list_names(SERVICES) == frozenset({"foreign"})
    [(kind, query)] = setup.client.lists
    assert (kind, query.namespace, query.label_selector) == (SERVICE, "shop", FOREIGN_SELECTOR)


async def test_a_hundred_concurrent_calls_cost_one_list(setup: Setup) -> None:
    await asyncio.gather(*(setup.names.list_names(SERVICES) for _ in range(100)))
    assert len(setup.client.lists) == 1


async def test_each_kind_and_namespace_is_listed_by_itself(setup: Setup) -> None:
    for place in (SERVICES, NamespacedKind(DEPLOYMENT, "shop"), NamespacedKind(SERVICE, "other")):
        await setup.names.list_names(place)
    assert len(setup.client.lists) == 3


async def test_an_old_listing_is_made_again(setup: Setup) -> None:
    await setup.names.list_names(SERVICES)
    setup.client.names = ["new"]
    assert await setup.names.list_names(SERVICES) == frozenset()
    setup.clock.advance(FRESH_SECONDS)
    assert await setup.names.list_names(SERVICES) == frozenset({"new"})


async def test_a_forgotten_namespace_is_listed_again_at_once(setup: Setup) -> None:
    await setup.names.list_names(SERVICES)
    setup.client.names = ["new"]
    setup.names.forget("shop")
    assert await setup.names.list_names(SERVICES) == frozenset({"new"})


async def test_names_are_unknown_if_they_exceed_one_page(setup: Setup) -> None:
    setup.client.more = "token"
    assert await setup.names.list_names(SERVICES) is None


@pytest.mark.parametrize(
    ("more", "name", "may_exist"), [("", "foreign", True), ("", "free", False), ("token", "free", True)]
)
async def test_a_name_may_be_taken_if_it_is_listed_or_the_list_is_incomplete(
    setup: Setup, more: str, name: str, may_exist: bool
) -> None:
    setup.client.names, setup.client.more = ["foreign"], more
    assert await setup.names.may_exist(Ref(SERVICE, Key("shop", name))) is may_exist


OWNER = {
    "apiVersion": "multigres.com/v1alpha1",
    "kind": "Cell",
    "name": "c",
    "uid": "cell",
    "controller": True,
}
LABELS = {"multigres.com/cluster": "mini", "app.kubernetes.io/component": "gateway"}
MANAGED = {MANAGED_BY_LABEL: FIELD_MANAGER}


@pytest.mark.parametrize(
    ("labels", "controller", "is_own"),
    [
        (MANAGED, "", True),
        ({}, "cell", True),
        (LABELS, "another", False),
        (LABELS, "", False),
        ({MANAGED_BY_LABEL: "Helm"}, "cell", True),
    ],
    ids=["labelled", "owned", "owned by another", "without an owner", "owned, with the label of another"],
)
def test_an_object_with_our_label_or_our_owner_is_not_foreign(
    labels: dict[str, str], controller: str, is_own: bool
) -> None:
    owners = (OwnerReference(uid=controller, controller=True),) if controller else ()
    live = Metadata(ObjectMeta(labels=labels, owner_references=owners))
    assert is_object_of({"metadata": {"labels": LABELS, "ownerReferences": [OWNER]}}, live) is is_own


@pytest.mark.parametrize(
    ("labels", "controller", "is_own"),
    [(LABELS, "", True), ({}, "", False), (LABELS, "another", False)],
    ids=["with all identifying labels", "of a user", "of another controller"],
)
def test_an_object_that_never_has_an_owner_is_recognized_by_its_labels(
    labels: dict[str, str], controller: str, is_own: bool
) -> None:
    owners = (OwnerReference(uid=controller, controller=True),) if controller else ()
    live = Metadata(ObjectMeta(labels=labels, owner_references=owners))
    assert is_object_of({"metadata": {"labels": {**LABELS, **MANAGED}}}, live) is is_own


@pytest.mark.parametrize(
    ("ends_at", "lists"), [(None, 2), ("2027-01-15T08:00:00Z", 1)], ids=["label lost", "deleted"]
)
async def test_an_object_that_loses_its_label_is_in_the_next_listing(
    setup: Setup, ends_at: str | None, lists: int
) -> None:
    objects = ForeignObjects(cast(Client, setup.client), setup.clock, cast(Any, None), cast(Any, None))
    await objects.find_unlabelled(Ref(SERVICE, Key("shop", "mine")))
    old = Metadata(ObjectMeta(name="mine", namespace="shop", deletion_timestamp=ends_at))
    objects.observe(ObjectChange(SERVICE, Key("shop", "mine"), old, None, False, True))
    await objects.find_unlabelled(Ref(SERVICE, Key("shop", "mine")))
    assert len(setup.client.lists) == lists
