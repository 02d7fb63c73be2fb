"""What is no longer wanted: found by what was written down, decided by what the object says of itself."""

import pytest

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.objects.orphans import (
    Applied,
    Fate,
    Owner,
    adoption_patch,
    fate_of,
    find_orphans,
    orphan_patch,
    parse_key,
    recorded,
)

K = "kubernetes-tenants.org"
OWNER = Owner("acme-web", "shop", "uid-1")
TRACKED = {f"{K}/tenant": "acme-web", f"{K}/tenant-namespace": "shop"}
OURS = OwnerReference(api_version="x/v1", kind="Tenant", name="acme-web", uid="uid-1", controller=True)
OTHER = OwnerReference(api_version="v1", kind="Other", name="o", uid="uid-2")


def config(name: str, identifier: str = "config") -> Applied:
    return Applied("v1", "ConfigMap", "shop", name, identifier)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("Deployment/default/myapp@app", Applied("apps/v1", "Deployment", "default", "myapp", "app")),
        ("PodDisruptionBudget/a/b@c", Applied("policy/v1", "PodDisruptionBudget", "a", "b", "c")),
        (
            "HorizontalPodAutoscaler/a/b@c",
            Applied("autoscaling/v2", "HorizontalPodAutoscaler", "a", "b", "c"),
        ),
        ("NetworkPolicy/a/b@c", Applied("networking.k8s.io/v1", "NetworkPolicy", "a", "b", "c")),
        ("Widget/a/b@c", Applied("", "Widget", "a", "b", "c")),
        ("Namespace//b@c", Applied("v1", "Namespace", "", "b", "c")),
        ("ConfigMap/a/b@odd/id@x", Applied("v1", "ConfigMap", "a", "b", "odd/id@x")),
        ("ConfigMap/a/{{ .uid }}@c", None),
        ("ConfigMap/{{ .uid }}/a@c", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_key_tells_kind_namespace_name_and_id(key: str, found: Applied | None) -> None:
    assert parse_key(key) == found
    if found is not None:
        assert found.key == key


def test_the_full_record_wins_over_the_key() -> None:
    applied = [AppliedObject(api_version="x.io/v2", kind="Widget", namespace="a", name="b", id="c")]
    assert recorded(applied, ["Widget/a/b@c", "Widget/a/d@c"]) == (
        Applied("x.io/v2", "Widget", "a", "b", "c"),
        Applied("", "Widget", "a", "d", "c"),
    )


def test_what_is_no_longer_wanted_is_an_orphan() -> None:
    assert find_orphans([config("a"), config("b")], [config("b")]) == (config("a"),)


def test_an_object_that_is_wanted_under_another_id_is_none() -> None:
    assert find_orphans([config("a", "old")], [config("a", "new")]) == ()


@pytest.mark.parametrize("version", ["networking.k8s.io/v1beta1", ""])
def test_another_version_of_the_same_group_is_the_same_object(version: str) -> None:
    before = Applied(version, "Ingress", "shop", "a", "x")
    assert find_orphans([before], [Applied("networking.k8s.io/v1", "Ingress", "shop", "a", "x")]) == ()


def test_the_same_kind_of_another_group_is_another_object() -> None:
    before = Applied("a.example/v1", "Widget", "shop", "a", "x")
    assert find_orphans([before], [before._replace(api_version="b.example/v1")]) == (before,)


@pytest.mark.parametrize(
    ("meta", "fate"),
    [
        (ObjectMeta(labels=TRACKED), Fate.DELETE),
        (ObjectMeta(owner_references=(OURS,)), Fate.DELETE),
        (ObjectMeta(labels=TRACKED, annotations={f"{K}/deletion-policy": "Delete"}), Fate.DELETE),
        (ObjectMeta(labels=TRACKED, annotations={f"{K}/deletion-policy": "Retain"}), Fate.RETAIN),
        (ObjectMeta(), Fate.LEAVE),
        (ObjectMeta(owner_references=(OTHER,)), Fate.LEAVE),
        (ObjectMeta(labels={**TRACKED, f"{K}/tenant": "other-web"}), Fate.LEAVE),
        (ObjectMeta(labels={f"{K}/tenant": "acme-web"}), Fate.LEAVE),
        (ObjectMeta(labels={f"{K}/orphaned": "true"}), Fate.LEAVE),
        (ObjectMeta(labels=TRACKED, deletion_timestamp="2026-01-01T00:00:00Z"), Fate.LEAVE),
    ],
)
def test_only_what_says_that_it_is_ours_is_touched(meta: ObjectMeta, fate: Fate) -> None:
    assert fate_of(meta, OWNER) is fate


def test_a_retained_object_is_let_go_with_its_marks() -> None:
    meta = ObjectMeta(resource_version="7", labels=TRACKED, owner_references=(OURS, OTHER))
    assert orphan_patch(meta, OWNER, "RemovedFromTemplate", 0.0) == {
        "metadata": {
            "resourceVersion": "7",
            "labels": {f"{K}/tenant": None, f"{K}/tenant-namespace": None, f"{K}/orphaned": "true"},
            "annotations": {
                f"{K}/orphaned-at": "1970-01-01T00:00:00Z",
                f"{K}/orphaned-reason": "RemovedFromTemplate",
            },
            "ownerReferences": [{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "uid-2"}],
        }
    }


def test_owners_are_not_mentioned_where_none_is_ours() -> None:
    patch = orphan_patch(ObjectMeta(labels=TRACKED, owner_references=(OTHER,)), OWNER, "TenantDeleted", 0.0)
    assert "ownerReferences" not in patch["metadata"]


def test_an_object_that_is_wanted_again_loses_its_marks() -> None:
    meta = ObjectMeta(
        labels={f"{K}/orphaned": "true", "app": "x"},
        annotations={f"{K}/orphaned-at": "t", f"{K}/orphaned-reason": "r"},
    )
    assert adoption_patch(meta) == {
        "metadata": {
            "labels": {f"{K}/orphaned": None},
            "annotations": {f"{K}/orphaned-at": None, f"{K}/orphaned-reason": None},
        }
    }
    assert adoption_patch(ObjectMeta(labels=TRACKED)) is None
