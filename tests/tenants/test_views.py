"""The views of the kinds that the operator caches."""

import sys
from typing import Any

import msgspec
import pytest

from steward.kube.objects.conditions import ConditionSummary
from steward.tenants.labels import TENANT
from steward.tenants.views import Tenant, TenantSecret, is_named_as_values


def decoded(name: str, transition: str, ready: str = "True") -> Tenant:
    condition = {"type": "Ready", "status": ready, "reason": "Reconciled", "lastTransitionTime": transition}
    body: dict[str, Any] = {
        "metadata": {"name": name},
        "spec": {"uid": name, "templateRef": "web"},
        "status": {"observedGeneration": 2, "readyResources": 5, "conditions": [condition]},
    }
    return msgspec.json.decode(msgspec.json.encode(body), type=Tenant)


def test_tenants_with_the_same_status_share_it_whenever_they_reached_it() -> None:
    one = decoded("acme", "2026-01-01T00:00:00Z")
    other = decoded("bluebird", "2026-01-01T00:05:00Z")
    assert one.status is other.status
    assert one.spec.uid != other.spec.uid


def test_a_tenant_shares_its_name_and_uids_with_its_labels_and_objects() -> None:
    metadata = {"name": "acme-web-of-many", "uid": "uid-of-acme"}
    body = {"metadata": metadata, "spec": {"uid": "acme-of-many"}}
    found = msgspec.json.decode(msgspec.json.encode(body), type=Tenant)
    assert found.metadata.name is sys.intern("-".join(("acme", "web", "of", "many")))
    assert found.metadata.uid is sys.intern("-".join(("uid", "of", "acme")))
    assert found.spec.uid is sys.intern("-".join(("acme", "of", "many")))


@pytest.mark.parametrize(("name", "owners"), [("acme-web-values", 0), ("acme-web-password", 1)])
def test_owner_references_are_kept_of_secrets_that_tenants_apply_and_not_of_values(
    name: str, owners: int
) -> None:
    owner = {"apiVersion": "v1", "kind": "Tenant", "name": "acme-web", "uid": "u"}
    metadata = {"name": name, "labels": {TENANT: "acme-web"}, "ownerReferences": [owner]}
    found = msgspec.json.decode(msgspec.json.encode({"metadata": metadata}), type=TenantSecret)
    assert len(found.metadata.owner_references) == owners
    assert is_named_as_values(found.metadata) is not bool(owners)


def test_tenants_with_another_status_keep_their_own() -> None:
    ready, failed = (
        decoded("acme", "2026-01-01T00:00:00Z"),
        decoded("cobalt", "2026-01-01T00:00:00Z", "False"),
    )
    assert ready.status.conditions == (ConditionSummary("Ready", "True", "Reconciled"),)
    assert failed.status.conditions == (ConditionSummary("Ready", "False", "Reconciled"),)
