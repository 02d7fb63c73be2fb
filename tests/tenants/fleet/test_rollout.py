"""A changed template reaches a few Tenants at a time, and stops if it makes no progress."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.api.template import Rollout, RolloutStatus
from steward.tenants.fleet.rollout import RolloutStep, RolloutTarget, TenantRollout, next_rollout_step

OLD, NEW = 1, 2


def step(
    *tenants: TenantRollout,
    skew: int = 2,
    previous: RolloutStatus | None = None,
    now: float = 1000.0,
    target: int = NEW,
) -> RolloutStep:
    rollout = Rollout(max_skew=skew, progress_deadline_seconds=60)
    return next_rollout_step(tenants, RolloutTarget(target, rollout), previous, now)


def old(*names: str) -> list[TenantRollout]:
    return [TenantRollout(name, OLD, True) for name in names]


def done(*names: str) -> list[TenantRollout]:
    return [TenantRollout(name, NEW, True) for name in names]


def updating(*names: str) -> list[TenantRollout]:
    return [TenantRollout(name, NEW) for name in names]


def phase(found: RolloutStep) -> str:
    assert found.status is not None
    return found.status.phase


def test_without_a_limit_all_are_written_at_once_and_there_is_no_status() -> None:
    assert step(*old("a", "b", "c"), skew=0) == RolloutStep(("a", "b", "c"), None)


@pytest.mark.parametrize(
    ("tenants", "write"),
    [
        (old("c", "a", "b"), ("a", "b")),
        ([*updating("a"), *old("b", "c")], ("b",)),
        ([*updating("a", "b"), *old("c")], ()),
        ([*updating("a", "b", "c"), *old("d")], ()),
        ([*done("a", "b"), *old("c")], ("c",)),
        ([*updating("a"), TenantRollout("new", 0), *old("z")], ("new",)),
        ([*old("a", "b"), TenantRollout("y", OLD), TenantRollout("z", OLD)], ("y", "z")),
        (
            [
                TenantRollout("a", OLD, is_rejected=True),
                TenantRollout("b", 0, is_rejected=True),
                *old("c", "d"),
            ],
            ("c", "d"),
        ),
        ([TenantRollout("a", OLD, is_rejected=True), *updating("b"), *done("c")], ("a",)),
    ],
)
def test_no_more_than_the_limit_are_updating(tenants: list[TenantRollout], write: tuple[str, ...]) -> None:
    assert step(*tenants).write == write


def test_the_status_counts_the_tenants() -> None:
    status = step(*done("a"), *updating("b"), *old("c", "d")).status
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


def test_unchanged_tenants_have_an_unchanged_status() -> None:
    for tenants in (done("a"), [*updating("a"), *old("b")]):
        first = step(*tenants, now=1000.0)
        assert step(*tenants, previous=first.status, now=1030.0).status == first.status


def test_a_rollout_that_makes_no_progress_stops() -> None:
    tenants = [*updating("a"), *old("b", "c")]
    first = step(*tenants, now=1000.0)
    assert first.recheck_at == 1060
    later = step(*tenants, previous=first.status, now=1060.0)
    assert phase(later) == "Failed"
    assert later.write == ()
    assert later.status is not None
    assert "Edit the template to continue" in str(later.status.message)


def test_progress_moves_the_deadline() -> None:
    first = step(*updating("a"), *old("b"), now=1000.0)
    second = step(*done("a"), *updating("b"), previous=first.status, now=1050.0)
    assert second.recheck_at == 1110
    assert phase(step(*done("a"), *updating("b"), previous=second.status, now=1100.0)) == "InProgress"


def test_a_failed_rollout_stays_failed_while_others_keep_the_old_version() -> None:
    failed = RolloutStatus(phase="Failed", target_generation=NEW, ready_updated_nodes=0)
    found = step(*done("a"), *old("b"), previous=failed, now=9999.0)
    assert phase(found) == "Failed"
    assert found.write == ()


def test_the_next_edit_resumes_the_rollout() -> None:
    failed = RolloutStatus(phase="Failed", target_generation=NEW)
    found = step(*updating("a"), *old("b", "c"), previous=failed, target=3)
    assert phase(found) == "InProgress"
    assert found.write == ("a", "b")


def test_a_rollout_that_has_not_started_does_not_time_out() -> None:
    waiting = RolloutStatus(
        phase="InProgress", target_generation=NEW, last_progress_time="1970-01-01T00:00:00Z"
    )
    assert phase(step(*old("a"), previous=waiting, now=9999.0)) == "InProgress"


def test_a_completed_rollout_does_not_fail_when_a_tenant_fails_later() -> None:
    complete = step(*done("a", "b"), now=1000.0).status
    found = step(*done("a"), *updating("b"), previous=complete, now=9000.0)
    assert found.status == complete


def new_tenant(name: str, created_at: float) -> TenantRollout:
    return TenantRollout(name, NEW, False, created_at)


def test_new_tenants_of_a_completed_rollout_are_limited_and_do_not_fail_it() -> None:
    complete = step(*done("a", "b"), skew=1, now=1000.0).status
    waiting = [TenantRollout("c", 0), TenantRollout("d", 0)]
    first = step(*done("a", "b"), *waiting, skew=1, previous=complete, now=9000.0)
    assert (first.write, phase(first)) == (("c",), "InProgress")

    tenants = [*done("a", "b"), new_tenant("c", 9000.0), TenantRollout("d", 0)]
    second = step(*tenants, skew=1, previous=first.status, now=9059.0)
    assert (second.write, phase(second), second.recheck_at) == ((), "InProgress", 9060.0)

    third = step(*tenants, skew=1, previous=second.status, now=9060.0)
    assert (third.write, phase(third)) == (("d",), "InProgress")
    tenants = [*done("a", "b"), new_tenant("c", 9000.0), TenantRollout("d", NEW, True, 9060.0)]
    last = step(*tenants, skew=1, previous=third.status, now=9061.0)
    assert phase(last) == "Complete"
    assert last.status is not None
    assert last.status.completion_time == "1970-01-01T02:31:01Z"


@pytest.mark.parametrize(("created_at", "expected"), [(1000.0, "Complete"), (1000.1, "InProgress")])
def test_a_tenant_from_the_time_of_the_completion_is_part_of_the_completed_rollout(
    created_at: float, expected: str
) -> None:
    complete = step(*done("a"), now=1000.0).status
    assert phase(step(*done("a"), new_tenant("b", created_at), previous=complete, now=1001.0)) == expected


TENANTS = st.lists(
    st.builds(TenantRollout, st.uuids().map(str), st.sampled_from([0, OLD, NEW]), st.booleans()), max_size=12
)


@settings(deadline=None)
@given(TENANTS, st.integers(1, 5))
def test_the_limit_holds_after_every_step(tenants: list[TenantRollout], skew: int) -> None:
    found = step(*tenants, skew=skew)
    before = sum(tenant.generation == NEW and not tenant.is_rolled_out for tenant in tenants)
    assert before + len(found.write) <= max(skew, before)
    assert set(found.write) <= {tenant.name for tenant in tenants if tenant.generation != NEW}
