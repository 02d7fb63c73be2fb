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


LYNQ = {
    "group": "operator.lynq.sh",
    "names": {"kind": "LynqNode", "plural": "lynqnodes"},
    "scope": "Namespaced",
}
LYNQ_VERSION = {
    "name": "v1",
    "served": True,
    "storage": True,
    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
}


def _create_lynq_objects(world: World) -> None:
    """A LynqNode, and the ConfigMap that Lynq has made of it, which the garbage collector would delete with it."""
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "lynqnodes.operator.lynq.sh"},
        "spec": {**LYNQ, "versions": [LYNQ_VERSION]},
    }
    world.apply(definition)
    world.kubectl("wait", "crd/lynqnodes.operator.lynq.sh", "--for=condition=Established", "--timeout=60s")
    node: Manifest = {"apiVersion": "operator.lynq.sh/v1", "kind": "LynqNode", "metadata": {"name": NAME}}
    world.apply(node)
    uid = world.get("lynqnode", NAME)["metadata"]["uid"]
    owner = {"apiVersion": node["apiVersion"], "kind": "LynqNode", "name": NAME, "uid": uid}
    metadata = {
        "name": NAME,
        "annotations": {"lynq.sh/deletion-policy": "Delete"},
        "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
    }
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"host": "old", "kept": "x"},
    }
    world.apply(made, manager="lynq-operator")


def test_objects_of_lynq_are_taken_over_with_force_and_outlive_its_nodes(
    world: World, customers: Customers
) -> None:
    _create_lynq_objects(world)
    before = world.get("configmap", NAME)["metadata"]["uid"]
    customers.add("acme")
    world.apply(sqlite_registry(), config_template())
    until(lambda: "LynqNode" in world.condition("Degraded", "tenant", NAME)["message"], world.tenants)
    assert world.get("configmap", NAME)["data"]["host"] == "old"

    forced = config_template()
    forced["spec"]["configMaps"][0]["conflictPolicy"] = "Force"
    world.apply(forced)
    until(lambda: world.get("configmap", NAME)["data"]["host"] == "acme.example.com", world.tenants)
    world.kubectl("delete", "lynqnode", NAME)
    taken = world.get("configmap", NAME)
    assert taken["metadata"]["uid"] == before
    assert [owner["kind"] for owner in taken["metadata"]["ownerReferences"]] == ["Tenant"]
    assert taken["data"]["kept"] == "x"
