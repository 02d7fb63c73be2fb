"""Until a Tenant has a status, its spec and what this process has applied are its records."""

from typing import Any

import msgspec

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.resource import TResource
from steward.tenants.api.tenant import TenantSpec, TenantStatus
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.records import recorded_document
from steward.tenants.controllers.tenant.state import TenantState
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.rendering.secret_payload import SecretPayload
from tests.tenants.support.fleet import config_map, resource

OWNER = TenantOwner("acme", "shop", "t")
READY = {"type": "Ready", "status": "True", "reason": "R", "message": "", "lastTransitionTime": ""}
NOT_OBSERVED = {"observedGeneration": -1}


def desired(*names: str) -> tuple[DesiredObject, ...]:
    given = [msgspec.convert(resource(name, config_map(name)), TResource) for name in names]
    return tuple(desired_objects(given, ObjectScope(OWNER, (), SecretPayload())))


def document(status: dict[str, Any]) -> TenantDocument:
    meta = ObjectMeta(name="acme", namespace="shop", uid="t", generation=1)
    spec = TenantSpec(uid="acme", template_ref="web", template_generation=1)
    return TenantDocument(meta, spec, msgspec.convert(status, TenantStatus))


def recorded_names(found: TenantDocument) -> list[str]:
    return [each.name for each in found.recorded_objects]


def test_the_objects_of_the_spec_are_recorded_before_the_first_status() -> None:
    found = recorded_document(document(NOT_OBSERVED), TenantState("t"), desired("a", "b"))
    assert recorded_names(found) == ["a", "b"]
    assert not found.is_reported


def test_objects_that_this_process_applied_stay_recorded_when_the_spec_drops_them() -> None:
    state = TenantState("t")
    state.records = {each.ref: each.applied_object() for each in desired("dropped")}
    found = recorded_document(document(NOT_OBSERVED), state, desired("kept"))
    assert recorded_names(found) == ["kept", "dropped"]


def test_a_status_is_the_only_record() -> None:
    reported = document({"conditions": [READY]})
    assert recorded_document(reported, TenantState("t"), desired("a")) == reported
