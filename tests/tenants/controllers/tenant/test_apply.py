"""One object at a time: what is taken from others is told, and nothing else is; who takes it back for good has it."""

from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from steward.kube.clock import SystemClock
from steward.kube.errors import ApiError, Conflict, FieldConflict, Invalid
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.readiness import READY_NOW, Readiness
from steward.runtime.plan.executor import Effect, PlanResult, StepResult
from steward.runtime.plan.steps import Apply, Emit, Patch, Plan
from steward.tenants.api.resource import TResource
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.tenant.apply import MOST_PATIENCE_SECONDS, SOON, Hand, Job, patience
from steward.tenants.controllers.tenant.observe import Seen
from steward.tenants.controllers.tenant.state import TenantMemory
from steward.tenants.labels import ORPHANED, TENANT, TENANT_NAMESPACE
from steward.tenants.metrics import Counts
from steward.tenants.objects.desired import Scope, Wanted, wanted_objects
from steward.tenants.objects.orphans import Owner
from steward.tenants.objects.ownership import TAKES
from steward.tenants.objects.permissions import Permissions
from steward.tenants.rendering.secret_payload import Payload
from steward.tenants.status.progress import Progress, State
from tests.tenants.support.fleet import config_map, resource

OWNER = Owner("acme", "shop", "t")
OURS = {TENANT: "acme", TENANT_NAMESPACE: "shop"}
THEIRS = {TENANT: "other", TENANT_NAMESPACE: "shop"}
HELD = (("them", ".data.v"),)


class Server:
    """One object, whoever has it. It may refuse to have a field taken without force, or to be written at all."""

    def __init__(self, labels: dict[str, str] | None, held: bool = False) -> None:
        self.labels = labels
        self.is_held = held
        self.refusal: ApiError | None = None
        self.value = "theirs"
        self.told: list[str] = []
        self.taken = 0
        self.hand = Hand(self, SystemClock(), Permissions(), Counts(CollectorRegistry()))  # type: ignore[arg-type]
        self.memory = TenantMemory("t")

    async def bring(self, strategy: str = "apply", policy: str = "Force") -> Progress:
        job = Job(Ref(TENANT_KIND, Key("shop", "acme")), OWNER, 1, self, self, self.memory, {}, {})  # type: ignore[arg-type]
        return await self.hand.bring(wanted(strategy, policy), job)

    async def execute(self, plan: Plan, about: Ref) -> PlanResult:
        (step,) = plan
        if isinstance(step, Emit):
            self.told.append(f"{step.reason} {step.message}")
            return PlanResult([StepResult(step, Effect.TOLD)])
        if self.refusal is not None:
            raise self.refusal
        if isinstance(step, Apply) and not step.force and self.is_held:
            error = FieldConflict(409, "Conflict", "it is theirs", {})
            error.managers = HELD
            raise error
        effect = Effect.CREATED if self.labels is None else Effect.CHANGED
        self.taken += isinstance(step, Apply | Patch)
        self.labels, self.is_held, self.value = OURS, False, "ours"
        return PlanResult([StepResult(step, effect)])

    async def patch(self, ref: Ref, patch: Any, *, dry_run: bool) -> bytes:
        return msgspec.json.encode({**self._live(), "data": {"v": "ours"}})

    def may_stand(self, ref: Ref) -> bool:
        return self.labels is not None

    async def find(self, ref: Ref) -> Seen | None:
        return self.cached(ref)

    def cached(self, ref: Ref) -> Seen | None:
        if self.labels is None:
            return None
        meta = ObjectMeta(name="one", namespace="shop", uid="u", labels=self.labels)
        return Seen(meta, READY_NOW)

    async def whole(self, ref: Ref) -> Manifest | None:
        return self._live()

    async def readiness_by(self, found: TResource, ref: Ref, seen: Seen) -> Readiness:
        return seen.readiness

    def _live(self) -> Manifest:
        fields = {"manager": "them", "fieldsV1": {"f:data": {"f:v": {}}}}
        metadata = {"name": "one", "uid": "u", "resourceVersion": "1", "managedFields": [fields]}
        return {"metadata": metadata, "data": {"v": self.value}}


def wanted(strategy: str, policy: str) -> Wanted:
    given = resource("one", config_map("one", v="ours"), patchStrategy=strategy, conflictPolicy=policy)
    scope = Scope(OWNER, (), Payload())
    (found,) = wanted_objects([msgspec.convert(given, TResource)], scope)
    return found


def refused() -> Invalid:
    return Invalid(422, "Invalid", "data is too long", {})


@pytest.mark.parametrize("labels", [THEIRS, {}])
@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_what_is_somebody_elses_is_a_conflict_whatever_the_strategy(
    labels: dict[str, str], strategy: str
) -> None:
    server = Server(labels)
    progress = await server.bring(strategy, "Stuck")
    assert (progress.state, progress.event) == (State.CONFLICTED, "ResourceConflict")
    assert progress.why.endswith("or set conflictPolicy: Force")
    assert (server.taken, server.labels) == (0, labels)


@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_what_is_taken_from_somebody_is_told_once(strategy: str) -> None:
    server = Server(THEIRS)
    assert (await server.bring(strategy)).state is State.READY
    assert server.told == ["ForceApplied ConfigMap shop/one was taken over, as conflictPolicy: Force says"]
    await server.bring(strategy)
    assert len(server.told) == 1


@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_what_could_not_be_taken_is_not_told_as_taken(strategy: str) -> None:
    server = Server(THEIRS)
    server.refusal = refused()
    assert (await server.bring(strategy)).state is State.FAILED
    assert server.told == []


@pytest.mark.parametrize("strategy", ["merge", "replace"])
async def test_who_writes_in_the_same_moment_makes_it_no_failure(strategy: str) -> None:
    server = Server(OURS)
    await server.bring(strategy)
    server.value = "theirs"
    server.refusal = Conflict(409, "Conflict", "the object has been modified", {})
    for _ in range(2 * TAKES):
        progress = await server.bring(strategy)
        assert (progress.state, progress.look_again_after, progress.event) == (State.WAITING, SOON, "")
    server.refusal = None
    assert (await server.bring(strategy)).state is State.READY


@pytest.mark.parametrize("labels", [None, OURS, {ORPHANED: "true"}])
@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_force_that_takes_nothing_from_anybody_is_not_told(
    labels: dict[str, str] | None, strategy: str
) -> None:
    server = Server(labels)
    assert (await server.bring(strategy)).state is State.READY
    assert server.told == []


async def test_a_field_that_is_taken_by_force_is_told_with_whose_it_was() -> None:
    server = Server(OURS, held=True)
    await server.bring()
    assert server.told == [
        "ForceApplied ConfigMap shop/one: .data.v was taken from them, as conflictPolicy: Force says"
    ]


async def test_a_field_that_is_put_back_is_no_force() -> None:
    server = Server(OURS)
    await server.bring(policy="Stuck")
    server.is_held = True
    assert (await server.bring(policy="Stuck")).state is State.READY
    assert server.told == []


@pytest.mark.parametrize("strategy", ["apply", "merge", "replace"])
async def test_who_takes_a_field_again_and_again_has_it_and_is_named(strategy: str) -> None:
    server = Server(None)
    await server.bring(strategy, "Stuck")
    states = []
    for _ in range(TAKES):
        server.is_held, server.value = True, "theirs"
        states.append((await server.bring(strategy, "Stuck")).state)
    assert states == [*[State.READY] * (TAKES - 1), State.CONFLICTED]
    progress = await server.bring(strategy, "Stuck")
    assert "them takes .data.v again and again" in progress.why
    assert server.value == "theirs"


@pytest.mark.parametrize(
    ("asked", "elapsed", "after"),
    [
        (5.0, 0.0, 5.0),
        (5.0, 19.0, 5.0),
        (5.0, 100.0, 25.0),
        (5.0, 100_000.0, MOST_PATIENCE_SECONDS),
        (300.0, 100_000.0, 300.0),
        (None, 100_000.0, None),
    ],
)
def test_what_has_failed_for_long_is_looked_at_less_often(
    asked: float | None, elapsed: float, after: float | None
) -> None:
    assert patience(asked, elapsed) == after
