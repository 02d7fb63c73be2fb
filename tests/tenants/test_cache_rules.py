"""The Tenants and Secrets that a part of the fleet watches."""

import msgspec
import pytest
from msgspec import structs

from steward.kube.cache.rules import parse_selector
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, SECRET
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.manager.settings import Settings
from steward.runtime.partition import Partition
from steward.tenants.cache_rules import FleetScope, TenantsCacheRules, bucket_selector
from steward.tenants.controllers.common.child_watches import child_rule, fleet_scope
from steward.tenants.labels import BUCKET, TENANT
from steward.tenants.names import bucket

PART_0 = Settings(partition=Partition(0, 2))


def test_every_bucket_belongs_to_exactly_one_part() -> None:
    parts = [parse_selector(bucket_selector(Partition(number, 3))) for number in range(3)]
    for number in range(256):
        assert sum(part.matches({BUCKET: str(number)}) for part in parts) == 1


def test_an_undivided_fleet_is_one_store_for_all_controllers() -> None:
    rules = TenantsCacheRules(FleetScope(namespaces=("shop",)))
    assert rules.tenant == rules.every_tenant
    assert dict(rules.tenant.selectors) == {"shop": ""}


def test_other_parts_watch_their_own_tenants_only() -> None:
    rules = TenantsCacheRules(FleetScope(partition=Partition(1, 2)))
    assert dict(rules.tenant.selectors) == {"*": bucket_selector(Partition(1, 2))}
    assert rules.secret.accepts is None


@pytest.mark.parametrize("settings", [PART_0, structs.replace(PART_0, namespaces=("shop",))])
def test_part_0_has_one_store_of_all_tenants_and_one_of_secrets(settings: Settings) -> None:
    rules = TenantsCacheRules(fleet_scope(settings))
    assert rules.tenant == rules.every_tenant
    assert set(rules.tenant.selectors.values()) == {""}
    assert rules.secret == child_rule(SECRET, settings)


def test_part_0_keeps_status_fields_of_its_own_tenants_only() -> None:
    reports = TenantsCacheRules(fleet_scope(PART_0)).tenant.reports
    assert reports is not None
    assert reports(ObjectMeta(labels={BUCKET: "4"}))
    assert not reports(ObjectMeta(labels={BUCKET: "5"}))
    assert TenantsCacheRules(FleetScope()).tenant.reports is None


def test_equal_scopes_have_equal_rules_and_so_share_their_stores() -> None:
    one, other = (TenantsCacheRules(fleet_scope(PART_0)) for _ in range(2))
    assert (one.tenant, one.secret) == (other.tenant, other.secret)


def test_of_other_kinds_part_0_caches_the_objects_of_its_own_tenants_only() -> None:
    assert dict(child_rule(CONFIG_MAP, PART_0).selectors) == {
        "*": f"{TENANT},{bucket_selector(PART_0.partition)}"
    }


@pytest.mark.parametrize("settings", [Settings(), Settings(namespaces=("shop",))])
def test_an_undivided_fleet_has_one_store_of_secrets(settings: Settings) -> None:
    assert TenantsCacheRules(fleet_scope(settings)).secret == child_rule(SECRET, settings)


def test_part_0_caches_the_secrets_of_its_own_tenants_and_of_all_others_the_values() -> None:
    store = Store(TenantsCacheRules(fleet_scope(PART_0)).secret)
    version = 0
    for tenant, number in (("acme-web", "4"), ("bob-web", "5")):
        for name in (tenant, f"{tenant}-values"):
            version += 1
            labels = {TENANT: tenant, BUCKET: number}
            metadata = {"name": name, "resourceVersion": str(version), "labels": labels}
            store.put_watched(0, msgspec.json.encode({"metadata": metadata}))
    assert [secret.metadata.name for secret in store.list()] == [
        "acme-web",
        "acme-web-values",
        "bob-web-values",
    ]


@pytest.mark.parametrize("total", [1, 2, 3])
def test_a_new_tenant_belongs_to_one_part_by_its_name(total: int) -> None:
    parts = [FleetScope(partition=Partition(number, total)).part for number in range(total)]
    for name in ("acme-web", "bob-web", "cobalt-web"):
        labelled = ObjectMeta(labels={BUCKET: bucket(name)})
        assert [part.has_named(name) for part in parts] == [part.has(labelled) for part in parts]
        assert sum(part.has_named(name) for part in parts) == 1
