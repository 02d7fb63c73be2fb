"""A registry stays Stalled until a sync completes: the statuses in between must not remove the condition."""

import pytest

from steward.kube.errors import Forbidden, KubeError, Unavailable
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Apply, Delete, Plan
from steward.tenants.controllers.registry.reconciler import current_stall
from steward.tenants.controllers.registry.state import restore_state
from steward.tenants.controllers.registry.tenant_writer import TenantWriter
from steward.tenants.status.conditions import stalled_status
from steward.tenants.views import Registry
from tests.tenants.support.offline_context import offline_context
from tests.tenants.support.offline_registry import OfflineRegistry, Server

NOW = "2026-01-01T00:00:00Z"
STALLED = Registry(
    ObjectMeta(name="prod", namespace="shop", uid="r-1", generation=1),
    status=stalled_status({}, 1, "deleting Tenant shop/acme-web: forbidden", NOW),
)
QUOTA = Forbidden(403, "Forbidden", "exceeded quota")
TERMINATING = Forbidden(403, "Forbidden", "namespace shop is being terminated")
NO_ANSWER = Unavailable(503, "ServiceUnavailable", "no answer")


def test_the_stall_is_kept_until_a_sync_completes() -> None:
    state = restore_state(STALLED, TenantWriter(offline_context(None)))
    assert current_stall(STALLED, state) == "deleting Tenant shop/acme-web: forbidden"
    state.next_sync = 30.0
    assert current_stall(STALLED, state) == ""


@pytest.mark.parametrize(
    ("failure", "stall"), [(None, ""), (QUOTA, "exceeded quota"), (TERMINATING, ""), (NO_ANSWER, "")]
)
def test_a_rejected_write_stalls_the_registry(failure: KubeError | None, stall: str) -> None:
    state = restore_state(STALLED, TenantWriter(offline_context(None)))
    state.next_sync, state.write_failure = 30.0, failure
    assert current_stall(STALLED, state) == stall


class DenyingServer(Server):
    """Denies steps of some types."""

    def __init__(self) -> None:
        super().__init__()
        self.denied: tuple[type[Apply | Delete], ...] = ()

    async def execute(self, plan: Plan, about: object) -> PlanResult:
        if any(isinstance(step, self.denied) for step in plan):
            raise Forbidden(403, "Forbidden", "tenants is forbidden")
        return await super().execute(plan, about)


async def test_a_denied_write_stalls_the_registry_until_it_is_allowed() -> None:
    server = DenyingServer()
    registry = OfflineRegistry(server)
    server.denied = (Apply,)
    for _ in range(2):
        await registry.sync("acme")
        assert current_stall(STALLED, registry.state) == "tenants is forbidden"
    server.denied = ()
    assert await registry.sync("acme") == ["acme-web-app"]
    assert current_stall(STALLED, registry.state) == ""


async def test_a_denied_deletion_keeps_the_stall_while_the_table_is_read_again() -> None:
    server = DenyingServer()
    registry = OfflineRegistry(server)
    uids = [f"t{number}" for number in range(9)]
    await registry.sync(*uids, "acme")
    await registry.sync(*uids)
    server.denied = (Delete,)
    for _ in range(2):
        with pytest.raises(Forbidden):
            await registry.sync(*uids)
        assert current_stall(STALLED, registry.state) == "deleting Tenant shop/acme-web: forbidden"
    server.denied = ()
    assert await registry.sync(*uids) == ["- acme-web-app"]
    assert current_stall(STALLED, registry.state) == ""
