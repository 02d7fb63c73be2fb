import json
from typing import Any, cast

import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, DEPLOYMENT, NAMESPACE, SECRET, Key, Kind
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings, Shard
from steward.tenants.api.lists import KINDS
from steward.tenants.controllers.common.child_watches import Children, child_rule
from steward.tenants.labels import BUCKET, TENANT, TENANT_NAMESPACE

DATABASE = Kind("example.org/v1", "Database")


class Stores:
    """As much of a manager as watches need."""

    def __init__(self) -> None:
        self.known: dict[CacheRule[Any], Store[Any]] = {}

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        return self.known.setdefault(rule, Store(rule))


@pytest.fixture
def stores() -> Stores:
    return Stores()


@pytest.fixture
def woken() -> list[Key]:
    return []


@pytest.fixture
def children(stores: Stores, woken: list[Key]) -> Children:
    found = Children(cast(Manager, stores), Settings())
    found.channel.connect(lambda key, lane: woken.append(key))
    return found


def put(
    stores: Stores, kind: Kind, version: int, tenant: str = "acme", generation: int = 0, **more: Any
) -> None:
    labels = {TENANT: tenant, TENANT_NAMESPACE: "saas"}
    metadata = {
        "name": "it",
        "namespace": "other",
        "uid": "u",
        "resourceVersion": str(version),
        "labels": labels,
        "generation": generation,
    }
    whole = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **more}
    next(store for store in stores.known.values() if store.kind == kind).observe(json.dumps(whole).encode())


def test_an_object_wakes_its_tenant_whatever_namespace_it_is_in(
    stores: Stores, children: Children, woken: list[Key]
) -> None:
    put(stores, CONFIG_MAP, 1)
    assert woken == [Key("saas", "acme")]
    seen = children.get(CONFIG_MAP, Key("other", "it"))
    assert seen is not None


def test_what_has_no_generation_wakes_with_every_version(
    stores: Stores, children: Children, woken: list[Key]
) -> None:
    for version in (1, 2, 3):
        put(stores, CONFIG_MAP, version, data={"a": str(version)})
    assert len(woken) == 3


def test_a_heartbeat_in_a_status_wakes_nobody_and_readiness_does(
    stores: Stores, children: Children, woken: list[Key]
) -> None:
    def status(version: int, **fields: Any) -> None:
        put(stores, DEPLOYMENT, version, generation=1, status={"observedGeneration": 1, **fields})

    status(1)
    woken.clear()
    status(2, collisionCount=1)
    assert woken == []
    status(3, readyReplicas=1)
    assert woken == [Key("saas", "acme")]


def test_an_object_that_changes_hands_wakes_both(
    stores: Stores, children: Children, woken: list[Key]
) -> None:
    put(stores, CONFIG_MAP, 1)
    woken.clear()
    put(stores, CONFIG_MAP, 2, tenant="umbrella")
    assert woken == [Key("saas", "acme"), Key("saas", "umbrella")]


def test_a_custom_kind_is_watched_from_its_first_use_and_only_once(
    stores: Stores, children: Children, woken: list[Key]
) -> None:
    assert len(stores.known) == len(KINDS)
    children.watch([DATABASE, CONFIG_MAP])
    children.watch([DATABASE])
    assert len(stores.known) == len(KINDS) + 1
    put(stores, DATABASE, 1, status={"phase": "up"})
    assert woken == [Key("saas", "acme")]


def test_a_fleet_that_is_kept_in_its_namespaces_watches_nothing_of_the_whole_cluster(stores: Stores) -> None:
    children = Children(cast(Manager, stores), Settings(namespaces=("a", "b"), no_cross_namespace=True))
    children.watch([NAMESPACE])
    assert {rule.kind for rule in stores.known} == set(KINDS) - {NAMESPACE}
    assert {namespace for rule in stores.known for namespace in rule.selectors} == {"a", "b"}
    assert not children.knows(NAMESPACE)


def test_what_no_cache_keeps_wakes_only_those_with_a_rule_of_their_own(
    stores: Stores, children: Children, woken: list[Key]
) -> None:
    put(stores, DEPLOYMENT, 1, generation=1)
    woken.clear()
    put(stores, DEPLOYMENT, 2, generation=1, status={"collisionCount": 1})
    assert woken == []
    children.follow([DEPLOYMENT])
    put(stores, DEPLOYMENT, 3, generation=1, status={"collisionCount": 2})
    assert woken == [Key("saas", "acme")]


@pytest.mark.parametrize(
    ("settings", "selectors"),
    [
        (Settings(), {"*": TENANT}),
        (Settings(namespaces=("a", "b")), {"*": f"{TENANT_NAMESPACE} in (a,b)"}),
        (Settings(shard=Shard(1, 128)), {"*": f"{TENANT},{BUCKET} in (1,129)"}),
        (
            Settings(shard=Shard(1, 128), namespaces=("a",)),
            {"*": f"{TENANT_NAMESPACE} in (a),{BUCKET} in (1,129)"},
        ),
        (Settings(namespaces=("a", "b"), no_cross_namespace=True), {"a": TENANT, "b": TENANT}),
    ],
)
def test_only_what_carries_a_tenants_label_is_kept(settings: Settings, selectors: dict[str, str]) -> None:
    assert child_rule(SECRET, settings).selectors == selectors
