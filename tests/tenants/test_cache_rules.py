"""Which Tenants a part of the fleet sees."""

from steward.kube.cache.rules import parse_selector
from steward.runtime.manager.settings import Shard
from steward.tenants.cache_rules import Rules, bucket_selector
from steward.tenants.labels import BUCKET


def test_every_bucket_belongs_to_exactly_one_part() -> None:
    parts = [parse_selector(bucket_selector(Shard(number, 3))) for number in range(3)]
    for bucket in range(256):
        assert sum(part.matches({BUCKET: str(bucket)}) for part in parts) == 1


def test_an_undivided_fleet_is_one_store_for_all_controllers() -> None:
    rules = Rules(("shop",))
    assert rules.tenant == rules.every_tenant
    assert dict(rules.tenant.selectors) == {"shop": ""}


def test_a_part_sees_its_own_tenants_and_registries_see_all() -> None:
    rules = Rules((), Shard(1, 2))
    assert rules.tenant != rules.every_tenant
    assert dict(rules.every_tenant.selectors) == {"*": ""}
