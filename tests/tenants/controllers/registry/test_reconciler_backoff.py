"""A Tenant that cannot be written is retried with backoff, and delays no read of the table."""

import pytest

from steward.kube.errors import Forbidden
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Apply, Plan
from steward.tenants.controllers.registry.reconciler import RegistryReconciler
from steward.tenants.controllers.registry.table_reads import FinishedRead
from steward.tenants.sources.rows import Columns, Rows, sort_rows
from steward.tenants.views import Registry
from tests.tenants.support.manifests import registry
from tests.tenants.support.offline_registry import PROD, OfflineRegistry, Server

SQLITE = {"type": "sqlite", "syncInterval": "30s", "sqlite": {"file": "x.db", "table": "customers"}}


class DenyingServer(Server):
    """Denies one Tenant."""

    async def execute(self, plan: Plan, about: object) -> PlanResult:
        if any(isinstance(step, Apply) and step.ref.key.name == "evil-web-app" for step in plan):
            raise Forbidden(403, "Forbidden", "denied by a policy")
        return await super().execute(plan, about)


def rows(*uids: str) -> Rows:
    return sort_rows(Columns("id", "url", "active"), [(uid, "https://x", "1") for uid in uids])


async def test_a_denied_tenant_delays_no_read() -> None:
    server = DenyingServer()
    context = OfflineRegistry(server).context
    server.observe({**registry(source=SQLITE), "metadata": {"name": "prod", "generation": 2}})
    reconciler = RegistryReconciler(context)
    found = reconciler.registries.get(PROD)
    assert isinstance(found, Registry)
    read = FinishedRead(0.0, reconciler._inputs(found), rows("acme", "evil"), None)
    reconciler.table_reads._finished[PROD] = read

    with pytest.raises(Forbidden):
        await reconciler.reconcile(PROD)

    assert "acme-web-app" in server.applied
    assert list(reconciler.table_reads._timers) == [PROD]
    reconciler.table_reads.forget(PROD)
