"""The views of the kinds that the operator caches."""

from typing import Any

import msgspec

from steward.kube.objects.conditions import ConditionSummary
from steward.tenants.views import Tenant


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


def test_tenants_with_another_status_keep_their_own() -> None:
    ready, failed = (
        decoded("acme", "2026-01-01T00:00:00Z"),
        decoded("cobalt", "2026-01-01T00:00:00Z", "False"),
    )
    assert ready.status.conditions == (ConditionSummary("Ready", "True", "Reconciled"),)
    assert failed.status.conditions == (ConditionSummary("Ready", "False", "Reconciled"),)
