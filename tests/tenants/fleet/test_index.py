"""What is known of a fleet is found out once for each change of it."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.tenants import labels as marks
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.fleet.index import Fleets
from steward.tenants.names import values_secret
from tests.tenants.support.manifests import Manifest, tenant
from tests.tenants.support.offline_context import ground_with

PROD, TEST = Key("shop", "prod"), Key("shop", "test")


@pytest.fixture
def context() -> ControllerContext:
    return ground_with(None)


@pytest.fixture
def fleets(context: ControllerContext) -> Fleets:
    return context.fleets


def put(context: ControllerContext, name: str, version: int, registry: str = "prod", **more: Any) -> None:
    found = tenant(name) | more
    found["metadata"] |= {
        "namespace": "shop",
        "uid": name,
        "resourceVersion": str(version),
        "generation": 1,
        "labels": {marks.REGISTRY: registry},
    }
    context.store(context.rules.every_tenant).observe(msgspec.json.encode(found))


def put_secret(context: ControllerContext, name: str, of: str, version: int) -> None:
    labels = {marks.TENANT: of, marks.TENANT_NAMESPACE: "shop"}
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": name,
        "resourceVersion": str(version),
        "labels": labels,
    }
    secret: Manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
    context.store(context.rules.secret).observe(msgspec.json.encode(secret))


def test_a_change_of_a_tenant_moves_on_the_version_of_its_own_registry(
    context: ControllerContext, fleets: Fleets
) -> None:
    put(context, "acme", 1)
    before = fleets.version(PROD), fleets.version(TEST)
    put(context, "acme", 2)
    assert fleets.version(PROD) != before[0]
    assert fleets.version(TEST) == before[1]


def test_a_tenant_that_changes_hands_or_goes_moves_both_on(
    context: ControllerContext, fleets: Fleets
) -> None:
    put(context, "acme", 1)
    before = fleets.version(PROD)
    put(context, "acme", 2, registry="test")
    assert fleets.version(PROD) != before
    before = fleets.version(TEST)
    fleets.tenants.forget(Key("shop", "acme"), "acme")
    assert fleets.version(TEST) != before


def test_the_values_of_a_tenant_belong_to_its_fleet_and_its_other_secrets_do_not(
    context: ControllerContext, fleets: Fleets
) -> None:
    put(context, "acme", 1)
    before = fleets.version(PROD)
    put_secret(context, "password", "acme", 2)
    assert fleets.version(PROD) == before
    put_secret(context, values_secret("acme"), "acme", 3)
    assert fleets.version(PROD) != before


def test_a_fleet_is_counted_again_only_when_it_has_changed(
    context: ControllerContext, fleets: Fleets
) -> None:
    put(context, "acme", 1)
    first = fleets.sizes(PROD)
    assert (first.counts.total, first.by_template) == (1, {"web-app": 1})
    assert fleets.sizes(PROD) is first
    put(context, "bob", 2)
    assert fleets.sizes(PROD).counts.total == 2
