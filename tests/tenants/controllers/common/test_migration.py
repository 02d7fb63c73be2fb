"""What the operator before us left on its Tenants."""

from typing import Any

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.runtime.plan.steps import Patch, Plan
from steward.tenants import labels
from steward.tenants.controllers.common.migration import without_former_content, without_former_owner
from steward.tenants.views import Tenant, TenantSpecSummary

REGISTRY = OwnerReference("operator.kubernetes-tenants.org/v1", "TenantRegistry", "prod", "r-1", True, True)
OTHER = OwnerReference("v1", "ConfigMap", "keeper", "c-1")


def tenant(**meta: Any) -> Tenant:
    return Tenant(ObjectMeta(name="acme-web-app", namespace="shop", resource_version="7", **meta))


def changes(plan: Plan) -> list[Any]:
    return [step.patch.changes for step in plan if isinstance(step, Patch)]  # type: ignore[union-attr]


def test_the_owner_reference_to_the_registry_goes_and_others_stay() -> None:
    (found,) = changes(without_former_owner([tenant(owner_references=(REGISTRY, OTHER)), tenant()]))
    assert [owner["name"] for owner in found["metadata"]["ownerReferences"]] == ["keeper"]
    assert found["metadata"]["resourceVersion"] == "7"
    assert "spec" not in found


def test_a_tenant_that_somebody_else_owns_is_left_alone() -> None:
    assert without_former_owner([tenant(owner_references=(OTHER,)), tenant()]) == ()


def test_row_values_go_and_other_annotations_stay() -> None:
    left = {labels.HOST_OR_URL: "https://acme", labels.EXTRA: "{}", "note": "kept"}
    (found,) = changes(without_former_content(tenant(annotations=left)))
    assert found["metadata"]["annotations"] == {labels.HOST_OR_URL: None, labels.EXTRA: None}


def test_bodies_go_from_a_tenant_that_was_never_rendered_and_from_no_other() -> None:
    (found,) = changes(without_former_content(tenant()))
    assert len(found["spec"]) == 16
    assert found["spec"]["configMaps"] is None
    rendered = Tenant(tenant().metadata, TenantSpecSummary("acme", "web-app", template_generation=2))
    assert without_former_content(rendered) == ()
