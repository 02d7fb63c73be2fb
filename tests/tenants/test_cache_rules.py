"""The Tenants and Secrets that a part of the fleet watches."""

import msgspec
import pytest

from steward.kube.cache.rules import parse_selector
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import SECRET
from steward.runtime.manager.settings import Settings
from steward.runtime.partition import Partition
from steward.tenants.cache_rules import FleetScope, TenantsCacheRules, bucket_selector
from steward.tenants.controllers.common.child_watches import child_rule, fleet_scope
from steward.tenants.labels import BUCKET, TENANT


def test_every_bucket_belongs_to_exactly_one_part() -> None:
    parts = [parse_selector(bucket_selector(Partition(number, 3))) for number in range(3)]
    for bucket in range(256):
        assert sum(part.matches({BUCKET: str(bucket)}) for part in parts) == 1


def test_an_undivided_fleet_is_one_store_for_all_controllers() -> None:
    rules = TenantsCacheRules(FleetScope(namespaces=("shop",)))
    assert rules.tenant == rules.every_tenant
    assert dict(rules.tenant.selectors) == {"shop": ""}


def test_a_part_watches_its_own_tenants_and_registries_watch_all() -> None:
    rules = TenantsCacheRules(FleetScope(partition=Partition(1, 2)))
    assert rules.tenant != rules.every_tenant
    assert dict(rules.every_tenant.selectors) == {"*": ""}


@pytest.mark.parametrize("settings", [Settings(), Settings(namespaces=("shop",))])
def test_an_undivided_fleet_has_one_store_of_secrets(settings: Settings) -> None:
    assert TenantsCacheRules(fleet_scope(settings)).secret == child_rule(SECRET, settings)


def test_of_the_secrets_of_other_parts_only_the_values_are_cached() -> None:
    store = Store(TenantsCacheRules(FleetScope(partition=Partition(0, 2))).secret)
    for version, name in enumerate(("acme-web", "acme-web-values"), start=1):
        metadata = {"name": name, "resourceVersion": str(version), "labels": {TENANT: "acme-web"}}
        store.put_watched(0, msgspec.json.encode({"metadata": metadata}))
    assert [secret.metadata.name for secret in store.list()] == ["acme-web-values"]
