"""The steps of the Tenant controller, as a preview shows them."""

from typing import Any

import pytest

from steward.cli.preview.registry import waiting_entries
from steward.cli.preview.tenant_objects import (
    Conflicting,
    object_step,
    objects_of_deleted,
    tenant_document,
    tenant_outlines,
    tenant_problem,
    written_tenants,
)
from steward.kube.objects.kinds import Key, Manifest
from steward.runtime.plan.dry_run import DryRunOutcome, DryRunResult
from steward.runtime.plan.steps import Apply, Create, Patch
from steward.tenants.api.template import RolloutStatus
from steward.tenants.labels import CREATED_ONCE, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects, resources_of
from steward.tenants.rendering.secret_payload import SecretPayload

BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "page"}, "data": {"a": "1"}}


def tenant(generation: int = 2, **spec: Any) -> Manifest:
    return {
        "apiVersion": "operator.kubernetes-tenants.org/v1",
        "kind": "Tenant",
        "metadata": {
            "name": "acme-web",
            "namespace": "saas",
            "annotations": {"kubernetes-tenants.org/template-generation": str(generation)},
        },
        "spec": {"uid": "acme", "templateRef": "web", "templateGeneration": generation, **spec},
    }


def page(**policies: Any) -> dict[str, Any]:
    return {"id": "page", "spec": BODY, **policies}


def desired(**policies: Any) -> DesiredObject:
    document = tenant_document(tenant(configMaps=[page(**policies)]), None)
    scope = ObjectScope(document.owner, frozenset(), SecretPayload())
    [found] = desired_objects(resources_of(document.spec), scope)
    return found


def live(**annotations: str) -> Manifest:
    labels = {TENANT: "acme-web", TENANT_NAMESPACE: "saas"}
    metadata = {"name": "page", "namespace": "saas", "uid": "u", "resourceVersion": "7"}
    return {**BODY, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def foreign() -> Manifest:
    return {**live(), "metadata": {**live()["metadata"], "labels": {}}}


def step(found: Manifest | None, **policies: Any) -> Any:
    return object_step(desired(**policies), found, tenant_document(tenant(), None))


def test_a_missing_object_is_created() -> None:
    assert isinstance(step(None), Apply)
    assert isinstance(step(None, patchStrategy="merge"), Create)


def test_an_object_of_the_tenant_is_written_by_its_patch_strategy() -> None:
    assert isinstance(step(live()), Apply)
    assert not step(live()).force
    assert step(live(), conflictPolicy="Force").force
    assert isinstance(step(live(), patchStrategy="merge"), Patch)
    assert isinstance(step(live(), patchStrategy="replace"), Patch)


def test_an_object_that_is_created_once_is_left_alone() -> None:
    assert step(live(**{CREATED_ONCE: "true"}), creationPolicy="Once") is None


def test_a_foreign_object_is_taken_only_by_force() -> None:
    found = step(foreign())
    assert isinstance(found, Conflicting)
    assert "exists with different owner" in found.message
    assert isinstance(step(foreign(), conflictPolicy="Force"), Apply)


def test_ignored_fields_are_not_applied_to_a_live_object() -> None:
    assert step(live(), ignoreFields=["$.data.a"]).manifest.get("data", {}) == {}


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"configMaps": [page()]}, ""),
        (
            {"renderFailure": {"resource": "page", "field": "spec.x", "line": 1, "message": "no y\n  1 | z"}},
            "cannot be rendered: TenantTemplate web, resource 'page', spec.x: no y; the objects that it has stay",
        ),
        ({"configMaps": [page(dependIds=["page"])]}, "has a dependency cycle: page -> page"),
        ({"configMaps": [{"id": "page", "spec": {"kind": "ConfigMap"}}]}, "cannot be read: resource 'page'"),
    ],
)
def test_a_tenant_that_cannot_be_applied_has_a_problem(spec: dict[str, Any], problem: str) -> None:
    found = tenant_problem(tenant_document(tenant(**spec), None))
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_a_tenant_has_only_policies_of_its_own_to_show() -> None:
    before, after = tenant(2, configMaps=[page()]), tenant(3, configMaps=[{**page(), "spec": {}}])
    assert len({str(each) for each in tenant_outlines(before, after)}) == 1
    policy = tenant(3, configMaps=[page(timeoutSeconds=5)], secrets=[{"id": "new", "spec": {}}])
    old, new = tenant_outlines(before, policy)
    assert (old["spec"]["configMaps"], new["spec"]["configMaps"]) == (
        [{"id": "page"}],
        [{"id": "page", "timeoutSeconds": 5}],
    )
    assert "secrets" not in new["spec"]


def test_objects_of_a_deleted_tenant_are_deleted_unless_their_policy_retains_them() -> None:
    def applied(name: str) -> dict[str, str]:
        return {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "saas", "name": name, "id": name}

    found = tenant(configMaps=[{"id": "kept", "deletionPolicy": "Retain"}, {"id": "page"}])
    found["status"] = {"applied": [applied("kept"), applied("page")]}
    assert [(each.ref.key.name, each.is_retained) for each in objects_of_deleted(found)] == [
        ("kept", True),
        ("page", False),
    ]


def test_tenants_that_wait_for_max_skew_are_counted() -> None:
    status = RolloutStatus("InProgress", total_nodes=12, updated_nodes=3)
    template = Key("saas", "web")
    [found] = waiting_entries({template: status}, {"web": 1})
    assert (found.outcome, found.amount, found.counted_kind) == (DryRunOutcome.DEFERRED, 8, "Tenant")
    assert found.message.startswith("8 of 12 Tenants wait until others of the template are ready, as maxSkew")
    assert waiting_entries({template: status}, {"web": 9}) == []
    assert (
        waiting_entries({template: RolloutStatus("Complete", total_nodes=2), Key("a", "b"): None}, {}) == []
    )


def test_tenants_that_get_another_generation_are_counted_by_template() -> None:
    changed = DryRunResult(Apply(tenant(3)), DryRunOutcome.CHANGE, tenant(2), tenant(3))
    same = DryRunResult(Apply(tenant(3)), DryRunOutcome.CHANGE, tenant(3), tenant(3))
    created = DryRunResult(Apply(tenant(3)), DryRunOutcome.CREATE, None, tenant(3))
    assert written_tenants([changed, same, created]) == {"web": 2}
