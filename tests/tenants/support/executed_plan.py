"""What an executor returns, for executors of tests that write to the caches alone."""

from steward.kube.managed_fields.ownership import OwnedFields
from steward.kube.objects.kinds import SECRET
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Apply, Plan, Step
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.context import TenantsContext


def executed_plan(context: TenantsContext, plan: Plan) -> PlanResult:
    """As if nobody else edited the objects: the API server answers what the caches hold afterwards."""
    return PlanResult([StepResult(step, StepEffect.CHANGED, _owned(context, step)) for step in plan])


def _owned(context: TenantsContext, step: Step) -> OwnedFields | None:
    rules = {TENANT_KIND: context.rules.every_tenant, SECRET: context.rules.secret}
    if not isinstance(step, Apply) or step.ref.kind not in rules:
        return None
    return context.store(rules[step.ref.kind]).owned_fields(step.ref.key)
