from typing import Any

import msgspec
import pytest

from steward.tenants.api.tenant import AppliedObject, TenantStatus
from steward.tenants.status.progress import Progress, State
from steward.tenants.status.tenant import Before, Trouble, announced, is_urgent, leaving, status_of, troubled

NOW = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T01:00:00Z"
RECORD = AppliedObject(api_version="v1", kind="ConfigMap", namespace="saas", name="config", id="config")
READY = Progress("a", State.READY)


def before(status: dict[str, Any] | None = None, now: str = NOW) -> Before:
    return Before(msgspec.convert(status or {}, TenantStatus), 3, now)


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


@pytest.mark.parametrize(
    ("states", "ready", "degraded"),
    [
        ([State.READY], ("True", "Reconciled"), ("False", "Healthy")),
        ([], ("True", "Reconciled"), ("False", "Healthy")),
        ([State.WAITING], ("False", "NotAllResourcesReady"), ("False", "Healthy")),
        ([State.BLOCKED], ("False", "NotAllResourcesReady"), ("False", "Healthy")),
        ([State.FAILED], ("False", "ResourcesFailed"), ("True", "ResourceFailures")),
        ([State.DENIED], ("False", "PermissionDenied"), ("True", "PermissionDenied")),
        ([State.CONFLICTED], ("False", "ResourcesConflicted"), ("True", "ResourceConflicts")),
        (
            [State.CONFLICTED, State.FAILED],
            ("False", "ResourcesFailedAndConflicted"),
            ("True", "ResourceFailuresAndConflicts"),
        ),
    ],
)
def test_reasons_are_the_ones_that_scripts_know(
    states: list[State], ready: tuple[str, str], degraded: tuple[str, str]
) -> None:
    progress = [Progress(f"r{number}", state, "why") for number, state in enumerate(states)]
    found = conditions(status_of(before(), progress, []))
    assert (found["Ready"], found["Degraded"]) == (ready, degraded)


def test_what_belongs_to_somebody_else_counts_as_conflicted_and_as_failed() -> None:
    states = (State.READY, State.CONFLICTED, State.FAILED, State.SKIPPED, State.WAITING)
    progress = [Progress(f"r{number}", state) for number, state in enumerate(states)]
    found = status_of(before(), progress, [])
    names = ("desired", "ready", "failed", "conflicted", "skipped")
    assert [found[f"{name}Resources"] for name in names] == [5, 1, 2, 1, 1]
    assert found["skippedResourceIds"] == ["r3"]


def test_kstatus_sees_reconciling_while_something_is_under_way_and_stalled_when_nothing_is() -> None:
    waiting, failed = Progress("w", State.WAITING, "starts"), Progress("f", State.FAILED, "broke")
    assert {"Reconciling", "Stalled"} & conditions(status_of(before(), [READY], [])).keys() == set()
    assert "Reconciling" in conditions(status_of(before(), [waiting, failed], []))
    assert "Stalled" in conditions(status_of(before(), [READY, failed], []))


@pytest.mark.parametrize("state", State)
def test_the_same_world_twice_gives_the_same_status(state: State) -> None:
    progress = [READY, Progress("b", state, "why")]
    first = status_of(before(), progress, [RECORD])
    assert status_of(before(first, LATER), progress, [RECORD]) == first


def test_the_same_trouble_twice_gives_the_same_status() -> None:
    trouble = Trouble("TemplateRenderError", "no such variable")
    first = troubled(before(), trouble)
    assert troubled(before(first, LATER), trouble) == first


def test_a_tenant_that_takes_its_time_to_leave_has_not_failed_and_says_the_same_twice() -> None:
    stalled = troubled(before(), Trouble("ResourceFailures", "broke"))
    first = leaving(before(stalled), "waits until it is gone")
    found = conditions(first)
    assert (found["Ready"], found["Degraded"]) == (("False", "TenantDeleting"), ("False", "Healthy"))
    assert "Stalled" not in found
    assert leaving(before(first, LATER), "waits until it is gone") == first


def test_both_lists_of_objects_are_written() -> None:
    found = status_of(before(), [READY], [RECORD])
    assert found["appliedResources"] == ["ConfigMap/saas/config@config"]
    assert found["applied"][0]["apiVersion"] == "v1"


def test_what_is_announced_is_not_observed_and_not_ready() -> None:
    found = announced(before(), 1, [RECORD])
    assert "observedGeneration" not in found
    assert found["appliedResources"] == ["ConfigMap/saas/config@config"]
    assert conditions(found)["Ready"] == ("False", "NotAllResourcesReady")


def test_an_announcement_keeps_what_a_ready_tenant_says_until_its_objects_change() -> None:
    ready = status_of(before(), [READY], [RECORD])
    assert conditions(announced(before(ready), 2, [RECORD]))["Ready"] == ("True", "Reconciled")


def test_trouble_keeps_the_records_of_what_is_there() -> None:
    ready = status_of(before(), [READY], [RECORD])
    found = troubled(before(ready), Trouble("TemplateRenderError", "no entry for key"))
    assert found["appliedResources"] == ready["appliedResources"]
    assert conditions(found)["Degraded"] == ("True", "TemplateRenderError")
    assert found["failedResources"] == 1


def test_numbers_can_wait_and_a_change_of_standing_cannot() -> None:
    waiting = Progress("a", State.WAITING, "0 of 2")
    first = announced(before(), 1, [RECORD])
    under_way = status_of(before(first), [waiting], [RECORD])
    assert not is_urgent(before(first), under_way)
    assert not is_urgent(
        before(under_way), status_of(before(under_way), [waiting._replace(why="1")], [RECORD])
    )
    assert is_urgent(before(under_way), status_of(before(under_way), [READY], [RECORD]))
    failed = status_of(before(under_way), [Progress("a", State.FAILED, "late")], [RECORD])
    assert is_urgent(before(under_way), failed)
