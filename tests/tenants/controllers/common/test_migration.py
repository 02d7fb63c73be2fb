"""What the Go operator wrote to its Tenants is removed."""

from typing import Any

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.runtime.plan.steps import Patch, Plan
from steward.tenants import labels
from steward.tenants.controllers.common.migration import remove_content_steps, remove_owner_steps
from steward.tenants.views import Tenant, TenantSpecSummary

REGISTRY = OwnerReference("operator.kubernetes-tenants.org/v1", "TenantRegistry", "prod", "r-1", True, True)
OTHER = OwnerReference("v1", "ConfigMap", "keeper", "c-1")


def tenant(**meta: Any) -> Tenant:
    return Tenant(ObjectMeta(name="acme-web-app", namespace="shop", resource_version="7", **meta))


def changes(plan: Plan) -> list[Any]:
    return [step.patch.changes for step in plan if isinstance(step, Patch)]  # type: ignore[union-attr]


def test_the_owner_reference_to_the_registry_is_removed_and_others_stay() -> None:
    (found,) = changes(remove_owner_steps([tenant(owner_references=(REGISTRY, OTHER)), tenant()]))
    assert [owner["name"] for owner in found["metadata"]["ownerReferences"]] == ["keeper"]
    assert found["metadata"]["resourceVersion"] == "7"
    assert "spec" not in found


def test_other_owner_references_are_not_changed() -> None:
    assert remove_owner_steps([tenant(owner_references=(OTHER,)), tenant()]) == ()


def test_row_values_are_removed_and_other_annotations_stay() -> None:
    left = {labels.HOST_OR_URL: "https://acme", labels.EXTRA: "{}", "note": "kept"}
    (found,) = changes(remove_content_steps(tenant(annotations=left)))
    assert found["metadata"]["annotations"] == {labels.HOST_OR_URL: None, labels.EXTRA: None}


def test_bodies_are_removed_from_unrendered_tenants_only() -> None:
    (found,) = changes(remove_content_steps(tenant()))
    assert len(found["spec"]) == 16
    assert found["spec"]["configMaps"] is None
    rendered = Tenant(tenant().metadata, TenantSpecSummary("acme", "web-app", template_generation=2))
    assert remove_content_steps(rendered) == ()
