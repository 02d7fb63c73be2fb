from typing import Any

import msgspec
import pytest

from steward.tenants.api.tenant import AppliedObject, TenantStatus
from steward.tenants.objects.orphans import applied_ref, find_orphans, recorded_objects
from steward.tenants.status.progress import ResourceProgress, ResourceState
from steward.tenants.status.tenant import (
    MAX_LISTED,
    PreviousStatus,
    TenantProblem,
    deletion_status,
    initial_status,
    is_urgent,
    problem_status,
    tenant_status,
)

NOW = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T01:00:00Z"
RECORD = AppliedObject(api_version="v1", kind="ConfigMap", namespace="saas", name="config", id="config")
READY = ResourceProgress("a", ResourceState.READY)


def previous(status: dict[str, Any] | None = None, now: str = NOW) -> PreviousStatus:
    return PreviousStatus(msgspec.convert(status or {}, TenantStatus), 3, now)


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


@pytest.mark.parametrize(
    ("states", "ready", "degraded"),
    [
        ([ResourceState.READY], ("True", "Reconciled"), ("False", "Healthy")),
        ([], ("True", "Reconciled"), ("False", "Healthy")),
        ([ResourceState.WAITING], ("False", "NotAllResourcesReady"), ("False", "Healthy")),
        ([ResourceState.BLOCKED], ("False", "NotAllResourcesReady"), ("False", "Healthy")),
        ([ResourceState.FAILED], ("False", "ResourcesFailed"), ("True", "ResourceFailures")),
        ([ResourceState.DENIED], ("False", "PermissionDenied"), ("True", "PermissionDenied")),
        ([ResourceState.CONFLICTED], ("False", "ResourcesConflicted"), ("True", "ResourceConflicts")),
        (
            [ResourceState.CONFLICTED, ResourceState.FAILED],
            ("False", "ResourcesFailedAndConflicted"),
            ("True", "ResourceFailuresAndConflicts"),
        ),
    ],
)
def test_reasons_are_those_of_the_go_operator(
    states: list[ResourceState], ready: tuple[str, str], degraded: tuple[str, str]
) -> None:
    progress = [ResourceProgress(f"r{number}", state, "why") for number, state in enumerate(states)]
    found = conditions(tenant_status(previous(), progress, []))
    assert (found["Ready"], found["Degraded"]) == (ready, degraded)


def test_a_foreign_object_counts_as_conflicted_and_as_failed() -> None:
    states = (
        ResourceState.READY,
        ResourceState.CONFLICTED,
        ResourceState.FAILED,
        ResourceState.SKIPPED,
        ResourceState.WAITING,
    )
    progress = [ResourceProgress(f"r{number}", state) for number, state in enumerate(states)]
    found = tenant_status(previous(), progress, [])
    names = ("desired", "ready", "failed", "conflicted", "skipped")
    assert [found[f"{name}Resources"] for name in names] == [5, 1, 2, 1, 1]
    assert found["skippedResourceIds"] == ["r3"]


def test_reconciling_is_true_while_a_resource_waits_and_stalled_when_none_does() -> None:
    waiting, failed = (
        ResourceProgress("w", ResourceState.WAITING, "starts"),
        ResourceProgress("f", ResourceState.FAILED, "broke"),
    )
    assert {"Reconciling", "Stalled"} & conditions(tenant_status(previous(), [READY], [])).keys() == set()
    assert "Reconciling" in conditions(tenant_status(previous(), [waiting, failed], []))
    assert "Stalled" in conditions(tenant_status(previous(), [READY, failed], []))


@pytest.mark.parametrize("state", ResourceState)
def test_the_same_progress_gives_the_same_status(state: ResourceState) -> None:
    progress = [READY, ResourceProgress("b", state, "why")]
    first = tenant_status(previous(), progress, [RECORD])
    assert tenant_status(previous(first, LATER), progress, [RECORD]) == first


def test_the_same_problem_gives_the_same_status() -> None:
    problem = TenantProblem("TemplateRenderError", "no such variable")
    first = problem_status(previous(), problem)
    assert problem_status(previous(first, LATER), problem) == first


def test_a_slow_deletion_is_no_failure_and_gives_the_same_status() -> None:
    stalled = problem_status(previous(), TenantProblem("ResourceFailures", "broke"))
    first = deletion_status(previous(stalled), "waits until it is gone")
    found = conditions(first)
    assert (found["Ready"], found["Degraded"]) == (("False", "TenantDeleting"), ("False", "Healthy"))
    assert "Stalled" not in found
    assert deletion_status(previous(first, LATER), "waits until it is gone") == first


def test_a_denied_deletion_is_no_failure_and_says_why() -> None:
    found = deletion_status(previous(), "it is protected", "TenantDeletionDenied")
    assert conditions(found)["Ready"] == ("False", "TenantDeletionDenied")
    assert conditions(found)["Degraded"] == ("False", "Healthy")
    assert {each["message"] for each in found["conditions"] if each["type"] == "Ready"} == {"it is protected"}


def test_both_lists_of_objects_are_written() -> None:
    found = tenant_status(previous(), [READY], [RECORD])
    assert found["appliedResources"] == ["ConfigMap/saas/config@config"]
    assert found["applied"][0]["apiVersion"] == "v1"


def test_long_lists_are_cut_and_say_how_many_more_there_are() -> None:
    records = [msgspec.structs.replace(RECORD, name=f"c{number}") for number in range(MAX_LISTED + 3)]
    skipped = [ResourceProgress(f"r{number}", ResourceState.SKIPPED) for number in range(MAX_LISTED + 3)]
    found = tenant_status(previous(), skipped, records)
    assert len(found["appliedResources"]) == len(found["skippedResourceIds"]) == MAX_LISTED
    assert (found["appliedResourcesOmitted"], found["skippedResources"]) == (3, MAX_LISTED + 3)
    assert len(found["applied"]) == MAX_LISTED + 3
    for later in (
        initial_status(previous(found), 1, [RECORD]),
        tenant_status(previous(found), [READY], [RECORD]),
    ):
        assert "appliedResourcesOmitted" not in later


def test_objects_that_the_short_list_omits_are_no_orphans() -> None:
    records = [msgspec.structs.replace(RECORD, name=f"c{number}") for number in range(MAX_LISTED + 3)]
    found = tenant_status(previous(), [READY], records)
    recorded = recorded_objects(records, found["appliedResources"])
    assert find_orphans(recorded, [applied_ref(each) for each in records]) == ()
    assert len(recorded) == len(records)


def test_the_initial_status_is_not_observed_and_not_ready() -> None:
    found = initial_status(previous(), 1, [RECORD])
    assert "observedGeneration" not in found
    assert found["appliedResources"] == ["ConfigMap/saas/config@config"]
    assert conditions(found)["Ready"] == ("False", "NotAllResourcesReady")


def test_the_initial_status_keeps_a_ready_tenant_ready() -> None:
    ready = tenant_status(previous(), [READY], [RECORD])
    assert conditions(initial_status(previous(ready), 2, [RECORD]))["Ready"] == ("True", "Reconciled")


def test_a_problem_keeps_the_records_of_applied_objects() -> None:
    ready = tenant_status(previous(), [READY], [RECORD])
    found = problem_status(previous(ready), TenantProblem("TemplateRenderError", "no entry for key"))
    assert found["appliedResources"] == ready["appliedResources"]
    assert conditions(found)["Degraded"] == ("True", "TemplateRenderError")
    assert found["failedResources"] == 1


def test_changed_counts_are_not_urgent_and_changed_conditions_are() -> None:
    waiting = ResourceProgress("a", ResourceState.WAITING, "0 of 2")
    first = initial_status(previous(), 1, [RECORD])
    unfinished = tenant_status(previous(first), [waiting], [RECORD])
    assert not is_urgent(previous(first), unfinished)
    assert not is_urgent(
        previous(unfinished), tenant_status(previous(unfinished), [waiting._replace(message="1")], [RECORD])
    )
    assert is_urgent(previous(unfinished), tenant_status(previous(unfinished), [READY], [RECORD]))
    failed = tenant_status(
        previous(unfinished), [ResourceProgress("a", ResourceState.FAILED, "late")], [RECORD]
    )
    assert is_urgent(previous(unfinished), failed)
