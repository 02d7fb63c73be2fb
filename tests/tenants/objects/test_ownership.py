"""Which objects and fields belong to a Tenant, and the messages for those that do not."""

from typing import Any

import pytest

from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import CONFIG_MAP, Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.tenants.labels import FIELD_MANAGER, ORPHANED, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.objects.ownership import (
    UNKNOWN_MANAGER,
    contested_object_message,
    field_conflict_message,
    field_managers,
    foreign_managers,
    may_touch,
    object_conflict_message,
    release_patch,
)

OWNER = TenantOwner("acme", "saas", "uid-1")
REF = Ref(CONFIG_MAP, Key("saas", "config"))
SCALED: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
MARKED: dict[str, Any] = {"f:metadata": {"f:annotations": {".": {}, "f:example.com/note": {}}}}
LISTED: dict[str, Any] = {"f:spec": {"f:ports": {'k:{"port":81,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}


def meta(labels: dict[str, str] | None = None, *owners: OwnerReference) -> ObjectMeta:
    return ObjectMeta(name="config", namespace="saas", labels=labels or {}, owner_references=owners)


def test_labels_owner_references_and_the_orphan_label_decide_who_may_change_an_object() -> None:
    ours = {TENANT: "acme", TENANT_NAMESPACE: "saas"}
    theirs = {TENANT: "other", TENANT_NAMESPACE: "saas"}
    assert may_touch(meta(ours), OWNER)
    assert may_touch(meta({}, OwnerReference(uid="uid-1")), OWNER)
    assert may_touch(meta({ORPHANED: "true"}), OWNER)
    assert not may_touch(meta(theirs), OWNER)
    assert not may_touch(meta({**theirs, ORPHANED: "true"}), OWNER)
    assert not may_touch(meta(), OWNER)


def test_a_taken_object_loses_lynq_nodes_as_owners_and_keeps_the_others() -> None:
    lynq = OwnerReference("operator.lynq.sh/v1", "LynqNode", "acme", "u1", controller=True)
    other = OwnerReference("v1", "ConfigMap", "root", "u2", block_owner_deletion=True)
    meta = ObjectMeta(name="c", resource_version="7", owner_references=(lynq, other))
    kept = {"apiVersion": "v1", "kind": "ConfigMap", "name": "root", "uid": "u2", "blockOwnerDeletion": True}
    assert release_patch(meta) == {"metadata": {"resourceVersion": "7", "ownerReferences": [kept]}}
    assert release_patch(ObjectMeta(name="c", owner_references=(other,))) is None
    assert release_patch(ObjectMeta(name="c")) is None


def test_a_conflict_names_the_owner_and_the_cure() -> None:
    tenant = object_conflict_message(REF, meta({TENANT: "other", TENANT_NAMESPACE: "saas"}), "saas")
    assert tenant.startswith("Resource config exists with different owner: ConfigMap saas/config belongs to")
    assert "Tenant saas/other" in tenant
    assert tenant.endswith("Check the namespace, review nameTemplate, or set conflictPolicy: Force")
    owned = object_conflict_message(
        REF, meta({}, OwnerReference(kind="Helm", name="x", controller=True)), "saas"
    )
    assert "belongs to Helm x" in owned


def test_a_conflict_does_not_name_tenants_of_other_namespaces() -> None:
    theirs = meta({TENANT: "other", TENANT_NAMESPACE: "else"})
    for message in (
        object_conflict_message(REF, theirs, "saas"),
        contested_object_message(REF, theirs, "saas"),
    ):
        assert "a Tenant of another namespace" in message
        assert "else" not in message
        assert "other " not in message.replace("another", "")


def test_a_contested_object_names_the_other_owner() -> None:
    message = contested_object_message(REF, meta({TENANT: "other", TENANT_NAMESPACE: "saas"}), "saas")
    assert "Tenant saas/other takes ConfigMap saas/config again and again" in message
    assert message.endswith("leave conflictPolicy: Force to one of them")


def conflict(*managers: tuple[str, str]) -> FieldConflict:
    error = FieldConflict(409, "Conflict", "conflict")
    error.managers = managers
    return error


def test_managers_of_this_operator_are_not_foreign() -> None:
    error = conflict(("tenant-operator", ".a"), ("tenant-operator-seed", ".b"), ("kubectl", ".c"))
    assert foreign_managers(error) == (("kubectl", ".c"),)
    assert ".c belongs to kubectl" in field_conflict_message(REF, error)
    assert "ignoreFields" in field_conflict_message(REF, error)


def live(*entries: dict[str, Any]) -> Manifest:
    return {"metadata": {"managedFields": list(entries)}}


def entry(manager: str, minute: int, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"manager": manager, "time": f"2026-01-01T00:{minute:02}:00Z", "fieldsV1": fields, **more}


@pytest.mark.parametrize(
    ("path", "manager"),
    [
        (".spec.replicas", "scaler"),
        (".metadata.annotations.example.com/note", "marker"),
        (".metadata.annotations.example.com/other", "latest"),
        (".spec.ports[0].port", "editor"),
        (".spec.ports", "editor"),
        (".data", "latest"),
    ],
)
def test_the_manager_is_the_owner_of_the_field_or_the_latest_writer(path: str, manager: str) -> None:
    found = live(
        entry("scaler", 1, SCALED, subresource="scale"),
        entry("marker", 2, MARKED),
        entry("editor", 3, LISTED),
        entry("latest", 4, {"f:data": {"f:theirs": {}}}),
        entry("reporter", 5, {"f:status": {}}, subresource="status"),
        entry(FIELD_MANAGER, 6, SCALED),
    )
    assert field_managers(found, [path]) == ((manager, path),)


def test_the_latest_of_two_owners_is_the_manager() -> None:
    found = live(entry("late", 2, SCALED), entry("early", 1, SCALED))
    assert field_managers(found, [".spec.replicas"]) == (("late", ".spec.replicas"),)


@pytest.mark.parametrize("found", [{"metadata": {}}, live(entry(FIELD_MANAGER, 1, SCALED))])
def test_without_entries_the_manager_is_unknown(found: Manifest) -> None:
    assert field_managers(found, [".spec.replicas"]) == ((UNKNOWN_MANAGER, ".spec.replicas"),)
