"""The wall clock of the operator is set forward or back: syncs go on, and nothing is deleted early."""

from email.utils import formatdate
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.objects.patches import MergePatch
from steward.kube.transport.server_time import ServerTime
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Patch, Plan
from steward.testkit import FakeClock
from tests.tenants.support.manifests import registry as registry_manifest
from tests.tenants.support.offline_registry import OfflineRegistry, Server

HOUR, YEAR = 3600.0, 365 * 86400.0
UIDS = [f"t{number}" for number in range(9)]


class PatchingServer(Server):
    """Executes patches, too: the guard marks a Tenant with the time of its deletion."""

    async def execute(self, plan: Plan, about: object) -> PlanResult:
        result = await super().execute(plan, about)
        for step in plan:
            if isinstance(step, Patch) and isinstance(step.patch, MergePatch):
                self._merge(step.ref.key.name, step.patch.changes["metadata"].get("annotations") or {})
        return result

    def _merge(self, name: str, annotations: dict[str, Any]) -> None:
        manifest = self._applied[name]
        merged = {**(manifest["metadata"].get("annotations") or {}), **annotations}
        self._applied[name] = {**manifest, "metadata": {**manifest["metadata"], "annotations": merged}}
        self.observe(self._applied[name])


class ClockedRegistry(OfflineRegistry):
    """With a clock that the test sets; the API server has one of its own."""

    def __init__(self) -> None:
        super().__init__(PatchingServer())
        self.server.observe(registry_manifest(deletionGuard={"gracePeriod": "1h"}))
        self.clock = FakeClock()
        self.context.clock = self.clock
        self.server_clock = FakeClock()
        self.server_time = ServerTime(self.clock)
        self.context.manager.connection = cast(Any, SimpleNamespace(server_time=self.server_time))

    def answer(self) -> None:
        """A response of the API server, with its time."""
        self.server_time.note(formatdate(self.server_clock.now(), usegmt=True))

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.server_clock.advance(seconds)

    async def sync_now(self, *uids: str) -> list[str]:
        self.answer()
        self._now = self.clock.now() - 10.0
        return await self.sync(*uids)


@pytest.fixture
def registry() -> ClockedRegistry:
    return ClockedRegistry()


@pytest.mark.parametrize("jump", [YEAR, -YEAR], ids=["forward", "back"])
async def test_the_next_sync_is_due_after_its_interval_whatever_the_wall_clock_says(
    registry: ClockedRegistry, jump: float
) -> None:
    await registry.sync_now(*UIDS)
    registry.clock.jump(jump)
    assert registry.state.next_sync > registry.clock.monotonic()
    registry.advance(40)
    assert registry.state.next_sync <= registry.clock.monotonic()


async def test_a_clock_that_is_set_forward_deletes_no_tenant_before_its_grace_period(
    registry: ClockedRegistry,
) -> None:
    await registry.sync_now(*UIDS, "acme")
    for _ in range(2):
        registry.advance(60)
        await registry.sync_now(*UIDS)
    registry.clock.jump(YEAR)
    for _ in range(3):
        registry.advance(60)
        assert await registry.sync_now(*UIDS) == []
    registry.advance(HOUR)
    assert "- acme-web-app" in await registry.sync_now(*UIDS)


async def test_a_clock_that_is_set_back_only_delays_a_deletion(registry: ClockedRegistry) -> None:
    await registry.sync_now(*UIDS, "acme")
    registry.clock.jump(-2 * HOUR)
    for _ in range(3):
        registry.advance(60)
        assert await registry.sync_now(*UIDS) == []
    registry.advance(HOUR)
    assert "- acme-web-app" in await registry.sync_now(*UIDS)
