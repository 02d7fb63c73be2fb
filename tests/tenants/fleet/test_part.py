"""The Tenants that a process applies, in a store with all of them."""

import msgspec
import pytest

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.controller.predicates import Predicate
from steward.runtime.partition import Partition
from steward.tenants.cache_rules import TENANT_KIND, FleetScope, TenantsCacheRules
from steward.tenants.fleet.part import TenantsOfPart, changes_of_part
from steward.tenants.labels import BUCKET
from steward.tenants.views import Tenant

SCOPE = FleetScope(partition=Partition(0, 2))
OWN, OTHER, NEITHER = {BUCKET: "4"}, {BUCKET: "5"}, dict[str, str]()


def store_tenant(store: Store[Tenant], name: str, labels: dict[str, str], version: int = 1) -> None:
    metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": str(version)}
    store.put_watched(0, msgspec.json.encode({"metadata": metadata | {"labels": labels}}))


def test_of_a_store_with_all_tenants_only_those_of_the_part_are_found() -> None:
    store = Store(TenantsCacheRules(SCOPE).tenant)
    own = TenantsOfPart(store, SCOPE.part)
    for name, labels in (("acme", OWN), ("bob", OTHER), ("cobalt", NEITHER)):
        store_tenant(store, name, labels)
    assert [tenant.metadata.name for tenant in own.list()] == ["acme"]
    assert own.get(Key("shop", "acme")) is not None
    assert own.get(Key("shop", "bob")) is None
    assert own.get(Key("shop", "missing")) is None


def test_without_partitions_every_tenant_is_found_whatever_its_labels() -> None:
    store = Store(TenantsCacheRules(FleetScope()).tenant)
    own = TenantsOfPart(store, FleetScope().part)
    for name, labels in (("acme", OWN), ("bob", OTHER), ("cobalt", NEITHER)):
        store_tenant(store, name, labels)
    assert len(own.list()) == 3
    assert own.get(Key("shop", "cobalt")) is not None


def change(old: dict[str, str] | None, new: dict[str, str] | None) -> ObjectChange[Tenant]:
    sides = [
        None if labels is None else Tenant(ObjectMeta(name="acme", labels=labels)) for labels in (old, new)
    ]
    return ObjectChange(TENANT_KIND, Key("shop", "acme"), sides[0], sides[1], False, False)


@pytest.mark.parametrize(
    ("old", "new"), [(None, OWN), (OWN, None), (OTHER, OWN), (NEITHER, OWN), (OWN, OTHER), (OWN, NEITHER)]
)
def test_a_tenant_that_joins_or_leaves_the_part_counts_as_created_or_deleted(
    old: dict[str, str] | None, new: dict[str, str] | None
) -> None:
    assert changes_of_part(SCOPE.part, lambda _: False)(change(old, new))


@pytest.mark.parametrize(("old", "new"), [(None, OTHER), (OTHER, None), (OTHER, OTHER), (NEITHER, OTHER)])
def test_changes_of_other_parts_do_not_count(old: dict[str, str] | None, new: dict[str, str] | None) -> None:
    assert not changes_of_part(SCOPE.part, lambda _: True)(change(old, new))


@pytest.mark.parametrize("when", [lambda _: True, lambda _: False])
def test_other_changes_count_as_for_a_whole_fleet(when: Predicate) -> None:
    assert changes_of_part(SCOPE.part, when)(change(OWN, OWN)) is when(change(OWN, OWN))
