"""Orphans: found by the records of the status, deleted or kept by the annotations of the object."""

import pytest

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.objects.orphans import (
    AppliedRef,
    OrphanAction,
    TenantOwner,
    adoption_patch,
    find_orphans,
    orphan_action,
    orphan_patch,
    parse_key,
    recorded_objects,
)

K = "kubernetes-tenants.org"
OWNER = TenantOwner("acme-web", "shop", "uid-1")
TRACKED = {f"{K}/tenant": "acme-web", f"{K}/tenant-namespace": "shop"}
OURS = OwnerReference(api_version="x/v1", kind="Tenant", name="acme-web", uid="uid-1", controller=True)
OTHER = OwnerReference(api_version="v1", kind="Other", name="o", uid="uid-2")


def config(name: str, identifier: str = "config") -> AppliedRef:
    return AppliedRef("v1", "ConfigMap", "shop", name, identifier)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("Deployment/default/myapp@app", AppliedRef("apps/v1", "Deployment", "default", "myapp", "app")),
        ("PodDisruptionBudget/a/b@c", AppliedRef("policy/v1", "PodDisruptionBudget", "a", "b", "c")),
        (
            "HorizontalPodAutoscaler/a/b@c",
            AppliedRef("autoscaling/v2", "HorizontalPodAutoscaler", "a", "b", "c"),
        ),
        ("NetworkPolicy/a/b@c", AppliedRef("networking.k8s.io/v1", "NetworkPolicy", "a", "b", "c")),
        ("Widget/a/b@c", AppliedRef("", "Widget", "a", "b", "c")),
        ("Namespace//b@c", AppliedRef("v1", "Namespace", "", "b", "c")),
        ("ConfigMap/a/b@odd/id@x", AppliedRef("v1", "ConfigMap", "a", "b", "odd/id@x")),
        ("ConfigMap/a/{{ .uid }}@c", None),
        ("ConfigMap/{{ .uid }}/a@c", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_key_is_parsed_to_kind_namespace_name_and_id(key: str, found: AppliedRef | None) -> None:
    assert parse_key(key) == found
    if found is not None:
        assert found.key == key


def test_the_full_record_is_preferred_to_the_key() -> None:
    applied = [AppliedObject(api_version="x.io/v2", kind="Widget", namespace="a", name="b", id="c")]
    assert recorded_objects(applied, ["Widget/a/b@c", "Widget/a/d@c"]) == (
        AppliedRef("x.io/v2", "Widget", "a", "b", "c"),
        AppliedRef("", "Widget", "a", "d", "c"),
    )


def test_an_object_that_is_no_longer_desired_is_an_orphan() -> None:
    assert find_orphans([config("a"), config("b")], [config("b")]) == (config("a"),)


def test_an_object_that_is_desired_under_another_id_is_no_orphan() -> None:
    assert find_orphans([config("a", "old")], [config("a", "new")]) == ()


@pytest.mark.parametrize("version", ["networking.k8s.io/v1beta1", ""])
def test_another_version_of_the_same_group_is_the_same_object(version: str) -> None:
    before = AppliedRef(version, "Ingress", "shop", "a", "x")
    assert find_orphans([before], [AppliedRef("networking.k8s.io/v1", "Ingress", "shop", "a", "x")]) == ()


def test_the_same_kind_of_another_group_is_another_object() -> None:
    before = AppliedRef("a.example/v1", "Widget", "shop", "a", "x")
    assert find_orphans([before], [before._replace(api_version="b.example/v1")]) == (before,)


@pytest.mark.parametrize(
    ("meta", "action"),
    [
        (ObjectMeta(labels=TRACKED), OrphanAction.DELETE),
        (ObjectMeta(owner_references=(OURS,)), OrphanAction.DELETE),
        (ObjectMeta(labels=TRACKED, annotations={f"{K}/deletion-policy": "Delete"}), OrphanAction.DELETE),
        (ObjectMeta(labels=TRACKED, annotations={f"{K}/deletion-policy": "Retain"}), OrphanAction.RETAIN),
        (ObjectMeta(), OrphanAction.IGNORE),
        (ObjectMeta(owner_references=(OTHER,)), OrphanAction.IGNORE),
        (ObjectMeta(labels={**TRACKED, f"{K}/tenant": "other-web"}), OrphanAction.IGNORE),
        (ObjectMeta(labels={f"{K}/tenant": "acme-web"}), OrphanAction.IGNORE),
        (ObjectMeta(labels={f"{K}/orphaned": "true"}), OrphanAction.IGNORE),
        (ObjectMeta(labels=TRACKED, deletion_timestamp="2026-01-01T00:00:00Z"), OrphanAction.IGNORE),
    ],
)
def test_only_objects_of_the_tenant_are_deleted_or_retained(meta: ObjectMeta, action: OrphanAction) -> None:
    assert orphan_action(meta, OWNER) is action


def test_a_retained_object_gets_the_orphan_label_and_annotations() -> None:
    meta = ObjectMeta(resource_version="7", labels=TRACKED, owner_references=(OURS, OTHER))
    assert orphan_patch(meta, OWNER, "RemovedFromTemplate", 0.0) == {
        "metadata": {
            "resourceVersion": "7",
            "labels": {f"{K}/tenant": None, f"{K}/tenant-namespace": None, f"{K}/orphaned": "true"},
            "annotations": {
                f"{K}/orphaned-at": "1970-01-01T00:00:00Z",
                f"{K}/orphaned-from": OWNER.namespace,
                f"{K}/orphaned-reason": "RemovedFromTemplate",
            },
            "ownerReferences": [{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "uid-2"}],
        }
    }


def test_owner_references_are_not_patched_where_none_is_the_tenants() -> None:
    patch = orphan_patch(ObjectMeta(labels=TRACKED, owner_references=(OTHER,)), OWNER, "TenantDeleted", 0.0)
    assert "ownerReferences" not in patch["metadata"]


def test_an_adopted_object_loses_its_orphan_label_and_annotations() -> None:
    meta = ObjectMeta(
        labels={f"{K}/orphaned": "true", "app": "x"},
        annotations={f"{K}/orphaned-at": "t", f"{K}/orphaned-from": "n", f"{K}/orphaned-reason": "r"},
    )
    assert adoption_patch(meta) == {
        "metadata": {
            "labels": {f"{K}/orphaned": None},
            "annotations": dict.fromkeys(f"{K}/orphaned-{mark}" for mark in ("at", "from", "reason")),
        }
    }
    assert adoption_patch(ObjectMeta(labels=TRACKED)) is None
