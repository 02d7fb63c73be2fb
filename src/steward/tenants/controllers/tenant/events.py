"""Which events a look at a Tenant is worth: those that were not true at the last one. Pure."""

from collections.abc import Sequence

from steward.kube.objects.conditions import READY, Conditions, is_true
from steward.kube.objects.kinds import Ref
from steward.runtime.plan.steps import Emit, EventType, Plan
from steward.tenants import reasons
from steward.tenants.controllers.tenant.state import Told
from steward.tenants.status.progress import Progress, State
from steward.tenants.status.tenant import CONFLICTED, DEGRADED, Trouble


def troubles_of(progress: Sequence[Progress]) -> frozenset[Told]:
    troubles = [Told(each.event, f"{each.id}: {each.why}") for each in progress if each.event]
    return frozenset([*troubles, *(_despite(each) for each in progress if each.despite)])


def _despite(progress: Progress) -> Told:
    failed = ", ".join(progress.despite)
    return Told(
        reasons.DEPENDENCY_FAILED_BUT_PROCEEDING, f"{progress.id} is applied although {failed} failed"
    )


def trouble_told(trouble: Trouble) -> frozenset[Told]:
    return frozenset({Told(trouble.reason, trouble.message)})


def events_of(tenant: Ref, now: frozenset[Told], before: frozenset[Told]) -> Plan:
    return tuple(Emit(tenant, each.reason, each.message, EventType.WARNING) for each in sorted(now - before))


def told_before(now: frozenset[Told], conditions: Conditions) -> frozenset[Told]:
    """After a start: what the status already shows was told by an earlier life of ours."""
    if is_true(conditions, DEGRADED) or is_true(conditions, CONFLICTED):
        return now
    return frozenset()


def became_ready(tenant: Ref, before: Conditions, progress: Sequence[Progress]) -> Plan:
    ready = all(each.state is State.READY for each in progress)
    if not ready or is_true(before, READY):
        return ()
    return (Emit(tenant, reasons.TENANT_READY, f"all {len(progress)} resources are ready"),)
