"""A change of a template, a few Tenants at a time, and no further than it works."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.api.template import Rollout, RolloutStatus
from steward.tenants.fleet.rollout import Progress, Step, Target, next_step

OLD, NEW = 1, 2


def step(
    *tenants: Progress,
    skew: int = 2,
    before: RolloutStatus | None = None,
    now: float = 1000.0,
    target: int = NEW,
) -> Step:
    rollout = Rollout(max_skew=skew, progress_deadline_seconds=60)
    return next_step(tenants, Target(target, rollout), before, now)


def old(*names: str) -> list[Progress]:
    return [Progress(name, OLD, True) for name in names]


def done(*names: str) -> list[Progress]:
    return [Progress(name, NEW, True) for name in names]


def under_way(*names: str) -> list[Progress]:
    return [Progress(name, NEW) for name in names]


def phase(found: Step) -> str:
    assert found.status is not None
    return found.status.phase


def test_without_a_limit_all_go_at_once_and_nothing_is_said() -> None:
    assert step(*old("a", "b", "c"), skew=0) == Step(("a", "b", "c"), None)


@pytest.mark.parametrize(
    ("tenants", "write"),
    [
        (old("c", "a", "b"), ("a", "b")),
        ([*under_way("a"), *old("b", "c")], ("b",)),
        ([*under_way("a", "b"), *old("c")], ()),
        ([*under_way("a", "b", "c"), *old("d")], ()),
        ([*done("a", "b"), *old("c")], ("c",)),
        ([*under_way("a"), Progress("new", 0), *old("z")], ("new",)),
        ([*old("a", "b"), Progress("y", OLD), Progress("z", OLD)], ("y", "z")),
        (
            [Progress("a", OLD, is_refused=True), Progress("b", 0, is_refused=True), *old("c", "d")],
            ("c", "d"),
        ),
        ([Progress("a", OLD, is_refused=True), *under_way("b"), *done("c")], ("a",)),
    ],
)
def test_no_more_than_the_limit_are_under_way(tenants: list[Progress], write: tuple[str, ...]) -> None:
    assert step(*tenants).write == write


def test_the_status_tells_how_far_it_is() -> None:
    status = step(*done("a"), *under_way("b"), *old("c", "d")).status
    assert status is not None
    assert (status.phase, status.target_generation) == ("InProgress", NEW)
    assert (status.total_nodes, status.updated_nodes) == (4, 2)
    assert (status.updating_nodes, status.ready_updated_nodes) == (1, 1)


def test_it_is_complete_when_all_have_it() -> None:
    found = step(*done("a", "b"))
    assert phase(found) == "Complete"
    assert found.status is not None
    assert found.status.completion_time == "1970-01-01T00:16:40Z"


def test_without_tenants_it_is_idle() -> None:
    assert phase(step()) == "Idle"


def test_an_unchanged_world_has_an_unchanged_status() -> None:
    for tenants in (done("a"), [*under_way("a"), *old("b")]):
        first = step(*tenants, now=1000.0)
        assert step(*tenants, before=first.status, now=1030.0).status == first.status


def test_a_rollout_that_makes_no_progress_stops() -> None:
    tenants = [*under_way("a"), *old("b", "c")]
    first = step(*tenants, now=1000.0)
    assert first.look_again_at == 1060
    later = step(*tenants, before=first.status, now=1060.0)
    assert phase(later) == "Failed"
    assert later.write == ()
    assert later.status is not None
    assert "Edit the template to go on" in str(later.status.message)


def test_progress_moves_the_deadline() -> None:
    first = step(*under_way("a"), *old("b"), now=1000.0)
    second = step(*done("a"), *under_way("b"), before=first.status, now=1050.0)
    assert second.look_again_at == 1110
    assert phase(step(*done("a"), *under_way("b"), before=second.status, now=1100.0)) == "InProgress"


def test_once_stopped_it_stays_so_while_others_keep_the_old_version() -> None:
    failed = RolloutStatus(phase="Failed", target_generation=NEW, ready_updated_nodes=0)
    found = step(*done("a"), *old("b"), before=failed, now=9999.0)
    assert phase(found) == "Failed"
    assert found.write == ()


def test_the_next_edit_goes_on() -> None:
    failed = RolloutStatus(phase="Failed", target_generation=NEW)
    found = step(*under_way("a"), *old("b", "c"), before=failed, target=3)
    assert phase(found) == "InProgress"
    assert found.write == ("a", "b")


def test_time_alone_does_not_stop_what_has_not_begun() -> None:
    waiting = RolloutStatus(
        phase="InProgress", target_generation=NEW, last_progress_time="1970-01-01T00:00:00Z"
    )
    assert phase(step(*old("a"), before=waiting, now=9999.0)) == "InProgress"


def test_what_has_reached_everybody_does_not_fail_because_a_tenant_does_later() -> None:
    complete = step(*done("a", "b"), now=1000.0).status
    found = step(*done("a"), *under_way("b"), before=complete, now=9000.0)
    assert found.status == complete


def newcomer(name: str, made_at: float) -> Progress:
    return Progress(name, NEW, False, made_at)


def test_newcomers_of_a_version_that_reached_everybody_come_a_few_at_a_time_and_it_does_not_fail() -> None:
    complete = step(*done("a", "b"), skew=1, now=1000.0).status
    waiting = [Progress("c", 0), Progress("d", 0)]
    first = step(*done("a", "b"), *waiting, skew=1, before=complete, now=9000.0)
    assert (first.write, phase(first)) == (("c",), "InProgress")

    tenants = [*done("a", "b"), newcomer("c", 9000.0), Progress("d", 0)]
    second = step(*tenants, skew=1, before=first.status, now=9059.0)
    assert (second.write, phase(second), second.look_again_at) == ((), "InProgress", 9060.0)

    third = step(*tenants, skew=1, before=second.status, now=9060.0)
    assert (third.write, phase(third)) == (("d",), "InProgress")
    tenants = [*done("a", "b"), newcomer("c", 9000.0), Progress("d", NEW, True, 9060.0)]
    last = step(*tenants, skew=1, before=third.status, now=9061.0)
    assert phase(last) == "Complete"
    assert last.status is not None
    assert last.status.completion_time == "1970-01-01T02:31:01Z"


TENANTS = st.lists(
    st.builds(Progress, st.uuids().map(str), st.sampled_from([0, OLD, NEW]), st.booleans()), max_size=12
)


@settings(deadline=None)
@given(TENANTS, st.integers(1, 5))
def test_the_limit_holds_after_every_step(tenants: list[Progress], skew: int) -> None:
    found = step(*tenants, skew=skew)
    before = sum(tenant.generation == NEW and not tenant.is_rolled_out for tenant in tenants)
    assert before + len(found.write) <= max(skew, before)
    assert set(found.write) <= {tenant.name for tenant in tenants if tenant.generation != NEW}
