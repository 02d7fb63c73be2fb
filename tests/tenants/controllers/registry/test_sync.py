"""A sync that cannot delete Tenants emits an event and is retried."""

from typing import Any

import pytest

from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Delete, Emit, Plan
from steward.tenants.api.registry import TenantRegistrySpec, ValueMappings
from steward.tenants.api.source import Source
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.active_templates import ActiveTemplates
from steward.tenants.controllers.registry.guard_plan import RegistryDecision
from steward.tenants.controllers.registry.sync import RegistrySyncer, sync_interval_seconds
from steward.tenants.guard.decision import GuardDecision, GuardState
from steward.tenants.views import Tenant
from tests.tenants.support.offline_context import offline_context

PROD = Ref(REGISTRY, Key("shop", "prod"))
TENANT = Tenant(ObjectMeta(name="acme-web", namespace="shop", uid="t-1"))


class DenyingExecutor:
    """An executor that may delete nothing."""

    def __init__(self) -> None:
        self.events: list[str] = []

    async def execute(self, plan: Plan, about: Any) -> None:
        if any(isinstance(step, Delete) for step in plan):
            raise Forbidden(403, "Forbidden", "no right to delete tenants", {})
        self.events += [step.reason for step in plan if isinstance(step, Emit)]


@pytest.mark.parametrize(("delete", "events"), [(("acme-web",), ["TenantDeletionFailed"]), ((), [])])
async def test_a_failed_deletion_is_reported(delete: tuple[str, ...], events: list[str]) -> None:
    executor = DenyingExecutor()
    context = offline_context(executor)
    syncer = RegistrySyncer(context, ActiveTemplates(context))
    decision = RegistryDecision(PROD, GuardDecision(GuardState(), delete=delete), {"acme-web": TENANT}, ())
    if delete:
        with pytest.raises(Forbidden):
            await syncer.execute_decision(decision)
    else:
        await syncer.execute_decision(decision)
    assert executor.events == events


@pytest.mark.parametrize(("interval", "seconds"), [("0s", 1), ("30s", 30)])
def test_a_table_is_read_at_most_once_a_second(interval: str, seconds: float) -> None:
    source = Source("sqlite", sync_interval=interval)
    spec = TenantRegistrySpec(source, ValueMappings("id", "name", "active"))
    assert sync_interval_seconds(spec) == seconds
