"""The limits of a graceful shutdown: times at their boundaries, periods, counts and long lists."""

from typing import Any

import pytest

from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Kind
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.annotations import STARTED, GraceSettings
from steward.multigres.deletion.draining import (
    MIN_WAIT_SECONDS,
    DeletionTerms,
    DrainingWorkload,
    DrainPlan,
    DrainStage,
    plan_drain,
)
from steward.multigres.objects.deployments import ENDPOINT_REMOVAL_SECONDS
from steward.multigres.objects.metadata import ACCEPTS_CLIENTS_LABEL
from steward.multigres.views import PodView, WorkloadSpec, WorkloadStatus, WorkloadView
from steward.runtime.plan.steps import Delete, Patch, Requeue

NOW = 1_800_000_000.0
STARTED_AT = "2027-01-15T08:00:00Z"
OWNER = OwnerReference("multigres.com/v1alpha1", "Cell", "mini-z1", "u1", controller=True)


def workload(
    name: str = "gw",
    *,
    replicas: int = 1,
    kind: Kind = DEPLOYMENT,
    pods: tuple[PodView, ...] = (),
    start: str = "",
) -> DrainingWorkload:
    annotations = {STARTED: start} if start else {}
    meta = ObjectMeta(
        name=name, namespace="ns", uid=name, generation=2, annotations=annotations, owner_references=(OWNER,)
    )
    status = WorkloadStatus(observed_generation=2, replicas=replicas)
    return DrainingWorkload(kind, WorkloadView(meta, WorkloadSpec(replicas=replicas), status), pods)


def pod(name: str = "gw-0", accepts: str = "true", ends_at: str | None = None) -> PodView:
    labels = {ACCEPTS_CLIENTS_LABEL: accepts}
    return PodView(ObjectMeta(name=name, namespace="ns", uid=name, labels=labels, deletion_timestamp=ends_at))


def drain(stage: DrainStage, after: float = 0.0, **clients: int | None) -> DrainPlan:
    """The plan this many seconds after the start; `clients` are those of each pod, by its name without hyphen."""
    counts = {name.replace("_", "-"): count for name, count in clients.items()}
    terms = DeletionTerms({}, GraceSettings(), NOW + after, lambda pod: counts.get(pod.metadata.name))
    return plan_drain([stage], terms)


@pytest.mark.parametrize(
    ("count", "names"),
    [(1, "a"), (5, "a, b, c, d, e"), (6, "a, b, c, d, e and 1 more"), (8, "a, b, c, d, e and 3 more")],
)
def test_the_first_five_workloads_are_named(count: int, names: str) -> None:
    stage = DrainStage([workload(name) for name in "hgfedcba"[-count:]], 30.0)
    assert drain(stage).waits_for == names


@pytest.mark.parametrize(("after", "is_waited_for"), [(9.9, True), (10.0, False)])
def test_a_pod_without_a_controller_is_waited_for_until_the_second_in_which_its_grace_period_ends(
    after: float, is_waited_for: bool
) -> None:
    stage = DrainStage([], 60.0, [pod(ends_at="2027-01-15T08:00:10Z")])
    assert (drain(stage, after) != DrainPlan(())) is is_waited_for


@pytest.mark.parametrize(
    ("clients", "count"),
    [
        ({"gw_0": 2, "gw_1": 3}, 5),
        ({"gw_0": 0, "gw_1": 0}, 0),
        ({"gw_0": 2, "gw_1": None}, None),
        ({}, None),
    ],
    ids=["counted", "none", "one unknown", "unknown"],
)
def test_clients_are_counted_if_the_number_of_every_pod_is_known(
    clients: dict[str, int | None], count: int | None
) -> None:
    stage = DrainStage([workload(replicas=2, pods=(pod("gw-0"), pod("gw-1")))], 30.0)
    assert drain(stage, **clients).connections == count
    assert drain(DrainStage([workload(pods=())], 30.0)).connections is None


@pytest.mark.parametrize(
    ("after", "seconds"), [(10.0, 2.0), (29.0, 1.0), (29.5, 0.5), (29.9, MIN_WAIT_SECONDS)]
)
def test_clients_keep_their_gateway_until_the_period_is_over(after: float, seconds: float) -> None:
    stage = DrainStage([workload(pods=(pod(accepts="false"),), start=STARTED_AT)], 30.0)
    [step] = drain(stage, after, gw_0=1).steps
    assert isinstance(step, Requeue)
    assert step.after == pytest.approx(seconds)
    [ended] = drain(stage, 30.0, gw_0=1).steps
    assert isinstance(ended, Patch)


def test_a_workload_that_is_scaled_to_zero_is_deleted_when_its_last_client_has_left() -> None:
    stage = DrainStage([workload(replicas=0, pods=(pod(accepts="false"),), start=STARTED_AT)], 30.0)
    [step] = drain(stage, 10.0, gw_0=0).steps
    assert isinstance(step, Delete)


@pytest.mark.parametrize(
    ("ends_at", "after", "grace"),
    [
        ("2027-01-15T08:00:25Z", 5.0, None),
        ("2027-01-15T08:00:26Z", 5.0, 15),
        ("2027-01-15T08:00:35Z", 30.0, None),
        ("2027-01-15T08:00:36Z", 30.0, 1),
    ],
    ids=["within the tolerance", "later", "period over, within the tolerance", "period over"],
)
def test_a_pod_that_would_end_after_the_period_gets_what_is_left_of_it(
    ends_at: str, after: float, grace: int | None
) -> None:
    stage = DrainStage([workload(replicas=0, pods=(pod(ends_at=ends_at),), start=STARTED_AT)], 20.0)
    deletes = [step for step in drain(stage, after).steps if isinstance(step, Delete)]
    found = [step.grace_seconds for step in deletes if step.ref.key.name == "gw-0"]
    assert found == ([] if grace is None else [grace])


@pytest.mark.parametrize(
    ("kind", "period", "grace"),
    [
        (STATEFUL_SET, 0.0, 0),
        (STATEFUL_SET, 60.0, 60),
        (DEPLOYMENT, 0.0, ENDPOINT_REMOVAL_SECONDS + 1),
        (DEPLOYMENT, 60.0, 60),
    ],
)
def test_pods_of_a_deployment_have_time_for_their_pre_stop_hook(
    kind: Kind, period: float, grace: int
) -> None:
    [patch] = drain(DrainStage([workload(kind=kind)], period)).steps
    assert isinstance(patch, Patch)
    changes: dict[str, Any] = patch.patch.changes  # type: ignore[union-attr]
    assert changes["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == grace
