"""Which objects of a Tenant are applied, and in which order, with an applier that only records them."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import msgspec

from steward.runtime.plan.executor import PlanExecutor
from steward.tenants.api.resource import TResource
from steward.tenants.controllers.tenant.apply import ObjectApplier
from steward.tenants.controllers.tenant.apply_context import ApplyContext
from steward.tenants.controllers.tenant.apply_in_order import MAX_CONCURRENT, apply_in_order
from steward.tenants.controllers.tenant.state import ApplyRecord, TenantState, updated_record
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.status.progress import ResourceProgress, ResourceState
from tests.tenants.support.fleet import config_map, deployment, namespace_manifest, resource, service
from tests.tenants.support.offline_access import offline_access

OWNER = TenantOwner("acme", "saas", "u")
GENERATION = 4


class FakeApplier:
    """Gives each object the state that the test names; the others are ready."""

    def __init__(self, states: dict[str, ResourceState], existing: set[str] | None = None) -> None:
        self.applied: list[str] = []
        self.concurrent = self.max_concurrent = 0
        self._states = states
        names = existing or set()
        self.reader = SimpleNamespace(read_cached=lambda ref: ref if ref.key.name in names else None)

    async def apply(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress:
        self.applied.append(desired.id)
        self.concurrent += 1
        self.max_concurrent = max(self.max_concurrent, self.concurrent)
        await asyncio.sleep(0)
        self.concurrent -= 1
        return ResourceProgress(desired.id, self._states.get(desired.id, ResourceState.READY))


CHAIN = [
    resource("c", config_map("c"), dependIds=["b"]),
    resource("a", config_map("a")),
    resource("b", config_map("b"), dependIds=["a"]),
]


def desired(found: list[dict[str, Any]]) -> tuple[DesiredObject, ...]:
    return desired_objects([msgspec.convert(each, TResource) for each in found], ObjectScope(OWNER, (), None))


def context(*settled: DesiredObject) -> ApplyContext:
    state = TenantState("u")
    for each in settled:
        done = ApplyRecord("o", changed=True, generation=GENERATION, now="2026-01-01T00:00:00Z")
        state.records[each.ref] = updated_record(each.applied_object(), None, done)
    tenant = desired(CHAIN)[0].ref
    executor, client = cast(PlanExecutor, None), cast(Any, None)
    access = offline_access(OWNER, "web")
    return ApplyContext(tenant, OWNER, GENERATION, executor, client, state, {}, {}, access)


async def applied_states(applier: FakeApplier, *settled: DesiredObject) -> list[ResourceState]:
    return [
        each.state
        for each in await apply_in_order(cast(ObjectApplier, applier), desired(CHAIN), context(*settled))
    ]


async def test_objects_are_applied_in_the_order_of_dependencies_and_reported_in_that_of_the_template() -> (
    None
):
    applier = FakeApplier({})
    assert await applied_states(applier) == [ResourceState.READY] * 3
    assert applier.applied == ["a", "b", "c"]


async def test_of_a_level_namespaces_come_first_and_accounts_before_pods() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "app"}}
    parts = [
        resource("app", deployment("app")),
        resource("config", config_map("a")),
        resource("account", account),
        resource("space", namespace_manifest("acme")),
        resource("after", config_map("b"), dependIds=["config"]),
    ]
    applier = FakeApplier({})
    found = await apply_in_order(cast(ObjectApplier, applier), desired(parts), context())
    assert applier.applied == ["space", "config", "account", "app", "after"]
    assert [each.id for each in found] == ["app", "config", "account", "space", "after"]


async def test_a_slow_service_delays_no_pods() -> None:
    class SlowServices(FakeApplier):
        async def apply(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress:
            while desired.id == "web" and "app" not in self.applied:
                await asyncio.sleep(0)
            return await super().apply(desired, context)

    applier = SlowServices({})
    parts = [resource("web", service("web")), resource("app", deployment("app"))]
    async with asyncio.timeout(10):
        await apply_in_order(cast(ObjectApplier, applier), desired(parts), context())
    assert applier.applied == ["app", "web"]


async def test_concurrent_applies_of_a_tenant_are_limited() -> None:
    applier = FakeApplier({})
    many = [resource(f"c{number}", config_map(f"c{number}")) for number in range(3 * MAX_CONCURRENT)]
    assert len(await apply_in_order(cast(ObjectApplier, applier), desired(many), context())) == len(many)
    assert applier.max_concurrent == MAX_CONCURRENT


async def test_dependents_of_an_object_that_is_not_ready_are_blocked() -> None:
    applier = FakeApplier({"a": ResourceState.WAITING})
    assert await applied_states(applier) == [
        ResourceState.BLOCKED,
        ResourceState.WAITING,
        ResourceState.BLOCKED,
    ]
    assert applier.applied == ["a"]


async def test_dependents_of_a_failed_object_are_skipped() -> None:
    applier = FakeApplier({"a": ResourceState.FAILED})
    assert await applied_states(applier) == [
        ResourceState.SKIPPED,
        ResourceState.FAILED,
        ResourceState.SKIPPED,
    ]


async def test_an_object_that_is_applied_despite_a_failed_dependency_names_it() -> None:
    parts = [
        resource("a", config_map("a")),
        resource("b", config_map("b"), dependIds=["a"], skipOnDependencyFailure=False),
        resource("c", config_map("c"), dependIds=["b"]),
    ]
    applier = FakeApplier({"a": ResourceState.FAILED})
    found = await apply_in_order(cast(ObjectApplier, applier), desired(parts), context())
    assert [(each.state, each.failed_dependencies) for each in found] == [
        (ResourceState.FAILED, ()),
        (ResourceState.READY, ("a",)),
        (ResourceState.READY, ()),
    ]


async def test_an_existing_dependent_is_applied_while_a_dependency_restarts() -> None:
    applier = FakeApplier({"a": ResourceState.WAITING}, existing={"b"})
    assert await applied_states(applier, *desired(CHAIN)) == [
        ResourceState.READY,
        ResourceState.WAITING,
        ResourceState.READY,
    ]
    assert applier.applied == ["a", "b", "c"]


async def test_a_deleted_dependent_waits_like_a_new_one() -> None:
    applier = FakeApplier({"a": ResourceState.WAITING})
    assert await applied_states(applier, *desired(CHAIN)) == [
        ResourceState.BLOCKED,
        ResourceState.WAITING,
        ResourceState.BLOCKED,
    ]
