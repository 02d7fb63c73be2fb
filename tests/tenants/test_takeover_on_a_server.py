"""Tenants of the operator before us are taken over as they stand: same objects, rendered anew."""

from typing import Any

from tests.tenants.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.manifests import Manifest, tenant

PREFIX = "kubernetes-tenants.org"


def _former(registry_uid: str) -> Manifest:
    """As that operator wrote it: the body still a template, row values in annotations, owned by the registry."""
    found: dict[str, Any] = tenant("acme-web-app", uid="acme", templateRef="web-app")
    found["metadata"] |= {
        "labels": {f"{PREFIX}/registry": "prod", f"{PREFIX}/uid": "acme"},
        "annotations": {
            f"{PREFIX}/hostOrUrl": "https://acme.example.com",
            f"{PREFIX}/activate": "1",
            f"{PREFIX}/extra": "{}",
            f"{PREFIX}/template-generation": "1",
        },
        "ownerReferences": [{
            "apiVersion": found["apiVersion"], "kind": "TenantRegistry", "name": "prod", "uid": registry_uid,
            "controller": True, "blockOwnerDeletion": True,
        }],
    }  # fmt: skip
    return found


def test_a_tenant_that_another_operator_made_is_rendered_in_place(world: World, customers: Customers) -> None:
    world.apply(sqlite_registry())
    registry = until(lambda: world.get("tenantregistry", "prod"))
    world.apply(_former(registry["metadata"]["uid"]))
    uid = world.tenants()["acme-web-app"]["metadata"]["uid"]

    customers.add("acme")
    world.apply(config_template())

    until(lambda: "templateGeneration" in world.tenants()["acme-web-app"]["spec"], world.tenants)
    until(lambda: f"{PREFIX}/hostOrUrl" not in world.tenants()["acme-web-app"]["metadata"]["annotations"])
    taken = world.tenants()["acme-web-app"]
    assert taken["metadata"]["uid"] == uid
    assert "ownerReferences" not in taken["metadata"]
    assert taken["spec"]["configMaps"][0]["spec"]["data"]["host"] == "acme.example.com"
    assert "nameTemplate" not in taken["spec"]["configMaps"][0]
    until(lambda: world.get("configmap", "acme-web-app"))
