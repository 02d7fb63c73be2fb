"""Applies one object: takeovers are reported, and a manager that keeps taking a field is left with it."""

from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from steward.kube.clock import SystemClock
from steward.kube.errors import ApiError, Conflict, FieldConflict, Invalid
from steward.kube.managed_fields.field_losses import ChangedKeys, Losses
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.kube.objects.readiness import READY_NOW, Readiness
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Apply, Emit, Patch, Plan
from steward.tenants.api.resource import TResource
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.tenant.apply import MAX_RETRY_SECONDS, SOON, ObjectApplier, retry_backoff
from steward.tenants.controllers.tenant.apply_context import ApplyContext
from steward.tenants.controllers.tenant.field_contests import MAX_TAKES
from steward.tenants.controllers.tenant.observe import ObservedObject
from steward.tenants.controllers.tenant.state import TenantState
from steward.tenants.labels import ORPHANED, TENANT, TENANT_NAMESPACE
from steward.tenants.metrics import TenantMetrics
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.status.progress import ResourceProgress, ResourceState
from tests.tenants.support.fleet import config_map, resource
from tests.tenants.support.offline_access import offline_access

OWNER = TenantOwner("acme", "shop", "t")
MANAGED = {TENANT: "acme", TENANT_NAMESPACE: "shop"}
FOREIGN = {TENANT: "other", TENANT_NAMESPACE: "shop"}
OWNERS = (("them", ".data.v"),)


class Server:
    """An API server with one object. It may reject an apply without force, or every write."""

    def __init__(self, labels: dict[str, str] | None, has_owner: bool = False) -> None:
        self.labels = labels
        self.has_owner = has_owner
        self.rejection: ApiError | None = None
        self.value = "theirs"
        self.events: list[str] = []
        self.taken = 0
        self.requests = 0
        self.shows_losses = False
        self.owners: tuple[OwnerReference, ...] = ()
        self.tenant_uid = OWNER.uid
        self.applier = ObjectApplier(self, SystemClock(), TenantMetrics(CollectorRegistry()))  # type: ignore[arg-type]
        self.state = TenantState("t")

    async def apply(self, strategy: str = "apply", policy: str = "Force") -> ResourceProgress:
        tenant = Ref(TENANT_KIND, Key("shop", "acme"))
        access = offline_access(OWNER, "web")
        context = ApplyContext(tenant, OWNER, 1, self, self, self.state, {}, {}, access)  # type: ignore[arg-type]
        return await self.applier.apply(desired_object(strategy, policy), context)

    async def execute(self, plan: Plan, about: Ref) -> PlanResult:
        (step,) = plan
        if isinstance(step, Emit):
            self.events.append(f"{step.reason} {step.message}")
            return PlanResult([StepResult(step, StepEffect.EMITTED)])
        self.requests += 1
        if self.rejection is not None:
            raise self.rejection
        if isinstance(step, Apply) and not step.force and self.has_owner:
            error = FieldConflict(409, "Conflict", "it is theirs", {})
            error.managers = OWNERS
            raise error
        effect = StepEffect.CREATED if self.labels is None else StepEffect.CHANGED
        self.taken += isinstance(step, Apply | Patch)
        self.labels, self.has_owner, self.value = MANAGED, False, "ours"
        return PlanResult([StepResult(step, effect)])

    async def patch(self, ref: Ref, patch: Any, *, dry_run: bool) -> bytes:
        return msgspec.json.encode({**self._live(), "data": {"v": "ours"}})

    def may_exist(self, ref: Ref) -> bool:
        return self.labels is not None

    async def read(self, ref: Ref) -> ObservedObject | None:
        return self.read_cached(ref)

    def read_cached(self, ref: Ref) -> ObservedObject | None:
        if self.labels is None:
            return None
        meta = ObjectMeta(
            name="one", namespace="shop", uid="u", labels=self.labels, owner_references=self.owners
        )
        return ObservedObject(meta, READY_NOW)

    def lost_fields(self, ref: Ref) -> Losses:
        return {("f:data", "f:v"): "them"} if self.shows_losses and self.has_owner else {}

    def changed_keys(self, ref: Ref) -> ChangedKeys | None:
        return None

    async def read_manifest(self, ref: Ref) -> Manifest | None:
        return {"metadata": {"uid": self.tenant_uid}} if ref.kind == TENANT_KIND else self._live()

    async def resource_readiness(self, resource: TResource, ref: Ref, live: ObservedObject) -> Readiness:
        return live.readiness

    def _live(self) -> Manifest:
        fields = {"manager": "them", "fieldsV1": {"f:data": {"f:v": {}}}}
        metadata = {"name": "one", "uid": "u", "resourceVersion": "1", "managedFields": [fields]}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": self.value}}


def desired_object(strategy: str, policy: str) -> DesiredObject:
    given = resource("one", config_map("one", v="ours"), patchStrategy=strategy, conflictPolicy=policy)
    scope = ObjectScope(OWNER, (), SecretPayload())
    (found,) = desired_objects([msgspec.convert(given, TResource)], scope)
    return found


def rejected() -> Invalid:
    return Invalid(422, "Invalid", "data is too long", {})


@pytest.mark.parametrize("labels", [FOREIGN, {}])
@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_a_foreign_object_is_a_conflict_for_every_strategy(
    labels: dict[str, str], strategy: str
) -> None:
    server = Server(labels)
    progress = await server.apply(strategy, "Stuck")
    assert (progress.state, progress.event_reason) == (ResourceState.CONFLICTED, "ResourceConflict")
    assert progress.message.endswith("or set conflictPolicy: Force")
    assert (server.taken, server.labels) == (0, labels)


@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_a_takeover_is_reported_once(strategy: str) -> None:
    server = Server(FOREIGN)
    assert (await server.apply(strategy)).state is ResourceState.READY
    assert server.events == ["ForceApplied ConfigMap shop/one was taken over, by conflictPolicy: Force"]
    await server.apply(strategy)
    assert len(server.events) == 1


@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_a_failed_takeover_is_not_reported(strategy: str) -> None:
    server = Server(FOREIGN)
    server.rejection = rejected()
    assert (await server.apply(strategy)).state is ResourceState.FAILED
    assert server.events == []


@pytest.mark.parametrize("strategy", ["merge", "replace"])
async def test_a_concurrent_write_is_no_failure(strategy: str) -> None:
    server = Server(MANAGED)
    await server.apply(strategy)
    server.value = "theirs"
    server.rejection = Conflict(409, "Conflict", "the object has been modified", {})
    for _ in range(2 * MAX_TAKES):
        progress = await server.apply(strategy)
        assert (progress.state, progress.recheck_after, progress.event_reason) == (
            ResourceState.WAITING,
            SOON,
            "",
        )
    server.rejection = None
    assert (await server.apply(strategy)).state is ResourceState.READY


@pytest.mark.parametrize("labels", [None, MANAGED, {ORPHANED: "true"}])
@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_force_on_an_object_that_is_not_foreign_is_not_reported(
    labels: dict[str, str] | None, strategy: str
) -> None:
    server = Server(labels)
    assert (await server.apply(strategy)).state is ResourceState.READY
    assert server.events == []


async def test_a_field_that_is_taken_by_force_is_reported_with_its_owner() -> None:
    server = Server(MANAGED, has_owner=True)
    await server.apply()
    assert server.events == [
        "ForceApplied ConfigMap shop/one: .data.v was taken from them, by conflictPolicy: Force"
    ]


async def test_a_field_that_is_taken_back_is_not_reported_as_forced() -> None:
    server = Server(MANAGED)
    await server.apply(policy="Stuck")
    server.has_owner = True
    assert (await server.apply(policy="Stuck")).state is ResourceState.READY
    assert server.events == []


async def test_a_field_whose_manager_the_cache_shows_is_taken_back_by_one_request() -> None:
    server = Server(MANAGED)
    await server.apply(policy="Stuck")
    server.has_owner, server.shows_losses, server.requests = True, True, 0
    assert (await server.apply(policy="Stuck")).state is ResourceState.READY
    assert (server.requests, server.taken, server.events) == (1, 2, [])


async def test_a_field_that_was_never_applied_is_not_taken_although_the_cache_shows_its_owner() -> None:
    server = Server(MANAGED, has_owner=True)
    server.shows_losses = True
    assert (await server.apply(policy="Stuck")).state is ResourceState.CONFLICTED
    assert server.taken == 0


async def test_a_repair_that_fails_does_not_count_as_a_contest() -> None:
    server = Server(MANAGED)
    await server.apply(policy="Stuck")
    server.has_owner, server.shows_losses, server.rejection = True, True, rejected()
    for _ in range(2 * MAX_TAKES):
        assert (await server.apply(policy="Stuck")).state is ResourceState.FAILED


@pytest.mark.parametrize("shows_losses", [False, True])
@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_a_manager_that_takes_a_field_again_and_again_keeps_it_and_is_named(
    strategy: str, shows_losses: bool
) -> None:
    server = Server(None)
    server.shows_losses = shows_losses
    await server.apply(strategy, "Stuck")
    states = []
    for _ in range(MAX_TAKES):
        server.has_owner, server.value = True, "theirs"
        states.append((await server.apply(strategy, "Stuck")).state)
    assert states == [*[ResourceState.READY] * (MAX_TAKES - 1), ResourceState.CONFLICTED]
    progress = await server.apply(strategy, "Stuck")
    assert "them takes .data.v again and again" in progress.message
    assert server.value == "theirs"


@pytest.mark.parametrize(
    ("asked", "elapsed", "after"),
    [
        (5.0, 0.0, 5.0),
        (5.0, 19.0, 5.0),
        (5.0, 100.0, 25.0),
        (5.0, 100_000.0, MAX_RETRY_SECONDS),
        (300.0, 100_000.0, 300.0),
        (None, 100_000.0, None),
    ],
)
def test_a_long_failure_is_retried_less_often(
    asked: float | None, elapsed: float, after: float | None
) -> None:
    assert retry_backoff(asked, elapsed) == after


@pytest.mark.parametrize(("present", "writes"), [("t", 1), ("restored", 0)])
async def test_an_object_of_a_namesake_is_taken_only_if_the_tenant_is_the_present_one(
    present: str, writes: int
) -> None:
    """An API server that was restored has an earlier Tenant of this name, and so has the object."""
    server = Server(MANAGED)
    server.owners = (OwnerReference("v1", "Tenant", "acme", "restored"),)
    server.tenant_uid = present
    progress = await server.apply()
    assert (server.requests, progress.state is ResourceState.WAITING) == (writes, not writes)
