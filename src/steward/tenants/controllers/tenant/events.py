"""The events of a Tenant: those whose condition was not true at the previous reconcile. Pure."""

from collections.abc import Sequence

from steward.kube.objects.conditions import READY, Conditions, is_true
from steward.kube.objects.kinds import Ref
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.tenants import reasons
from steward.tenants.controllers.tenant.state import WarningEvent
from steward.tenants.status.progress import ResourceProgress, ResourceState
from steward.tenants.status.tenant import CONFLICTED, DEGRADED, MAX_NAMED, TenantProblem


def progress_warnings(progress: Sequence[ResourceProgress]) -> frozenset[WarningEvent]:
    warnings = [
        WarningEvent(each.event_reason, f"{each.id}: {each.message}")
        for each in progress
        if each.event_reason
    ]
    return frozenset([*warnings, *(_despite_warning(each) for each in progress if each.failed_dependencies)])


def _despite_warning(progress: ResourceProgress) -> WarningEvent:
    failed = ", ".join(progress.failed_dependencies)
    message = f"{progress.id} is applied although {failed} failed"
    return WarningEvent(reasons.DEPENDENCY_FAILED_BUT_PROCEEDING, message)


def problem_warnings(problem: TenantProblem) -> frozenset[WarningEvent]:
    return frozenset({WarningEvent(problem.reason, problem.message)})


def warning_events(tenant: Ref, warnings: frozenset[WarningEvent], previous: frozenset[WarningEvent]) -> Plan:
    new = sorted(warnings - previous)
    return tuple(Emit(tenant, each.reason, each.message, EventType.WARNING) for each in new)


def warnings_before_start(
    warnings: frozenset[WarningEvent], conditions: Conditions
) -> frozenset[WarningEvent]:
    """After a start: if the status shows a failure already, an earlier process has emitted its events."""
    if is_true(conditions, DEGRADED) or is_true(conditions, CONFLICTED):
        return warnings
    return frozenset()


def ready_events(tenant: Ref, previous: Conditions, progress: Sequence[ResourceProgress]) -> Plan:
    is_ready = all(each.state is ResourceState.READY for each in progress)
    if not is_ready or is_true(previous, READY):
        return ()
    return (Emit(tenant, reasons.TENANT_READY, f"all {len(progress)} resources are ready"),)


def restored_events(tenant: Ref, restored: Sequence[Ref]) -> Plan:
    """One event for all objects of a reconcile."""
    if not restored:
        return ()
    named = ", ".join(map(str, restored[:MAX_NAMED]))
    more = f" and {len(restored) - MAX_NAMED} more" if len(restored) > MAX_NAMED else ""
    message = f"put back what others changed or deleted: {named}{more}"
    return (Emit(tenant, reasons.DRIFT_REVERTED, message),)
