"""The graceful shutdown of workloads: stages, start times, connections and periods."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.annotations import PERIOD, STARTED, GraceSettings, started_annotations
from steward.multigres.deletion.draining import (
    COUNT_AGAIN_SECONDS,
    RECHECK_SECONDS,
    DeletionTerms,
    DrainingWorkload,
    DrainPlan,
    DrainStage,
    accept_steps,
    plan_drain,
    pods_of_workload,
)
from steward.multigres.objects.metadata import ACCEPTS_CLIENTS_LABEL, CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.views import (
    PodView,
    WorkloadSpec,
    WorkloadStatus,
    WorkloadView,
)
from steward.runtime.plan.steps import Delete, Patch, Requeue

NOW = 1_800_000_000.0
GRACE = GraceSettings()
STARTED_AT = "2027-01-15T08:00:00Z"


OWNER = OwnerReference("multigres.com/v1alpha1", "Cell", "mini-z1", "u1", controller=True)


def workload(name: str, replicas: int = 1, **changes: Any) -> WorkloadView:
    annotations = changes.pop("annotations", {})
    known = ObjectMeta(
        name=name,
        namespace="ns",
        uid=name,
        generation=2,
        labels={COMPONENT_LABEL: name, CLUSTER_LABEL: "mini"},
        annotations=annotations,
        **{"owner_references": (OWNER,), **changes},
    )
    status = WorkloadStatus(observed_generation=2, replicas=replicas)
    return WorkloadView(known, WorkloadSpec(replicas=replicas), status)


def pod(name: str, component: str) -> PodView:
    labels = {COMPONENT_LABEL: component, CLUSTER_LABEL: "mini"}
    return PodView(ObjectMeta(name=name, namespace="ns", labels=labels))


def draining(
    name: str, replicas: int, pods: int, kind: Kind = DEPLOYMENT, **changes: Any
) -> DrainingWorkload:
    known = [pod(f"{name}-{ordinal}", name) for ordinal in range(pods)]
    return DrainingWorkload(kind, workload(name, replicas, **changes), known)


def terms(now: float = NOW, **changes: Any) -> DeletionTerms:
    return DeletionTerms({}, GRACE, now)._replace(**changes)


STARTED_WORKLOAD: dict[str, Any] = {"annotations": {STARTED: STARTED_AT}}


def test_the_first_step_scales_to_zero_and_annotates_the_start() -> None:
    plan = plan_drain([DrainStage([draining("gw", 2, 2)], 30.0)], terms())
    [patch] = plan.steps
    assert isinstance(patch, Patch)
    changes = patch.patch.changes  # type: ignore[union-attr]
    assert changes["spec"]["replicas"] == 0
    assert changes["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 30
    assert changes["metadata"]["annotations"] == {STARTED: STARTED_AT, PERIOD: "30s"}
    assert plan.waits_for == "gw"


def test_a_workload_that_the_garbage_collector_orphans_meanwhile_is_not_drained() -> None:
    """Removing the owner for `--cascade=orphan` changes the version, so the patch is rejected."""
    [patch] = plan_drain([DrainStage([draining("gw", 2, 2, resource_version="7")], 30.0)], terms()).steps
    assert isinstance(patch, Patch)
    assert patch.patch.has_precondition
    assert patch.patch.changes["metadata"]["resourceVersion"] == "7"  # type: ignore[union-attr]


def test_the_service_is_deleted_before_the_pods_end() -> None:
    delete = Delete(Ref(Kind("v1", "Service"), Key("ns", "gw")), "u", "r")
    plan = plan_drain([DrainStage([draining("gw", 1, 1)._replace(services=(delete,))], 30.0)], terms())
    assert [type(step) for step in plan.steps] == [Delete, Patch]


def test_scaling_a_set_down_to_remove_it_never_deletes_its_claims() -> None:
    [patch] = plan_drain([DrainStage([draining("pool", 1, 1, STATEFUL_SET)], 60.0)], terms()).steps
    policy = patch.patch.changes["spec"]["persistentVolumeClaimRetentionPolicy"]  # type: ignore[union-attr]
    assert policy == {"whenScaled": "Retain"}


@pytest.mark.parametrize(
    "found",
    [
        draining("gw", 1, 0, owner_references=()),
        draining("gw", 0, 0, owner_references=(), **STARTED_WORKLOAD),
        draining("gw", 0, 0, owner_references=(), deletion_timestamp=STARTED_AT, **STARTED_WORKLOAD),
    ],
    ids=["running", "drained", "terminating"],
)
def test_a_workload_without_owner_is_looked_at_again_because_its_end_triggers_nothing(
    found: DrainingWorkload,
) -> None:
    steps = plan_drain([DrainStage([found], 30.0)], terms()).steps
    assert Requeue(RECHECK_SECONDS) in steps


@pytest.mark.parametrize(
    ("found", "connections", "seconds", "is_deleted"),
    [
        (draining("gw", 0, 1, **STARTED_WORKLOAD), None, 10, False),
        (draining("gw", 0, 1, **STARTED_WORKLOAD), 3, 10, False),
        (draining("gw", 0, 1, **STARTED_WORKLOAD), 0, 10, True),
        (draining("gw", 0, 0, **STARTED_WORKLOAD), None, 1, True),
        (draining("gw", 1, 0, **STARTED_WORKLOAD), None, 1, False),
        (draining("gw", 0, 1, **STARTED_WORKLOAD), 3, 30, True),
        (draining("gw", 0, 1, **STARTED_WORKLOAD), None, 31, True),
    ],
)
def test_a_shutdown_is_over_without_connections_or_when_its_period_ends(
    found: DrainingWorkload, connections: int | None, seconds: float, is_deleted: bool
) -> None:
    [step] = plan_drain(
        [DrainStage([found], 30.0)], terms(NOW + seconds, connections=lambda pod: connections)
    ).steps
    assert isinstance(step, Delete) is is_deleted
    if not is_deleted:
        assert step == Requeue(30 - seconds if connections is None else COUNT_AGAIN_SECONDS)


def test_of_several_pods_the_last_busy_one_is_waited_for() -> None:
    found = draining("gw", 0, 3, **STARTED_WORKLOAD)
    clients: dict[str, int | None] = {"gw-0": 0, "gw-1": None, "gw-2": 0}
    counted = terms(NOW + 10, connections=lambda pod: clients[pod.metadata.name])
    assert plan_drain([DrainStage([found], 60.0)], counted).steps == (Requeue(COUNT_AGAIN_SECONDS),)
    clients["gw-1"] = 0
    [step] = plan_drain([DrainStage([found], 60.0)], counted).steps
    assert isinstance(step, Delete)


def test_a_workload_whose_controller_has_not_observed_the_zero_may_still_create_pods() -> None:
    live = workload("gw", 0, **STARTED_WORKLOAD)
    late = WorkloadView(live.metadata, live.spec, WorkloadStatus(observed_generation=1, replicas=0))
    [step] = plan_drain([DrainStage([DrainingWorkload(DEPLOYMENT, late, [])], 30.0)], terms(NOW + 1)).steps
    assert isinstance(step, Requeue)


def test_an_invalid_start_time_starts_the_shutdown_again() -> None:
    [step] = plan_drain(
        [DrainStage([draining("gw", 0, 1, annotations={STARTED: "noon"})], 30.0)], terms()
    ).steps
    assert isinstance(step, Patch)


def test_the_second_stage_waits_for_the_first() -> None:
    orchestrators = DrainStage([draining("orch", 0, 1, **STARTED_WORKLOAD)], 30.0)
    pools = DrainStage([draining("pool", 1, 1, STATEFUL_SET)], 60.0)
    assert plan_drain([orchestrators, pools], terms(NOW + 1)).waits_for == "orch"
    assert plan_drain([DrainStage([], 30.0), pools], terms(NOW + 1)).waits_for == "pool"
    assert plan_drain([DrainStage([], 30.0), DrainStage([], 60.0)], terms()) == DrainPlan(())


def test_a_terminating_workload_is_waited_for_and_not_changed() -> None:
    gone = draining("gw", 1, 1, deletion_timestamp=STARTED_AT)
    plan = plan_drain([DrainStage([gone], 30.0)], terms())
    assert (plan.steps, plan.waits_for) == ((), "gw")


def test_pods_belong_to_the_workload_whose_selector_matches() -> None:
    pods = [pod("a", "gw"), pod("b", "orch")]
    assert [each.metadata.name for each in pods_of_workload(workload("gw"), pods)] == ["a"]


def test_a_start_time_of_an_earlier_shutdown_is_ignored() -> None:
    old = draining("gw", 2, 2, annotations=started_annotations(NOW - 86_400))
    [step] = plan_drain([DrainStage([old], 30.0)], terms(requested_at=NOW - 1)).steps
    assert isinstance(step, Patch)


def ownerless(name: str, ends_at: str | None = None) -> PodView:
    meta = ObjectMeta(name=name, namespace="ns", uid=name, resource_version="7", deletion_timestamp=ends_at)
    return PodView(meta)


def test_a_pod_without_a_controller_is_deleted_in_the_version_that_was_read() -> None:
    plan = plan_drain([DrainStage([], 60.0, [ownerless("pool-0")])], terms())
    [delete] = plan.steps
    assert isinstance(delete, Delete)
    assert (delete.ref.key.name, delete.uid, delete.resource_version) == ("pool-0", "pool-0", "7")
    assert plan.waits_for == "pool-0"


def test_pods_without_a_controller_end_after_the_stage_before_them() -> None:
    stages = [DrainStage([draining("orch", 1, 1)], 30.0), DrainStage([], 60.0, [ownerless("pool-0")])]
    assert not [step for step in plan_drain(stages, terms()).steps if isinstance(step, Delete)]


def test_a_pod_that_its_workload_may_adopt_is_not_deleted() -> None:
    stage = DrainStage([draining("pool", 1, 0, STATEFUL_SET)], 60.0, [ownerless("pool-0")])
    assert not [step for step in plan_drain([stage], terms()).steps if isinstance(step, Delete)]


def test_an_ending_pod_is_waited_for_until_its_grace_period_is_over() -> None:
    stage = DrainStage([], 60.0, [ownerless("pool-0", ends_at="2027-01-15T08:00:10Z")])
    waiting = plan_drain([stage], terms())
    assert (waiting.waits_for, waiting.steps) == ("pool-0", (Requeue(10.0),))
    assert plan_drain([stage], terms(NOW + 11)) == DrainPlan(())


def clients(*labels: str) -> DrainingWorkload:
    """A gateway Deployment whose pods have these values of the label that Services select."""
    pods = [
        PodView(
            ObjectMeta(name=f"gw-{n}", namespace="ns", uid=f"u{n}", labels={ACCEPTS_CLIENTS_LABEL: value})
        )
        for n, value in enumerate(labels)
    ]
    return draining("gw", len(labels), 0)._replace(pods=pods)


def started(workload: DrainingWorkload) -> DrainingWorkload:
    meta = msgspec.structs.replace(workload.live.metadata, annotations={STARTED: STARTED_AT})
    return workload._replace(live=msgspec.structs.replace(workload.live, metadata=meta))


def test_pods_with_clients_get_no_new_ones_and_are_not_ended_yet() -> None:
    plan = plan_drain([DrainStage([clients("true", "true")], 30.0)], terms(connections=lambda pod: 2))
    changes = [step.patch.changes for step in plan.steps if isinstance(step, Patch)]  # type: ignore[union-attr]
    assert [change["metadata"].get("labels") for change in changes] == [
        {ACCEPTS_CLIENTS_LABEL: "false"},
        {ACCEPTS_CLIENTS_LABEL: "false"},
        None,
    ]
    assert changes[-1]["metadata"]["annotations"] == {STARTED: STARTED_AT, PERIOD: "30s"}
    assert all("spec" not in change for change in changes)
    assert plan.connections == 4


def test_pods_that_are_desired_again_get_clients_again() -> None:
    [step] = accept_steps(clients("true", "false").pods)
    assert isinstance(step, Patch)
    assert step.ref.key.name == "gw-1"
    assert step.patch.changes["metadata"]["labels"] == {ACCEPTS_CLIENTS_LABEL: "true"}  # type: ignore[union-attr]


@pytest.mark.parametrize("count", [0, None], ids=["no-clients", "unknown"])
def test_pods_without_clients_that_are_counted_end_at_once(count: int | None) -> None:
    [patch] = plan_drain([DrainStage([clients("true")], 30.0)], terms(connections=lambda pod: count)).steps
    assert patch.patch.changes["spec"]["replicas"] == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("seconds", "count", "ends"),
    [(10, 2, False), (10, None, False), (10, 0, True), (30, 2, True)],
    ids=["busy", "unknown", "last-client-left", "period-over"],
)
def test_pods_end_when_the_last_client_has_left_or_the_period_is_over(
    seconds: int, count: int | None, ends: bool
) -> None:
    stage = DrainStage([started(clients("false"))], 30.0)
    [step] = plan_drain([stage], terms(NOW + seconds, connections=lambda pod: count)).steps
    assert isinstance(step, Patch if ends else Requeue)
    if isinstance(step, Patch):
        assert step.patch.changes["spec"]["replicas"] == 0  # type: ignore[union-attr]
        assert step.patch.changes["metadata"]["annotations"][STARTED] == STARTED_AT  # type: ignore[union-attr]


def test_a_period_that_is_shorter_than_the_grace_of_running_pods_reaches_them() -> None:
    ending = PodView(
        ObjectMeta(name="gw-0", namespace="ns", uid="u0", deletion_timestamp="2027-01-15T08:01:00Z")
    )
    workload = started(draining("gw", 0, 0)._replace(pods=[ending]))
    steps = plan_drain([DrainStage([workload], 20.0)], terms(NOW + 5)).steps
    [delete] = [step for step in steps if isinstance(step, Delete)]
    assert (delete.ref.key.name, delete.uid, delete.grace_seconds) == ("gw-0", "u0", 15)


def servers(**changes: Any) -> DrainingWorkload:
    return draining("pool", 3, 3, STATEFUL_SET, **changes)


def test_servers_with_open_transactions_are_not_ended_yet_and_keep_their_labels() -> None:
    plan = plan_drain([DrainStage([servers()], 60.0)], terms(connections=lambda pod: 2))
    [patch] = plan.steps
    assert isinstance(patch, Patch)
    assert patch.ref.kind == STATEFUL_SET
    assert "spec" not in patch.patch.changes  # type: ignore[operator]
    assert plan.connections == 6


@pytest.mark.parametrize(
    ("seconds", "count", "ends"),
    [(10, 2, False), (10, None, False), (10, 0, True), (60, 2, True)],
    ids=["busy", "unknown", "last-transaction-ended", "period-over"],
)
def test_servers_end_when_the_last_transaction_has_ended_or_the_period_is_over(
    seconds: int, count: int | None, ends: bool
) -> None:
    stage = DrainStage([servers(**STARTED_WORKLOAD)], 60.0)
    [step] = plan_drain([stage], terms(NOW + seconds, connections=lambda pod: count)).steps
    assert isinstance(step, Patch if ends else Requeue)
    if isinstance(step, Patch):
        changes: Any = step.patch.changes
        assert changes["spec"]["replicas"] == 0
        # The period begins again: Postgres needs it to stop.
        assert changes["metadata"]["annotations"] == started_annotations(NOW + seconds, 60.0)


def test_servers_without_connections_are_waited_for_until_they_have_stopped() -> None:
    """A gateway may end with its workload; a Postgres that still writes its last checkpoint may not."""
    workload = draining("pool", 0, 3, STATEFUL_SET, **STARTED_WORKLOAD)
    steps = plan_drain([DrainStage([workload], 60.0)], terms(NOW + 5, connections=lambda pod: 0)).steps
    assert [type(step) for step in steps] == [Requeue]
