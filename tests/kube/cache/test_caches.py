"""Caches by rule, on the real API server."""

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import Struct

from steward.kube.cache.caches import Caches
from steward.kube.cache.reflector import ReflectorOptions
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    NAMESPACE,
    Key,
    Kind,
    Manifest,
    Ref,
)
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.kube.objects.options import ApplyOptions
from steward.kube.objects.patches import MergePatch
from tests.kube.support.applying import install_widgets, until
from tests.kube.support.widgets import WIDGET, WIDGET_CRD

QUICK = ReflectorOptions(first_pause=0.05, missing_kind_pause=0.2)
MANAGER = ApplyOptions(manager="test")


@pytest.fixture
async def caches(client: Client) -> AsyncIterator[Caches]:
    caches = Caches(client, QUICK)
    yield caches
    await caches.stop()


def config_map(namespace: str, name: str, **labels: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    }


async def started(caches: Caches) -> None:
    await caches.start()
    async with asyncio.timeout(120):
        await caches.wait_synced()


async def has(store: Store[Any], key: Key) -> None:
    await until(store, key, lambda obj: obj is not None)


async def lacks(store: Store[Any], key: Key) -> None:
    await until(store, key, lambda obj: obj is None)


async def test_equal_rules_share_one_store(caches: Caches) -> None:
    def rule(selector: str) -> CacheRule[Metadata]:
        return CacheRule(CONFIG_MAP, Metadata, {"*": selector})

    assert caches.store(rule("a=b")) is caches.store(rule("a=b"))
    assert caches.store(rule("a=b")) is not caches.store(rule("a=c"))
    assert len(caches.stores) == 2
    assert caches.stores_of(CONFIG_MAP) == caches.stores
    assert caches.stores_of(WIDGET) == ()


async def test_objects_outside_the_selector_are_never_cached(
    caches: Caches, client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "ours", app="ours"))
    await client.create(config_map(namespace, "foreign"))
    store = caches.store(CacheRule(CONFIG_MAP, Metadata, {namespace: "app=ours"}))

    await started(caches)

    assert [obj.metadata.name for obj in store.list()] == ["ours"]
    live = await client.get(CONFIG_MAP, Key(namespace, "foreign"), Metadata)
    assert live.metadata.name == "foreign"


@pytest.fixture
async def other_namespace(client: Client, namespace: str) -> AsyncIterator[str]:
    name = f"{namespace}-other"
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    await client.delete(Ref(NAMESPACE, Key("", name)))


class TestSafeZone:
    """A selector for all namespaces, and everything in the operator's own namespace."""

    @pytest.fixture
    async def store(self, caches: Caches, namespace: str) -> Store[Metadata]:
        store = caches.store(CacheRule(CONFIG_MAP, Metadata, {"*": f"zone={namespace}", namespace: ""}))
        await started(caches)
        return store

    async def test_both_watches_feed_one_store(
        self, store: Store[Metadata], client: Client, namespace: str, other_namespace: str
    ) -> None:
        await client.create(config_map(namespace, "plain"))
        await client.create(config_map(other_namespace, "selected", zone=namespace))
        await client.create(config_map(other_namespace, "foreign"))

        await has(store, Key(namespace, "plain"))
        await has(store, Key(other_namespace, "selected"))
        assert store.get(Key(other_namespace, "foreign")) is None

    async def test_an_object_that_leaves_one_selector_stays_while_another_selects_it(
        self, store: Store[Metadata], client: Client, namespace: str, other_namespace: str
    ) -> None:
        key, marker = Key(namespace, "both"), Key(other_namespace, "marker")
        await client.create(config_map(namespace, "both", zone=namespace))
        await has(store, key)
        changes: list[ObjectChange[Metadata]] = []
        store.subscribe(changes.append)

        await client.patch(Ref(CONFIG_MAP, key), MergePatch({"metadata": {"labels": {"zone": None}}}))
        await until(store, key, lambda obj: obj is not None and not obj.metadata.labels)
        # A later event shows that this watch has passed the DELETED event.
        await client.create(config_map(other_namespace, "marker", zone=namespace))
        await has(store, marker)

        assert store.get(key) is not None
        assert all(change.new is not None for change in changes)

    async def test_an_object_that_no_selector_matches_any_more_is_removed(
        self, store: Store[Metadata], client: Client, namespace: str, other_namespace: str
    ) -> None:
        key = Key(other_namespace, "selected")
        await client.create(config_map(other_namespace, "selected", zone=namespace))
        await has(store, key)

        await client.patch(Ref(CONFIG_MAP, key), MergePatch({"metadata": {"labels": {"zone": None}}}))

        await lacks(store, key)

    async def test_a_deleted_object_is_removed_although_two_watches_had_it(
        self, store: Store[Metadata], client: Client, namespace: str
    ) -> None:
        key = Key(namespace, "both")
        await client.create(config_map(namespace, "both", zone=namespace))
        await has(store, key)
        changes: list[ObjectChange[Metadata]] = []
        store.subscribe(changes.append)

        await client.delete(Ref(CONFIG_MAP, key))

        await lacks(store, key)
        assert [change.new for change in changes if change.new is None] == [None]


async def test_the_answer_to_a_write_is_cached_before_its_watch_event(
    caches: Caches, client: Client, namespace: str
) -> None:
    store = caches.store(CacheRule(CONFIG_MAP, Metadata, {namespace: ""}))
    await started(caches)
    changes: list[ObjectChange[Metadata]] = []
    store.subscribe(changes.append)
    body = await client.apply(config_map(namespace, "a"), MANAGER)

    store.observe_write(body)

    assert store.get(Key(namespace, "a")) is not None
    await client.create(config_map(namespace, "later"))
    await has(store, Key(namespace, "later"))
    assert [change.key.name for change in changes if change.key.name == "a"] == ["a"]


async def test_a_kind_may_appear_disappear_and_appear_again(
    caches: Caches, client: Client, namespace: str
) -> None:
    definition = gadget_crd(namespace)
    kind = Kind(f"{definition['spec']['group']}/v1", "Gadget")
    ref = Ref(CUSTOM_RESOURCE_DEFINITION, Key("", definition["metadata"]["name"]))
    gadget = {
        "apiVersion": kind.api_version,
        "kind": "Gadget",
        "metadata": {"name": "g", "namespace": namespace},
    }
    key = Key(namespace, "g")
    store = caches.store(CacheRule(kind, Metadata, {namespace: ""}))
    config_maps = caches.store(CacheRule(CONFIG_MAP, Metadata, {namespace: ""}))
    removed: list[Key] = []
    store.subscribe(lambda change: removed.append(change.key) if change.new is None else None)

    await started(caches)
    assert (store.available, store.synced, config_maps.synced) == (False, False, True)

    for _ in range(2):
        await client.apply(definition, MANAGER)
        await applied_once_served(client, gadget)
        await has(store, key)
        assert store.available

        await client.delete(ref)
        await lacks(store, key)
        await gone(client, ref)
        async with asyncio.timeout(120):
            while store.available:
                await asyncio.sleep(0.05)
    assert removed == [key, key]
    assert len(config_maps) > 0


def gadget_crd(namespace: str) -> Manifest:
    """A separate definition, because the test deletes it."""
    group = f"{namespace}.steward.test"
    definition = copy.deepcopy(WIDGET_CRD)
    definition["metadata"]["name"] = f"gadgets.{group}"
    definition["spec"]["group"] = group
    definition["spec"]["names"] = {
        "plural": "gadgets",
        "singular": "gadget",
        "kind": "Gadget",
        "listKind": "GadgetList",
    }
    return definition


async def applied_once_served(client: Client, manifest: Manifest) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                await client.apply(manifest, MANAGER)
            except Exception:
                await asyncio.sleep(0.1)
            else:
                return


async def gone(client: Client, ref: Ref) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                await client.get(ref.kind, ref.key, Metadata)
            except NotFound:
                return
            await asyncio.sleep(0.05)


async def test_a_store_created_after_the_start_fills_at_once(
    caches: Caches, client: Client, namespace: str
) -> None:
    await client.create(config_map(namespace, "a"))
    await started(caches)

    store = caches.store(CacheRule(CONFIG_MAP, Metadata, {namespace: ""}))

    await has(store, Key(namespace, "a"))


class Numbers(Struct, frozen=True):
    free: dict[str, int] = {}


class Strict(Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: Numbers = Numbers()


async def test_an_object_that_does_not_fit_its_view_hides_no_other(
    caches: Caches, client: Client, namespace: str
) -> None:
    def widget(name: str, value: Any) -> Manifest:
        identity = {"apiVersion": WIDGET.api_version, "kind": WIDGET.kind}
        metadata = {"name": name, "namespace": namespace}
        return {**identity, "metadata": metadata, "spec": {"free": {"n": value}}}

    await install_widgets(client)
    await client.create(widget("bad", "text"))
    await client.create(widget("good", 1))
    store = caches.store(CacheRule(WIDGET, Strict, {namespace: ""}))

    await started(caches)

    assert [obj.metadata.name for obj in store.list()] == ["good"]
