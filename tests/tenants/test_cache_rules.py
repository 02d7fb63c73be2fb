"""The Tenants that a part of the fleet watches."""

from steward.kube.cache.rules import parse_selector
from steward.runtime.partition import Partition
from steward.tenants.cache_rules import TenantsCacheRules, bucket_selector
from steward.tenants.labels import BUCKET


def test_every_bucket_belongs_to_exactly_one_part() -> None:
    parts = [parse_selector(bucket_selector(Partition(number, 3))) for number in range(3)]
    for bucket in range(256):
        assert sum(part.matches({BUCKET: str(bucket)}) for part in parts) == 1


def test_an_undivided_fleet_is_one_store_for_all_controllers() -> None:
    rules = TenantsCacheRules(("shop",))
    assert rules.tenant == rules.every_tenant
    assert dict(rules.tenant.selectors) == {"shop": ""}


def test_a_part_watches_its_own_tenants_and_registries_watch_all() -> None:
    rules = TenantsCacheRules((), Partition(1, 2))
    assert rules.tenant != rules.every_tenant
    assert dict(rules.every_tenant.selectors) == {"*": ""}
