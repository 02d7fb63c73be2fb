"""The version and the counts of a fleet follow the changes of its Tenants."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.tenants import labels as marks
from steward.tenants.api.group import API_VERSION
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.fleet.fleet import TenantCounts
from steward.tenants.fleet.index import FleetIndex
from steward.tenants.fleet.sizes import FleetSizes
from steward.tenants.names import values_secret
from tests.tenants.support.manifests import Manifest, tenant
from tests.tenants.support.offline_context import offline_context

PROD, TEST, WEB_APP = Key("shop", "prod"), Key("shop", "test"), Key("shop", "web-app")
READY = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
NO_TENANTS = FleetSizes(TenantCounts(), {})


@pytest.fixture
def context() -> TenantsContext:
    return offline_context(None)


@pytest.fixture
def fleets(context: TenantsContext) -> FleetIndex:
    return context.fleets


def store_tenant(
    context: TenantsContext,
    name: str,
    version: int,
    registry: str = "prod",
    owners: Sequence[Manifest] = (),
    **more: Any,
) -> None:
    found = tenant(name) | more
    found["metadata"] |= {
        "namespace": "shop",
        "uid": name,
        "resourceVersion": str(version),
        "generation": 1,
        "labels": {marks.REGISTRY: registry},
        "ownerReferences": owners,
    }
    context.store(context.rules.every_tenant).observe_write(msgspec.json.encode(found))


def store_secret(context: TenantsContext, name: str, tenant_name: str, version: int) -> None:
    labels = {marks.TENANT: tenant_name, marks.TENANT_NAMESPACE: "shop"}
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": name,
        "resourceVersion": str(version),
        "labels": labels,
    }
    secret: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    context.store(context.rules.secret).observe_write(msgspec.json.encode(secret))


def test_a_change_of_a_tenant_increments_the_version_of_its_registry_only(
    context: TenantsContext, fleets: FleetIndex
) -> None:
    store_tenant(context, "acme", 1)
    before = fleets.version(PROD), fleets.version(TEST)
    store_tenant(context, "acme", 2)
    assert fleets.version(PROD) != before[0]
    assert fleets.version(TEST) == before[1]


def test_a_tenant_that_moves_or_is_deleted_increments_the_versions_of_both_registries(
    context: TenantsContext, fleets: FleetIndex
) -> None:
    store_tenant(context, "acme", 1)
    before = fleets.version(PROD)
    store_tenant(context, "acme", 2, registry="test")
    assert fleets.version(PROD) != before
    before = fleets.version(TEST)
    fleets.tenants.observe_delete(Key("shop", "acme"), "acme")
    assert fleets.version(TEST) != before


def test_the_values_secret_of_a_tenant_increments_the_version_and_other_secrets_do_not(
    context: TenantsContext, fleets: FleetIndex
) -> None:
    store_tenant(context, "acme", 1)
    before = fleets.version(PROD)
    store_secret(context, "password", "acme", 2)
    assert fleets.version(PROD) == before
    store_secret(context, values_secret("acme"), "acme", 3)
    assert fleets.version(PROD) != before


def test_a_status_does_not_increment_the_version(context: TenantsContext, fleets: FleetIndex) -> None:
    store_tenant(context, "acme", 1)
    before = fleets.version(PROD), fleets.status_version(PROD)
    store_tenant(context, "acme", 2, status=READY)
    assert fleets.version(PROD) == before[0]
    assert fleets.status_version(PROD) != before[1]


def test_the_counts_follow_the_changes_without_listing_tenants(
    context: TenantsContext, fleets: FleetIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    monkeypatch.setattr(fleets.tenants, "by_index", lambda *index: listed.append(index))
    for version, name in enumerate(("acme", "bob"), start=1):
        store_tenant(context, name, version)
    store_tenant(context, "acme", 3, status=READY)
    assert fleets.sizes(PROD) == FleetSizes(TenantCounts(2, 1, 0), {"web-app": 2})
    assert fleets.template_counts(WEB_APP) == TenantCounts(2, 1, 0)
    assert listed == []


def test_a_tenant_that_moves_is_counted_in_its_new_registry_only(
    context: TenantsContext, fleets: FleetIndex
) -> None:
    store_tenant(context, "acme", 1)
    store_tenant(context, "acme", 2, registry="test")
    assert fleets.sizes(PROD) == NO_TENANTS
    assert fleets.sizes(TEST) == FleetSizes(TenantCounts(1, 0, 0), {"web-app": 1})


def test_a_deleted_tenant_is_not_counted(context: TenantsContext, fleets: FleetIndex) -> None:
    store_tenant(context, "acme", 1, status=READY)
    fleets.tenants.observe_delete(Key("shop", "acme"), "acme")
    assert fleets.sizes(PROD) == NO_TENANTS
    assert fleets.template_counts(WEB_APP) == TenantCounts()


def test_tenants_are_counted_that_were_cached_before(context: TenantsContext) -> None:
    store_tenant(context, "acme", 1, status=READY)
    index = FleetIndex(context.store(context.rules.every_tenant), context.store(context.rules.secret))
    assert index.sizes(PROD).counts == TenantCounts(1, 1, 0)


def test_only_tenants_with_an_owner_are_listed_as_owned(context: TenantsContext, fleets: FleetIndex) -> None:
    store_tenant(context, "acme", 1)
    assert fleets.owned_tenants_of(PROD) == []
    owner = {"apiVersion": API_VERSION, "kind": "TenantRegistry", "name": "prod", "uid": "r"}
    store_tenant(context, "bob", 2, owners=[owner])
    assert [tenant.metadata.name for tenant in fleets.owned_tenants_of(PROD)] == ["bob"]
