"""Tenants of the Go operator are taken over: same objects, rendered again, in whatever order a backup restores
registry, Tenants and templates."""

import json
from typing import Any

from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import Manifest, resource, tenant

PREFIX = "kubernetes-tenants.org"
NAME = "acme-web-app"
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": "{{ .host }}"}}


def _go_operator_tenant(registry_uid: str) -> Manifest:
    """As the Go operator wrote it: bodies still templates, row values in annotations, owned by the registry. One of its
    lists is no longer in any template."""
    lists: dict[str, Any] = {
        "configMaps": [resource(spec=BODY, nameTemplate=NAME)],
        "secrets": [resource("old", spec={"apiVersion": "v1", "kind": "Secret"}, nameTemplate="acme-old")],
    }
    found: dict[str, Any] = tenant(NAME, uid="acme", templateRef="web-app", **lists)
    found["metadata"] |= {
        "labels": {f"{PREFIX}/registry": "prod", f"{PREFIX}/uid": "acme"},
        "annotations": {
            f"{PREFIX}/hostOrUrl": "https://acme.example.com",
            f"{PREFIX}/activate": "1",
            f"{PREFIX}/extra": "{}",
            f"{PREFIX}/template-generation": "1",
        },
        "finalizers": [f"tenant.operator.{PREFIX}/finalizer"],
        "ownerReferences": [{
            "apiVersion": found["apiVersion"], "kind": "TenantRegistry", "name": "prod", "uid": registry_uid,
            "controller": True, "blockOwnerDeletion": True,
        }],
    }  # fmt: skip
    return found


def _objects(owner: Manifest) -> list[Manifest]:
    """The objects that the Go operator created for it."""
    meta = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": "Tenant", "name": NAME, "uid": meta["uid"]}
    common = {
        "annotations": {f"{PREFIX}/deletion-policy": "Delete"},
        "ownerReferences": [reference | {"controller": True, "blockOwnerDeletion": True}],
    }
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, **common}, "data": {"host": "acme"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "acme-old", **common}},
    ]  # fmt: skip


def _create_go_operator_objects(world: World) -> dict[str, str]:
    """The uids of the existing objects."""
    registry = until(lambda: world.get("tenantregistry", "prod"))
    world.apply(_go_operator_tenant(registry["metadata"]["uid"]))
    tenant = world.tenants()[NAME]
    world.apply(*_objects(tenant), manager="tenant-operator")
    keys = [
        f"{kind}/{world.namespace}/{name}"
        for kind, name in (("ConfigMap", f"{NAME}@config"), ("Secret", "acme-old@old"))
    ]
    status = {"status": {"appliedResources": keys}}
    world.kubectl("patch", "tenant", NAME, "--subresource=status", "--type=merge", "-p", json.dumps(status))
    return {"tenant": tenant["metadata"]["uid"], "configmap": world.get("configmap", NAME)["metadata"]["uid"]}


def test_a_tenant_of_the_go_operator_waits_for_its_template_and_is_rendered_in_place(
    world: World, customers: Customers
) -> None:
    world.apply(sqlite_registry())
    uids = _create_go_operator_objects(world)
    customers.add("acme")
    until(lambda: world.status().get("activeRows") == 1, world.status)
    condition = world.until_condition("Degraded", "True")
    assert condition["reason"] == "TemplateMissing"
    assert "web-app (1)" in condition["message"]
    until(lambda: "ownerReferences" not in world.tenants()[NAME]["metadata"], world.tenants)

    world.apply(config_template())
    until(lambda: "templateGeneration" in world.tenants()[NAME]["spec"], world.tenants)
    until(lambda: f"{PREFIX}/hostOrUrl" not in world.tenants()[NAME]["metadata"]["annotations"])
    until(lambda: world.get("configmap", NAME)["data"]["host"] == "acme.example.com", world.tenants)
    until(lambda: world.get("secret", "acme-old") is None, world.tenants)
    taken = world.tenants()[NAME]
    assert taken["metadata"]["uid"] == uids["tenant"]
    assert world.get("configmap", NAME)["metadata"]["uid"] == uids["configmap"]
    assert "secrets" not in taken["spec"]
    assert taken["spec"]["configMaps"][0]["spec"]["data"]["host"] == "acme.example.com"
    assert "nameTemplate" not in taken["spec"]["configMaps"][0]
    until(lambda: world.condition("Degraded")["status"] == "", world.status)
    until(lambda: world.status().get("ready") == 1, world.status)
