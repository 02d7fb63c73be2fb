"""The version and the counts of a fleet follow the changes of its Tenants."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.tenants import labels as marks
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.fleet.index import FleetIndex
from steward.tenants.names import values_secret
from tests.tenants.support.manifests import Manifest, tenant
from tests.tenants.support.offline_context import offline_context

PROD, TEST = Key("shop", "prod"), Key("shop", "test")


@pytest.fixture
def context() -> TenantsContext:
    return offline_context(None)


@pytest.fixture
def fleets(context: TenantsContext) -> FleetIndex:
    return context.fleets


def store_tenant(
    context: TenantsContext, name: str, version: int, registry: str = "prod", **more: Any
) -> None:
    found = tenant(name) | more
    found["metadata"] |= {
        "namespace": "shop",
        "uid": name,
        "resourceVersion": str(version),
        "generation": 1,
        "labels": {marks.REGISTRY: registry},
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


def test_a_fleet_is_counted_again_only_when_it_has_changed(
    context: TenantsContext, fleets: FleetIndex
) -> None:
    store_tenant(context, "acme", 1)
    first = fleets.sizes(PROD)
    assert (first.counts.total, first.by_template) == (1, {"web-app": 1})
    assert fleets.sizes(PROD) is first
    store_tenant(context, "bob", 2)
    assert fleets.sizes(PROD).counts.total == 2
