"""The plan of a decision of the guard, and its order."""

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Delete, Emit, Hold, Patch, Plan
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.guard_plan import RegistryDecision, guard_plan
from steward.tenants.guard import approval
from steward.tenants.guard.decision import DeletionMark, GuardDecision, GuardState
from steward.tenants.views import Tenant

PROD = Ref(REGISTRY, Key("shop", "prod"))
TENANTS = {name: Tenant(ObjectMeta(name=name, namespace="shop", uid=f"u-{name}")) for name in ("a", "b")}
HOLD = approval.DeletionHold.for_tenants(approval.HoldReason.TOO_MANY, ["a", "b"])
HELD = (Condition("DeletionHeld", "True", "TooManyAtOnce", HOLD.message),)


def plan(decision: GuardDecision, previous: tuple[Condition, ...] = ()) -> Plan:
    return guard_plan(RegistryDecision(PROD, decision, TENANTS, previous))


def test_marks_are_written_before_the_approval_is_removed() -> None:
    steps = plan(
        GuardDecision(
            GuardState(), mark=(DeletionMark("a", 60.0), DeletionMark("b", 60.0)), approval_is_obsolete=True
        )
    )
    assert [step.ref.key.name for step in steps if isinstance(step, Patch)] == ["a", "b", "prod"]
    assert steps[0] == Patch(steps[0].ref, steps[0].patch)  # type: ignore[union-attr]
    assert "1970-01-01T00:01:00Z" in str(steps[0])


def test_a_deletion_names_its_object_by_uid() -> None:
    steps = plan(GuardDecision(GuardState(), delete=("a", "gone")))
    deletes = [step for step in steps if isinstance(step, Delete)]
    assert [(step.ref.key.name, step.uid) for step in deletes] == [("a", "u-a")]


def test_a_hold_is_reported_once() -> None:
    decision = GuardDecision(GuardState(hold=HOLD))
    first, again = plan(decision), plan(decision, HELD)
    assert [type(step) for step in first] == [Hold, Emit]
    assert [type(step) for step in again] == [Hold]


def test_the_release_of_a_hold_is_reported() -> None:
    assert [step.reason for step in plan(GuardDecision(GuardState()), HELD) if isinstance(step, Emit)] == [
        "DeletionReleased"
    ]
    assert plan(GuardDecision(GuardState())) == ()
