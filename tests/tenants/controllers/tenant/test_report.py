"""The status of a Tenant that is new, and of one whose objects others changed or deleted: a repair that takes effect
is not reported."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.runtime.plan.executor import PlanResult, StepEffect
from steward.runtime.plan.steps import Emit, Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.runtime.status.throttle import INITIAL_DELAY_SECONDS
from steward.tenants.api.resource import TResource
from steward.tenants.api.tenant import TenantSpec, TenantStatus
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.records import recorded_document
from steward.tenants.controllers.tenant.report import (
    MAX_REPAIR_SECONDS,
    RECHECK_SECONDS,
    REPAIR_SECONDS,
    TenantReporter,
    TenantSnapshot,
)
from steward.tenants.controllers.tenant.state import ApplyRecord, TenantState, updated_record
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.status.progress import ResourceProgress, ResourceState
from steward.tenants.status.tenant import TenantProblem
from steward.testkit.clock import FakeClock
from tests.tenants.support.fleet import config_map, resource

GENERATION = 4
OWNER = TenantOwner("acme", "shop", "t")
READY = ResourceProgress("app", ResourceState.READY)
WAITING = ResourceProgress("app", ResourceState.WAITING, "its change was not observed yet", 300.0)
FAILED = ResourceProgress("app", ResourceState.FAILED, "crashes")


def desired_app() -> DesiredObject:
    given = msgspec.convert(resource("app", config_map("app", v="1")), TResource)
    (found,) = desired_objects([given], ObjectScope(OWNER, (), SecretPayload()))
    return found


@dataclass
class ReportedTenant:
    """A Tenant of one object, whose statuses the test reads."""

    clock: FakeClock = field(default_factory=FakeClock)
    statuses: list[Manifest] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    state: TenantState = field(default_factory=lambda: TenantState("t"))
    unrepaired: set[Key] = field(default_factory=set)
    """Tenants whose objects wait for a repair."""

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """A new process knows only the status."""
        context: Any = SimpleNamespace(executor=self, clock=self.clock, now=self._now)
        self.reporter = TenantReporter(context, self.unrepaired)
        self.state = TenantState("t")

    async def execute(self, plan: Plan, about: Ref) -> PlanResult:
        for step in plan:
            if isinstance(step, Status) and self.statuses[-1:] != [step.status]:
                self.statuses.append(dict(step.status))
            elif isinstance(step, Emit):
                self.events.append(step.reason)
        return PlanResult()

    async def reconcile(
        self, progress: ResourceProgress, effect: StepEffect = StepEffect.UNCHANGED, uid: str = "u1"
    ) -> Result:
        desired = desired_app()
        document = self.document()
        self.state.add_records(document.records)
        done = ApplyRecord(uid, effect is not StepEffect.UNCHANGED, GENERATION, self._now())
        known = self.state.records.get(desired.ref)
        self.state.records[desired.ref] = updated_record(desired.applied_object(), known, done)
        self.state.note_applied(desired.ref, GENERATION, effect, self.clock.monotonic())
        return await self.reporter.report(TenantSnapshot(document, self.state, (desired,)), [progress], [])

    def document(self) -> TenantDocument:
        status = msgspec.convert(self.statuses[-1] if self.statuses else {}, TenantStatus)
        meta = ObjectMeta(name="acme", namespace="shop", uid="t", generation=GENERATION)
        spec = TenantSpec(uid="acme", template_ref="web", template_generation=1)
        return TenantDocument(meta, spec, status)

    def _now(self) -> str:
        return to_timestamp(self.clock.now())

    @property
    def ready(self) -> str:
        conditions = {each["type"]: each["status"] for each in self.statuses[-1]["conditions"]}
        return str(conditions["Ready"])


@pytest.fixture
async def tenant() -> ReportedTenant:
    """A Tenant that has been ready for an hour."""
    found = ReportedTenant()
    await found.reconcile(READY, StepEffect.CREATED)
    found.clock.advance(3600.0)
    found.statuses[:], found.events[:] = found.statuses[-1:], []
    return found


async def test_a_new_tenant_that_is_ready_in_time_has_one_status() -> None:
    new = ReportedTenant()
    await new.reconcile(WAITING, StepEffect.CREATED)
    assert new.statuses == []
    new.clock.advance(INITIAL_DELAY_SECONDS - 0.1)
    assert await new.reconcile(READY) == DONE
    assert (len(new.statuses), new.ready) == (1, "True")
    (record,) = new.statuses[0]["applied"]
    assert (record["uid"], record["generation"]) == ("u1", GENERATION)


async def test_a_new_tenant_that_is_not_ready_in_time_has_a_status_until_it_is() -> None:
    new = ReportedTenant()
    assert await new.reconcile(WAITING, StepEffect.CREATED) == RequeueAfter(INITIAL_DELAY_SECONDS)
    new.clock.advance(INITIAL_DELAY_SECONDS)
    await new.reconcile(WAITING)
    assert (len(new.statuses), new.ready) == (1, "False")
    await new.reconcile(READY)
    assert (len(new.statuses), new.ready) == (2, "True")


async def test_a_failure_of_a_new_tenant_is_reported_at_once() -> None:
    new = ReportedTenant()
    await new.reconcile(FAILED, StepEffect.CREATED)
    assert (len(new.statuses), new.ready) == (1, "False")


@pytest.mark.parametrize("reported", ["a pause", "a problem", "an error"])
async def test_the_first_status_records_the_objects_whatever_it_reports(reported: str) -> None:
    new = ReportedTenant()
    document = recorded_document(new.document(), new.state, [desired_app()])
    if reported == "a pause":
        await new.reporter.report_pause(document)
    elif reported == "an error":
        await new.reporter.record_interrupted(document)
    else:
        problem = TenantProblem("NoServiceAccount", "there is none")
        await new.reporter.report_problem(document, new.state, problem)
    (status,) = new.statuses
    assert [each["name"] for each in status["applied"]] == ["app"]
    assert status["appliedResources"] == ["ConfigMap/shop/app@app"]


async def test_an_error_writes_no_second_status(tenant: ReportedTenant) -> None:
    await tenant.reporter.record_interrupted(tenant.document())
    assert len(tenant.statuses) == 1


async def test_a_deleted_object_that_is_put_back_ready_changes_no_status(tenant: ReportedTenant) -> None:
    assert await tenant.reconcile(READY, StepEffect.CREATED, uid="u2") == DONE
    assert (len(tenant.statuses), tenant.events) == (1, ["DriftReverted"])


async def test_fields_that_are_put_back_change_no_status_while_that_takes_effect(
    tenant: ReportedTenant,
) -> None:
    assert await tenant.reconcile(WAITING, StepEffect.CHANGED) == RequeueAfter(REPAIR_SECONDS)
    tenant.clock.advance(0.5)
    assert await tenant.reconcile(READY) == DONE
    assert (len(tenant.statuses), tenant.events) == (1, ["DriftReverted"])


async def test_a_repair_that_takes_no_effect_is_reported(tenant: ReportedTenant) -> None:
    await tenant.reconcile(WAITING, StepEffect.CHANGED)
    tenant.clock.advance(REPAIR_SECONDS)
    await tenant.reconcile(WAITING)
    assert (len(tenant.statuses), tenant.ready) == (2, "False")
    (record,) = tenant.statuses[-1]["applied"]
    assert record["changedAt"] > tenant.statuses[0]["applied"][0]["changedAt"]


async def test_a_repair_is_not_reported_while_objects_of_other_tenants_wait_for_theirs(
    tenant: ReportedTenant,
) -> None:
    tenant.unrepaired.add(Key("shop", "umbrella"))
    await tenant.reconcile(WAITING, StepEffect.CHANGED)
    tenant.clock.advance(REPAIR_SECONDS)
    assert await tenant.reconcile(WAITING) == RequeueAfter(RECHECK_SECONDS)
    assert len(tenant.statuses) == 1
    tenant.unrepaired.clear()
    await tenant.reconcile(WAITING)
    assert (len(tenant.statuses), tenant.ready) == (2, "False")


async def test_a_repair_without_effect_is_reported_even_if_others_wait_for_ever(
    tenant: ReportedTenant,
) -> None:
    tenant.unrepaired.add(Key("shop", "umbrella"))
    await tenant.reconcile(WAITING, StepEffect.CHANGED)
    tenant.clock.advance(MAX_REPAIR_SECONDS)
    await tenant.reconcile(WAITING)
    assert (len(tenant.statuses), tenant.ready) == (2, "False")


async def test_a_failure_after_a_repair_is_reported_at_once(tenant: ReportedTenant) -> None:
    await tenant.reconcile(FAILED, StepEffect.CHANGED)
    assert (len(tenant.statuses), tenant.ready) == (2, "False")


async def test_an_object_that_is_created_again_and_not_ready_is_reported_at_once(
    tenant: ReportedTenant,
) -> None:
    await tenant.reconcile(WAITING, StepEffect.CREATED, uid="u2")
    assert (len(tenant.statuses), tenant.ready) == (2, "False")


async def test_an_object_that_is_not_ready_for_another_reason_is_reported_at_once(
    tenant: ReportedTenant,
) -> None:
    await tenant.reconcile(WAITING)
    assert (len(tenant.statuses), tenant.ready) == (2, "False")


@pytest.mark.parametrize("is_observed", [False, True])
async def test_a_restart_after_a_repair_writes_nothing(tenant: ReportedTenant, is_observed: bool) -> None:
    await tenant.reconcile(READY, StepEffect.CREATED, uid="u2")
    await tenant.reconcile(READY if is_observed else WAITING, StepEffect.CHANGED, uid="u2")
    tenant.restart()
    tenant.events.clear()
    tenant.clock.advance(1.0)
    assert await tenant.reconcile(READY, uid="u2") == DONE
    assert (len(tenant.statuses), tenant.events) == (1, [])
