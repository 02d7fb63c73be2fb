"""What the appliers of objects need to know about the Tenant that they work for."""

from typing import NamedTuple

from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind, Ref
from steward.runtime.plan.executor import PlanExecutor, StepEffect
from steward.runtime.plan.steps import Emit, EventType, Step
from steward.tenants import reasons
from steward.tenants.controllers.tenant.state import TenantState
from steward.tenants.objects.access import TenantAccess
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.orphans import TenantOwner


class ApplyContext(NamedTuple):
    """One reconcile of a Tenant: its identity, the clients with its permissions, and its state."""

    tenant: Ref
    owner: TenantOwner
    generation: int
    executor: PlanExecutor
    client: Client
    state: TenantState
    duplicates: dict[str, str]
    """By resource id: the id of an earlier resource that makes the same object."""
    unserved: dict[Kind, str]
    """Kinds that the API server does not serve, each with its message."""
    access: TenantAccess

    async def write(self, step: Step) -> StepEffect:
        """Executes one step. There is no plan of several: the answer to each write decides the next."""
        return (await self.executor.execute((step,), self.tenant)).steps[0].effect

    async def warn_of_force(self, message: str) -> None:
        await self.write(Emit(self.tenant, reasons.FORCE_APPLIED, message, EventType.WARNING))


def was_applied(desired: DesiredObject, context: ApplyContext) -> bool:
    """Whether this generation was applied to the object before: then the operator owned every field in it."""
    record = context.state.records.get(desired.ref)
    return record is not None and record.generation == context.generation


def may_be_foreign(desired: DesiredObject, context: ApplyContext) -> bool:
    """Whether this or an earlier process may have found a foreign object of this name: reading it costs no write."""
    state = context.state
    if desired.id in state.conflicted or desired.has_ignored_fields:
        return True
    record = state.records.get(desired.ref)
    return bool(state.had_records) and (record is None or not record.uid)
