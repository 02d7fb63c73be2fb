"""Events of a Tenant: each when it begins to be true, and not at every look."""

import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Emit, Plan
from steward.tenants import reasons
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.tenant.events import became_ready, events_of, told_before, troubles_of
from steward.tenants.controllers.tenant.state import Told
from steward.tenants.status.progress import Progress, State

ACME = Ref(TENANT_KIND, Key("shop", "acme"))
FAILED = Progress("a", State.FAILED, "no room", event=reasons.APPLY_FAILED)
DESPITE = Progress("b", State.READY, despite=("a",))
ALSO_DESPITE = Progress("c", State.READY, despite=("a",))


def said(plan: Plan) -> list[str]:
    return [f"{step.reason} {step.message}" for step in plan if isinstance(step, Emit)]


def test_each_trouble_is_told_when_it_begins() -> None:
    first = troubles_of([FAILED, DESPITE, ALSO_DESPITE])
    assert said(events_of(ACME, first, frozenset())) == [
        "ApplyFailed a: no room",
        "DependencyFailedButProceeding b is applied although a failed",
        "DependencyFailedButProceeding c is applied although a failed",
    ]
    assert events_of(ACME, troubles_of([FAILED, DESPITE, ALSO_DESPITE]), first) == ()
    assert events_of(ACME, troubles_of([DESPITE._replace(despite=())]), first) == ()


@pytest.mark.parametrize(("type_", "is_known"), [("Degraded", True), ("Conflicted", True), ("Ready", False)])
def test_after_a_start_what_the_status_shows_is_known(type_: str, is_known: bool) -> None:
    now = frozenset({Told("ApplyFailed", "a: no room")})
    shown = (Condition(type_, "True", "Any", ""),)
    assert told_before(now, shown) == (now if is_known else frozenset())


def test_ready_is_told_when_it_becomes_so() -> None:
    not_yet = (Condition("Ready", "False", "Any", ""),)
    ready = (Condition("Ready", "True", "Any", ""),)
    assert said(became_ready(ACME, not_yet, [DESPITE])) == ["TenantReady all 1 resources are ready"]
    assert became_ready(ACME, ready, [DESPITE]) == ()
    assert became_ready(ACME, not_yet, [DESPITE, FAILED]) == ()
