"""Which statuses of an edited cluster and its children are written at once."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import reasons
from steward.multigres.cache_rules import CLUSTER, SHARD, TABLE_GROUP
from steward.multigres.controllers.common.reporting import (
    CHILD_SECONDS,
    LONGEST_CHILD_SECONDS,
    StatusReporter,
)
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.status.conditions import (
    ROLLING_UPDATE,
    ComponentStatus,
    StatusContext,
    assess_health,
    common_status,
)
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Status
from steward.runtime.status.throttle import INITIAL_DELAY_SECONDS
from steward.testkit.clock import FakeClock

READY = ComponentStatus("pool", 1, 1, is_current=True)
UPDATING = ComponentStatus("pool", 1, 1, is_current=False)
STARTING = ComponentStatus("pool", 3, 0, is_current=True)
BROKEN = ComponentStatus("pool", 1, 0, is_current=True, problem="crashes")
ROLLING = Condition(ROLLING_UPDATE, "True", "Waiting", "a budget forbids it")


class ReportedChild:
    """An object of one kind that was ready in generation 1, or a new one."""

    def __init__(self, kind: Kind, *, is_new: bool = False) -> None:
        self.clock = FakeClock()
        self.ref = Ref(kind, Key("shop", "it"))
        self.slowdown = 1.0
        self.reporter = StatusReporter(
            self.clock, StatusContributions(), lambda ref: None, lambda: self.slowdown
        )
        self.status: Manifest = {}
        if not is_new:
            self.report(1, READY)

    def report(self, generation: int, component: ComponentStatus, *others: Condition) -> bool:
        """Whether the status is written."""
        metadata = {"name": "it", "namespace": "shop", "generation": generation}
        live = msgspec.convert({"metadata": metadata, "status": self.status}, ClusterView)
        context = StatusContext(live.metadata, live.status.conditions, to_timestamp(self.clock.now()))
        status = common_status(context, assess_health([component], None), others)
        written = [step for step in self.reporter.report(self.ref, live, status) if isinstance(step, Status)]
        self.status = dict(written[0].status) if written else self.status
        return bool(written)


@pytest.fixture(params=[SHARD, TABLE_GROUP], ids=["Shard", "TableGroup"])
def child(request: pytest.FixtureRequest) -> ReportedChild:
    return ReportedChild(request.param)


def test_an_edited_child_that_is_soon_ready_again_writes_one_status(child: ReportedChild) -> None:
    assert not child.report(2, UPDATING)
    child.clock.advance(0.5)
    assert child.report(2, READY)
    assert child.status["observedGeneration"] == 2


def test_that_the_revision_of_pods_is_not_known_yet_can_wait(child: ReportedChild) -> None:
    assert not child.report(2, UPDATING, Condition(ROLLING_UPDATE, "Unknown", reasons.REVISION_PENDING, ""))


def test_an_edited_child_that_takes_longer_says_so(child: ReportedChild) -> None:
    assert not child.report(2, UPDATING)
    child.clock.advance(INITIAL_DELAY_SECONDS)
    assert child.report(2, UPDATING)


def test_an_edited_cluster_says_at_once_that_it_is_being_changed() -> None:
    assert ReportedChild(CLUSTER).report(2, UPDATING)


@pytest.mark.parametrize(("component", "others"), [(BROKEN, ()), (UPDATING, (ROLLING,))])
def test_what_a_user_may_have_to_act_on_is_reported_at_once(
    child: ReportedChild, component: ComponentStatus, others: tuple[Any, ...]
) -> None:
    assert child.report(2, component, *others)


def test_a_child_that_is_not_ready_without_an_edit_says_so_at_once(child: ReportedChild) -> None:
    assert child.report(1, ComponentStatus("pool", 2, 1, is_current=True))


def test_a_new_child_that_is_ready_soon_writes_one_status() -> None:
    child = ReportedChild(SHARD, is_new=True)
    assert not child.report(1, STARTING)
    child.clock.advance(CHILD_SECONDS - 1)
    assert not child.report(1, STARTING)
    assert child.report(1, READY)


def test_a_new_child_that_takes_longer_says_so() -> None:
    child = ReportedChild(SHARD, is_new=True)
    assert not child.report(1, STARTING)
    child.clock.advance(CHILD_SECONDS)
    assert child.report(1, STARTING)


def test_a_new_child_that_waits_for_something_of_the_user_says_so_earlier() -> None:
    child = ReportedChild(SHARD, is_new=True)
    assert not child.report(1, STARTING._replace(hint="no node has room"))
    child.clock.advance(INITIAL_DELAY_SECONDS)
    assert child.report(1, STARTING._replace(hint="no node has room"))


def test_a_new_cluster_says_at_once_what_it_waits_for() -> None:
    assert ReportedChild(CLUSTER, is_new=True).report(1, STARTING)


def test_that_no_pod_has_to_be_replaced_is_not_reported_before_a_new_child_is_ready() -> None:
    child = ReportedChild(SHARD, is_new=True)
    child.report(1, STARTING)
    child.clock.advance(CHILD_SECONDS)
    assert child.report(1, STARTING, Condition(ROLLING_UPDATE, "Unknown", reasons.REVISION_PENDING, ""))
    assert not child.report(1, STARTING, Condition(ROLLING_UPDATE, "False", reasons.PODS_UP_TO_DATE, ""))


def test_that_pods_have_to_be_replaced_is_reported_at_once() -> None:
    child = ReportedChild(SHARD, is_new=True)
    child.report(1, STARTING)
    child.clock.advance(CHILD_SECONDS)
    child.report(1, STARTING, Condition(ROLLING_UPDATE, "Unknown", reasons.REVISION_PENDING, ""))
    assert child.report(1, STARTING, ROLLING)


def test_a_new_child_may_take_longer_while_the_server_is_saturated() -> None:
    child = ReportedChild(SHARD, is_new=True)
    child.slowdown = 100.0
    assert not child.report(1, STARTING)
    child.clock.advance(LONGEST_CHILD_SECONDS - 1)
    assert not child.report(1, STARTING)
    child.clock.advance(1)
    assert child.report(1, STARTING)
