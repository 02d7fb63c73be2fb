"""The Stalled condition of registries and templates."""

from steward.tenants.status.conditions import stalled_status

NOW = "2026-01-01T00:00:00Z"


def test_a_stall_keeps_the_rest_of_the_status() -> None:
    ready = {"type": "Ready", "status": "True", "reason": "Synced", "message": "", "lastTransitionTime": NOW}
    status = stalled_status({"ready": 3, "conditions": [ready]}, 2, "patch TenantRegistry is forbidden", NOW)
    assert status["ready"] == 3
    assert [condition["type"] for condition in status["conditions"]] == ["Ready", "Stalled"]
    stalled = status["conditions"][1]
    assert (stalled["status"], stalled["reason"]) == ("True", "ApplyFailed")
    assert stalled["message"] == "patch TenantRegistry is forbidden"
    assert stalled["observedGeneration"] == 2
