"""The graceful end of workloads: stages, stamps, clients and time."""

from typing import Any

import pytest

from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.deletion.annotations import PERIOD, STARTED, Grace, started_note
from steward.multigres.deletion.draining import COUNT_AGAIN_SECONDS, Going, Stage, Terms, drain, pods_of
from steward.multigres.objects.metadata import CLUSTER, COMPONENT
from steward.multigres.views import (
    PodView,
    WorkloadSpec,
    WorkloadStatus,
    WorkloadView,
)
from steward.runtime.plan.steps import Delete, Patch, Requeue

NOW = 1_800_000_000.0
GRACE = Grace()
GOING = "2027-01-15T08:00:00Z"


def workload(name: str, replicas: int = 1, **changes: Any) -> WorkloadView:
    annotations = changes.pop("annotations", {})
    known = ObjectMeta(
        name=name,
        namespace="ns",
        uid=name,
        generation=2,
        labels={COMPONENT: name, CLUSTER: "mini"},
        annotations=annotations,
        **changes,
    )
    status = WorkloadStatus(observed_generation=2, replicas=replicas)
    return WorkloadView(known, WorkloadSpec(replicas=replicas), status)


def pod(name: str, component: str) -> PodView:
    labels = {COMPONENT: component, CLUSTER: "mini"}
    return PodView(ObjectMeta(name=name, namespace="ns", labels=labels))


def going(name: str, replicas: int, pods: int, kind: Kind = DEPLOYMENT, **changes: Any) -> Going:
    known = [pod(f"{name}-{ordinal}", name) for ordinal in range(pods)]
    return Going(kind, workload(name, replicas, **changes), known)


def terms(now: float = NOW, **changes: Any) -> Terms:
    return Terms({}, GRACE, now)._replace(**changes)


STAMPED: dict[str, Any] = {"annotations": {STARTED: GOING}}


def test_the_first_look_scales_to_zero_and_notes_the_start() -> None:
    draining = drain([Stage([going("gw", 2, 2)], 30.0)], terms())
    [patch] = draining.steps
    assert isinstance(patch, Patch)
    changes = patch.patch.changes  # type: ignore[union-attr]
    assert changes["spec"]["replicas"] == 0
    assert changes["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 30
    assert changes["metadata"]["annotations"] == {STARTED: GOING, PERIOD: "30s"}
    assert draining.waits_for == "gw"


def test_what_the_garbage_collector_lets_go_meanwhile_is_not_drained() -> None:
    """It takes the owner away for `--cascade=orphan`, and with it goes the version that was seen."""
    [patch] = drain([Stage([going("gw", 2, 2, resource_version="7")], 30.0)], terms()).steps
    assert isinstance(patch, Patch)
    assert patch.patch.guarded
    assert patch.patch.changes["metadata"]["resourceVersion"] == "7"  # type: ignore[union-attr]


def test_a_service_is_left_before_the_pods_end() -> None:
    leaves = Delete(Ref(Kind("v1", "Service"), Key("ns", "gw")), "u", "r")
    draining = drain([Stage([going("gw", 1, 1)._replace(services=(leaves,))], 30.0)], terms())
    assert [type(step) for step in draining.steps] == [Delete, Patch]


def test_scaling_a_set_down_to_remove_it_never_deletes_its_claims() -> None:
    [patch] = drain([Stage([going("pool", 1, 1, STATEFUL_SET)], 60.0)], terms()).steps
    policy = patch.patch.changes["spec"]["persistentVolumeClaimRetentionPolicy"]  # type: ignore[union-attr]
    assert policy == {"whenScaled": "Retain"}


@pytest.mark.parametrize(
    ("found", "connections", "seconds", "is_deleted"),
    [
        (going("gw", 0, 1, **STAMPED), None, 10, False),
        (going("gw", 0, 1, **STAMPED), 3, 10, False),
        (going("gw", 0, 1, **STAMPED), 0, 10, True),
        (going("gw", 0, 0, **STAMPED), None, 1, True),
        (going("gw", 1, 0, **STAMPED), None, 1, False),
        (going("gw", 0, 1, **STAMPED), 3, 30, True),
        (going("gw", 0, 1, **STAMPED), None, 31, True),
    ],
)
def test_a_shutdown_is_over_when_nobody_is_left_or_the_time_is(
    found: Going, connections: int | None, seconds: float, is_deleted: bool
) -> None:
    [step] = drain([Stage([found], 30.0)], terms(NOW + seconds, connections=lambda pod: connections)).steps
    assert isinstance(step, Delete) is is_deleted
    if not is_deleted:
        assert step == Requeue(30 - seconds if connections is None else COUNT_AGAIN_SECONDS)


def test_of_several_pods_the_last_busy_one_is_waited_for() -> None:
    found = going("pool", 0, 3, STATEFUL_SET, **STAMPED)
    clients: dict[str, int | None] = {"pool-0": 0, "pool-1": None, "pool-2": 0}
    counted = terms(NOW + 10, connections=lambda pod: clients[pod.metadata.name])
    assert drain([Stage([found], 60.0)], counted).steps == (Requeue(COUNT_AGAIN_SECONDS),)
    clients["pool-1"] = 0
    [step] = drain([Stage([found], 60.0)], counted).steps
    assert isinstance(step, Delete)


def test_a_set_whose_controller_has_not_seen_the_zero_may_still_make_pods() -> None:
    seen = workload("gw", 0, **STAMPED)
    late = WorkloadView(seen.metadata, seen.spec, WorkloadStatus(observed_generation=1, replicas=0))
    [step] = drain([Stage([Going(DEPLOYMENT, late, [])], 30.0)], terms(NOW + 1)).steps
    assert isinstance(step, Requeue)


def test_a_bad_stamp_starts_anew() -> None:
    [step] = drain([Stage([going("gw", 0, 1, annotations={STARTED: "noon"})], 30.0)], terms()).steps
    assert isinstance(step, Patch)


def test_the_second_stage_waits_for_the_first() -> None:
    orchestrators = Stage([going("orch", 0, 1, **STAMPED)], 30.0)
    pools = Stage([going("pool", 1, 1, STATEFUL_SET)], 60.0)
    assert drain([orchestrators, pools], terms(NOW + 1)).waits_for == "orch"
    assert drain([Stage([], 30.0), pools], terms(NOW + 1)).waits_for == "pool"
    assert drain([Stage([], 30.0), Stage([], 60.0)], terms()) == ((), "", "")


def test_what_somebody_else_is_deleting_is_waited_for_and_not_touched() -> None:
    gone = going("gw", 1, 1, deletion_timestamp=GOING)
    draining = drain([Stage([gone], 30.0)], terms())
    assert (draining.steps, draining.waits_for) == ((), "gw")


def test_pods_are_told_apart_by_what_their_workload_selects() -> None:
    pods = [pod("a", "gw"), pod("b", "orch")]
    assert [each.metadata.name for each in pods_of(workload("gw"), pods)] == ["a"]


def test_a_workload_with_the_stamp_of_another_life_drains_like_any_other() -> None:
    old = going("gw", 2, 2, annotations=started_note(NOW - 86_400))
    [step] = drain([Stage([old], 30.0)], terms(asked=NOW - 1)).steps
    assert isinstance(step, Patch)
