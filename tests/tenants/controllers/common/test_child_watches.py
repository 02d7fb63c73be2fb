import json
from typing import Any, cast

import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, DEPLOYMENT, NAMESPACE, SECRET, SERVICE, Key, Kind
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.partition import Partition
from steward.runtime.reconcile import Lane
from steward.tenants.api.lists import KINDS
from steward.tenants.controllers.common.child_watches import ChildWatches, child_rule
from steward.tenants.labels import BUCKET, FIELD_MANAGER, TENANT, TENANT_NAMESPACE

DATABASE = Kind("example.org/v1", "Database")


class Stores:
    """The part of a manager that the watches use."""

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
def children(stores: Stores, woken: list[Key]) -> ChildWatches:
    found = ChildWatches(cast(Manager, stores), Settings())
    found.channel.connect(lambda key, lane: woken.append(key))
    return found


def observe(
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
    next(store for store in stores.known.values() if store.kind == kind).observe_write(
        json.dumps(whole).encode()
    )


def test_an_object_wakes_its_tenant_whatever_namespace_it_is_in(
    stores: Stores, children: ChildWatches, woken: list[Key]
) -> None:
    observe(stores, CONFIG_MAP, 1)
    assert woken == [Key("saas", "acme")]
    cached = children.get(CONFIG_MAP, Key("other", "it"))
    assert cached is not None


def test_every_version_of_an_object_without_generation_wakes(
    stores: Stores, children: ChildWatches, woken: list[Key]
) -> None:
    for version in (1, 2, 3):
        observe(stores, CONFIG_MAP, version, data={"a": str(version)})
    assert len(woken) == 3


def test_a_status_change_wakes_only_if_readiness_reads_it(
    stores: Stores, children: ChildWatches, woken: list[Key]
) -> None:
    def status(version: int, **fields: Any) -> None:
        observe(stores, DEPLOYMENT, version, generation=1, status={"observedGeneration": 1, **fields})

    status(1)
    woken.clear()
    status(2, collisionCount=1)
    assert woken == []
    status(3, readyReplicas=1)
    assert woken == [Key("saas", "acme")]


def test_only_readiness_and_repairs_are_urgent(stores: Stores, children: ChildWatches) -> None:
    lanes: list[Lane] = []
    children.channel.connect(lambda key, lane: lanes.append(lane))

    def status(version: int, ready: int, replicas: int = 2) -> None:
        fields = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": ready}
        available = {"availableReplicas": ready}
        spec = {"replicas": replicas}
        observe(stores, DEPLOYMENT, version, generation=1, spec=spec, status={**fields, **available})

    store = next(store for store in stores.known.values() if store.kind == DEPLOYMENT)
    status(1, ready=0)
    store.finish_list(0, {Key("other", "it")}, "1")
    status(2, ready=1)
    status(3, ready=2)
    store.observe_delete(Key("other", "it"), "u")
    assert lanes == [Lane.SLOW, Lane.FAST, Lane.URGENT, Lane.URGENT]


@pytest.mark.parametrize("kind", [DEPLOYMENT, SERVICE], ids=str)
def test_an_edit_of_our_fields_is_repaired_before_other_work(
    stores: Stores, children: ChildWatches, kind: Kind
) -> None:
    lanes: list[Lane] = []

    def applied(version: int, **fields: Any) -> None:
        entry = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": kind.api_version}
        labels = {TENANT: "acme", TENANT_NAMESPACE: "saas"}
        metadata = {"name": "it", "namespace": "other", "uid": "u", "labels": labels, "generation": version}
        managed = [{**entry, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}}]
        whole = {"metadata": {**metadata, "resourceVersion": str(version), "managedFields": managed}}
        store.observe_write(json.dumps(whole).encode())

    store = next(store for store in stores.known.values() if store.kind == kind)
    store.finish_list(0, set(), "1")
    applied(2, **{"f:a": {}, "f:b": {}})
    children.channel.connect(lambda key, lane: lanes.append(lane))
    assert children.unrepaired == set()
    applied(3, **{"f:a": {}})
    assert children.unrepaired == {Key("saas", "acme")}
    store.observe_delete(Key("other", "it"), "u")
    assert lanes == [Lane.URGENT, Lane.URGENT]


def test_an_object_that_changes_its_tenant_wakes_both(
    stores: Stores, children: ChildWatches, woken: list[Key]
) -> None:
    observe(stores, CONFIG_MAP, 1)
    woken.clear()
    observe(stores, CONFIG_MAP, 2, tenant="umbrella")
    assert woken == [Key("saas", "acme"), Key("saas", "umbrella")]


def test_a_custom_kind_is_watched_from_its_first_use_and_only_once(
    stores: Stores, children: ChildWatches, woken: list[Key]
) -> None:
    assert len(stores.known) == len(KINDS)
    children.watch([DATABASE, CONFIG_MAP])
    children.watch([DATABASE])
    assert len(stores.known) == len(KINDS) + 1
    observe(stores, DATABASE, 1, status={"phase": "up"})
    assert woken == [Key("saas", "acme")]


def test_with_no_cross_namespace_nothing_is_watched_in_the_whole_cluster(stores: Stores) -> None:
    children = ChildWatches(cast(Manager, stores), Settings(namespaces=("a", "b"), no_cross_namespace=True))
    children.watch([NAMESPACE])
    assert {rule.kind for rule in stores.known} == set(KINDS) - {NAMESPACE}
    assert {namespace for rule in stores.known for namespace in rule.selectors} == {"a", "b"}
    assert not children.is_synced(NAMESPACE)


def test_uncached_fields_wake_only_kinds_with_ready_when(
    stores: Stores, children: ChildWatches, woken: list[Key]
) -> None:
    observe(stores, DEPLOYMENT, 1, generation=1)
    woken.clear()
    observe(stores, DEPLOYMENT, 2, generation=1, status={"collisionCount": 1})
    assert woken == []
    children.watch_every_change([DEPLOYMENT])
    observe(stores, DEPLOYMENT, 3, generation=1, status={"collisionCount": 2})
    assert woken == [Key("saas", "acme")]


@pytest.mark.parametrize(
    ("settings", "selectors"),
    [
        (Settings(), {"*": TENANT}),
        (Settings(namespaces=("a", "b")), {"*": f"{TENANT_NAMESPACE} in (a,b)"}),
        (Settings(partition=Partition(1, 128)), {"*": f"{TENANT},{BUCKET} in (1,129)"}),
        (
            Settings(partition=Partition(1, 128), namespaces=("a",)),
            {"*": f"{TENANT_NAMESPACE} in (a),{BUCKET} in (1,129)"},
        ),
        (Settings(namespaces=("a", "b"), no_cross_namespace=True), {"a": TENANT, "b": TENANT}),
    ],
)
def test_only_objects_with_a_tenant_label_are_cached(settings: Settings, selectors: dict[str, str]) -> None:
    assert child_rule(SECRET, settings).selectors == selectors


def test_values_of_another_part_wake_no_tenant(stores: Stores, woken: list[Key]) -> None:
    children = ChildWatches(cast(Manager, stores), Settings(partition=Partition(0, 2)))
    children.channel.connect(lambda key, lane: woken.append(key))
    store = next(store for store in stores.known.values() if store.kind == SECRET)
    for version, (name, bucket) in enumerate((("acme", "4"), ("bob", "5")), start=1):
        labels = {TENANT: name, TENANT_NAMESPACE: "saas", BUCKET: bucket}
        metadata = {"name": f"{name}-values", "namespace": "saas", "uid": name, "labels": labels}
        body = {"metadata": metadata | {"resourceVersion": str(version)}}
        store.observe_write(json.dumps(body).encode())
        store.observe_delete(Key("saas", f"{name}-values"), name)
    assert woken == [Key("saas", "acme")] * 2
    assert children.unrepaired <= {Key("saas", "acme")}
