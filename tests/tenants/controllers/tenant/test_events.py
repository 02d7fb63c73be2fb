"""Events of a Tenant: each when it begins to hold, and not at every reconcile."""

import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.runtime.plan.steps import Emit, Plan
from steward.tenants import reasons
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.tenant.events import (
    progress_warnings,
    ready_events,
    restored_events,
    warning_events,
    warnings_before_start,
)
from steward.tenants.controllers.tenant.state import WarningEvent
from steward.tenants.status.progress import ResourceProgress, ResourceState

ACME = Ref(TENANT_KIND, Key("shop", "acme"))
FAILED = ResourceProgress("a", ResourceState.FAILED, "no room", event_reason=reasons.APPLY_FAILED)
DESPITE = ResourceProgress("b", ResourceState.READY, failed_dependencies=("a",))
ALSO_DESPITE = ResourceProgress("c", ResourceState.READY, failed_dependencies=("a",))


def event_texts(plan: Plan) -> list[str]:
    return [f"{step.reason} {step.message}" for step in plan if isinstance(step, Emit)]


def test_each_warning_is_emitted_when_it_begins() -> None:
    first = progress_warnings([FAILED, DESPITE, ALSO_DESPITE])
    assert event_texts(warning_events(ACME, first, frozenset())) == [
        "ApplyFailed a: no room",
        "DependencyFailedButProceeding b is applied although a failed",
        "DependencyFailedButProceeding c is applied although a failed",
    ]
    assert warning_events(ACME, progress_warnings([FAILED, DESPITE, ALSO_DESPITE]), first) == ()
    assert warning_events(ACME, progress_warnings([DESPITE._replace(failed_dependencies=())]), first) == ()


@pytest.mark.parametrize(("type_", "is_known"), [("Degraded", True), ("Conflicted", True), ("Ready", False)])
def test_after_a_start_warnings_in_the_status_are_not_emitted_again(type_: str, is_known: bool) -> None:
    now = frozenset({WarningEvent("ApplyFailed", "a: no room")})
    shown = (Condition(type_, "True", "Any", ""),)
    assert warnings_before_start(now, shown) == (now if is_known else frozenset())


def test_ready_is_emitted_on_the_transition() -> None:
    not_yet = (Condition("Ready", "False", "Any", ""),)
    ready = (Condition("Ready", "True", "Any", ""),)
    assert event_texts(ready_events(ACME, not_yet, [DESPITE])) == ["TenantReady all 1 resources are ready"]
    assert ready_events(ACME, ready, [DESPITE]) == ()
    assert ready_events(ACME, not_yet, [DESPITE, FAILED]) == ()


def test_everything_that_is_put_back_is_one_event() -> None:
    changed = [Ref(CONFIG_MAP, Key("shop", f"c{number}")) for number in range(5)]
    assert restored_events(ACME, []) == ()
    assert event_texts(restored_events(ACME, changed[:1])) == [
        "DriftReverted put back what others changed or deleted: ConfigMap shop/c0"
    ]
    assert event_texts(restored_events(ACME, changed)) == [
        "DriftReverted put back what others changed or deleted: "
        "ConfigMap shop/c0, ConfigMap shop/c1, ConfigMap shop/c2 and 2 more"
    ]
