"""What annotations say about the end of an object, who stands on a topology server, and in which order things go."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.conditions import find_condition
from steward.kube.kinds import DEPLOYMENT, STATEFUL_SET, Key, Kind, Ref
from steward.kube.meta import ObjectMeta, OwnerReference
from steward.kube.patches import JsonPatch
from steward.multigres import names
from steward.multigres.api.cell import CellSpec, CellTopoServer, TopoServerRef
from steward.multigres.api.compute import MultiOrch, Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.topo import Etcd
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.deletion import (
    FORCE,
    PERIOD,
    PROTECTION,
    STARTED,
    Grace,
    held,
    is_forced,
    is_protected,
    release,
    shutdown_period,
    shutdown_start,
    started_note,
    steering,
)
from steward.multigres.deletion_metrics import DeletionFigures
from steward.multigres.dependents import Beside, Dependent, blocked, dependents_of, servers_used, unblocked
from steward.multigres.draining import COUNT_AGAIN_SECONDS, Going, Stage, Terms, drain, pods_of
from steward.multigres.durations import parse_duration, show_duration
from steward.multigres.objects.metadata import CLUSTER, COMPONENT, FINALIZER
from steward.multigres.removal import (
    Present,
    Remains,
    Then,
    by_force,
    last_step,
    let_go,
    next_step,
    was_orphaned,
)
from steward.multigres.views import (
    CellView,
    PodView,
    ShardView,
    TableGroupView,
    TopoServerView,
    WorkloadSpec,
    WorkloadStatus,
    WorkloadView,
)
from steward.runtime.plan import Delete, Patch, Requeue

NOW = 1_800_000_000.0
GRACE = Grace()
CELL_KIND, SHARD_KIND = Kind("multigres.com/v1alpha1", "Cell"), Kind("multigres.com/v1alpha1", "Shard")
GOING = "2027-01-15T08:00:00Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("2h", 7200),
        ("0", 0),
        ("1.5s", 1.5),
        (" 5s ", 5),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("1000000000ns", 1),
    ],
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "30", "-5s", "5 s", "s", "1d", "٣s", "1e3s", "infs"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (0.5, "500ms"), (30, "30s"), (59.5, "59.5s"), (60, "1m0s"), (300, "5m0s"), (3690, "1h1m30s")],
)
def test_a_duration_is_shown_as_go_would_and_reads_back_as_the_same(seconds: float, shown: str) -> None:
    assert show_duration(seconds) == shown
    assert parse_duration(shown) == seconds


def test_the_objects_own_annotations_win_over_the_clusters_one_by_one() -> None:
    found = steering({PERIOD: "5s"}, {PERIOD: "9s", FORCE: "true", STARTED: GOING, "other": "x"})
    assert found == {PERIOD: "5s", FORCE: "true"}


@pytest.mark.parametrize(
    ("said", "setting", "protected"),
    [
        (None, True, True),
        (None, False, False),
        ("enabled", False, True),
        ("disabled", True, False),
        ("Disabled", True, False),
        ("off", True, True),
        ("", True, True),
    ],
)
def test_protection_is_off_only_when_somebody_says_so(
    said: str | None, setting: bool, protected: bool
) -> None:
    annotations = {} if said is None else {PROTECTION: said}
    assert is_protected(annotations, Grace(protects=setting)) is protected


@pytest.mark.parametrize(
    ("said", "forced"), [("true", True), ("True", True), ("false", False), ("yes", False)]
)
def test_only_true_forces(said: str, forced: bool) -> None:
    assert is_forced({FORCE: said}) is forced


@pytest.mark.parametrize(
    ("said", "seconds", "complaint"),
    [
        (None, 30, ""),
        ("5s", 5, ""),
        ("0s", 0, ""),
        ("300s", 300, ""),
        ("1h", 300, "1h is more than allowed; 5m0s is used instead"),
        ("soon", 30, "'soon' is no duration, such as 30s or 1m30s; 30s is used instead"),
        ("-1s", 30, "'-1s' is no duration, such as 30s or 1m30s; 30s is used instead"),
    ],
)
def test_a_period_is_capped_and_nonsense_falls_back(said: str | None, seconds: float, complaint: str) -> None:
    found = shutdown_period({} if said is None else {PERIOD: said}, 30.0, GRACE)
    assert found.seconds == seconds
    assert found.complaint == (f"{PERIOD}: {complaint}" if complaint else "")


def test_poolers_have_twice_the_time_and_nobody_more_than_the_most() -> None:
    assert GRACE.pooler_seconds == 60
    assert shutdown_period({}, Grace(200, 300).pooler_seconds, Grace(200, 300)).seconds == 300


@pytest.mark.parametrize(
    ("said", "at", "complains"),
    [
        (None, None, False),
        ("2027-01-15T08:00:00Z", NOW, False),
        ("2027-01-15T07:59:00Z", NOW - 60, False),
        ("2027-01-15T08:00:05Z", NOW + 5, False),
        ("2027-01-15T09:00:00Z", None, True),
        ("yesterday", None, True),
        ("", None, True),
    ],
)
def test_a_start_that_cannot_be_is_none(said: str | None, at: float | None, complains: bool) -> None:
    found = shutdown_start({} if said is None else {STARTED: said}, NOW)
    assert found.at == at
    assert bool(found.complaint) is complains


@pytest.mark.parametrize(
    ("said", "counts"),
    [(NOW - 2, True), (NOW - 1800, True), (NOW - 2 * 3600, False), (NOW - 20 * 365 * 86_400, False)],
)
def test_a_start_from_long_before_the_deletion_was_another_one(said: float, counts: bool) -> None:
    found = shutdown_start(started_note(said), NOW + 5, asked=NOW)
    assert (found.at == said) is counts
    assert ("long before the deletion" in found.complaint) is not counts


def test_a_workload_with_the_stamp_of_another_life_drains_like_any_other() -> None:
    old = going("gw", 2, 2, annotations=started_note(NOW - 86_400))
    [step] = drain([Stage([old], 30.0)], terms(asked=NOW - 1)).steps
    assert isinstance(step, Patch)


def test_what_is_noted_is_read_back() -> None:
    note = started_note(NOW, 90.0)
    assert shutdown_start(note, NOW + 10).at == NOW
    assert shutdown_period(note, 30.0, GRACE).seconds == 90


def test_the_finalizer_is_put_beside_others_and_taken_from_among_them() -> None:
    ref = Ref(CELL_KIND, Key("ns", "c"))
    meta = ObjectMeta(name="c", resource_version="7", finalizers=("a/b",))
    [patch] = held(ref, meta)
    assert patch.patch.guarded
    assert patch.patch.operations[1]["value"] == ["a/b", FINALIZER]  # type: ignore[union-attr]
    both = ObjectMeta(name="c", resource_version="8", finalizers=("a/b", FINALIZER, "z/y"))
    assert held(ref, both) == ()
    assert release(ref, both).patch.operations[1]["value"] == ["a/b", "z/y"]  # type: ignore[union-attr]


def meta(name: str, going: bool = False, **labels: str) -> ObjectMeta:
    known = {CLUSTER: "mini", **{f"multigres.com/{key}": value for key, value in labels.items()}}
    return ObjectMeta(
        name=name, namespace="ns", uid=name, labels=known, deletion_timestamp=GOING if going else None
    )


GLOBAL = TopoServerView(meta("mini-global-topo"), TopoServerSpec())
REF = TopoServerRef(name="mini-global-topo")
Z1 = names.cell("mini", "z1")
LOCAL = TopoServerView(meta(names.local_topo(Z1), cell="z1"), TopoServerSpec())


def cell(name: str = Z1, going: bool = False, local: bool = False, ref: Any = REF) -> CellView:
    own = CellTopoServer(etcd=Etcd()) if local else CellTopoServer()
    return CellView(meta(name, going), CellSpec(name="z1", topo_server=own, topo_server_ref=ref))


def shard(
    name: str = "s", cells: tuple[str, ...] = ("z1",), ref: Any = REF, going: bool = False
) -> ShardView:
    pools = {"default": Pool(cells=list(cells))}
    spec = ShardSpec(
        shard_name="0-inf", pools=pools, multiorch=MultiOrch(cells=list(cells)), topo_server_ref=ref
    )
    return ShardView(meta(name, going), spec)


def group(name: str = "g", ref: Any = REF) -> TableGroupView:
    spec = TableGroupSpec(database_name="postgres", table_group_name="default", topo_server_ref=ref)
    return TableGroupView(meta(name), spec)


OTHER = TopoServerRef(name="another")


@pytest.mark.parametrize(
    ("server", "beside", "found"),
    [
        (GLOBAL, Beside([], [], []), []),
        (GLOBAL, Beside([cell()], [], []), [Dependent("Cell", Z1)]),
        (GLOBAL, Beside([cell(going=True)], [], []), [Dependent("Cell", Z1)]),
        (
            GLOBAL,
            Beside([cell()], [group()], [shard()]),
            [Dependent("Cell", Z1), Dependent("Shard", "s"), Dependent("TableGroup", "g")],
        ),
        (GLOBAL, Beside([cell(ref=OTHER)], [group(ref=OTHER)], [shard(ref=OTHER)]), []),
        (LOCAL, Beside([cell(local=True)], [], []), [Dependent("Cell", Z1)]),
        (LOCAL, Beside([cell(local=True, going=True)], [], []), []),
        (LOCAL, Beside([cell(local=True, going=True)], [], [shard()]), [Dependent("Shard", "s")]),
        (LOCAL, Beside([cell(local=True, going=True)], [], [shard(cells=("z2",))]), []),
        (LOCAL, Beside([cell(local=False)], [], [shard()]), []),
        (LOCAL, Beside([], [group()], []), []),
    ],
)
def test_who_stands_on_a_topology_server(
    server: TopoServerView, beside: Beside, found: list[Dependent]
) -> None:
    assert dependents_of(server, beside) == found


def test_every_server_that_an_object_uses_hears_of_it() -> None:
    assert set(servers_used(cell(local=True))) == {"mini-global-topo", names.local_topo(Z1)}
    both = [names.local_topo(names.cell("mini", name)) for name in ("z1", "z2")]
    assert list(servers_used(shard(cells=("z2", "z1")))) == ["mini-global-topo", *both]


def test_a_blocked_deletion_says_how_many_and_who() -> None:
    two = [Dependent("Cell", "my-gateway"), Dependent("Shard", "my-pooler")]
    conditions = blocked(GLOBAL.metadata, two)
    stopped = find_condition(conditions, "DeletionBlocked")
    safe = find_condition(conditions, "SafeToDelete")
    assert stopped is not None
    assert safe is not None
    assert (stopped.status, stopped.reason) == ("True", "DependentComponentsExist")
    assert stopped.message == "Cannot delete: 2 components depend on this etcd (my-gateway, my-pooler)"
    assert (safe.status, safe.reason) == ("False", "HasDependents")
    assert safe.message == "Remove or update dependent components first"


def test_an_unprotected_server_with_dependents_is_not_called_safe() -> None:
    safe = find_condition(unblocked(GLOBAL.metadata), "SafeToDelete")
    unsafe = find_condition(unblocked(GLOBAL.metadata, [Dependent("Cell", "c")]), "SafeToDelete")
    assert safe is not None
    assert unsafe is not None
    assert (safe.status, unsafe.status, unsafe.reason) == ("True", "False", "ProtectionOff")


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


def present(kind: str, name: str, going: bool = False, owned: bool = True) -> Present:
    owners = (OwnerReference(uid="o", controller=True),) if owned else ()
    stamp = GOING if going else None
    meta = ObjectMeta(
        name=name, uid=name, resource_version="7", deletion_timestamp=stamp, owner_references=owners
    )
    known = WorkloadView(meta)
    return Present(Ref(Kind("multigres.com/v1alpha1", kind), Key("ns", name)), known)


C, G, S, T, R = (
    present("Cell", "c"),
    present("TableGroup", "g"),
    present("Shard", "s"),
    present("TopoServer", "t"),
    present("Secret", "r"),
)
GW = present("Deployment", "gw")
STRAY = present("Cell", "stray", owned=False)
ALL = Remains([C], [GW], [G], [S], [T], [R])


def deleted(plan: Any) -> list[str]:
    return [step.ref.key.name for step in plan]


@pytest.mark.parametrize(
    ("remains", "asked", "then"),
    [
        (ALL, ["c"], Then.WAIT),
        (ALL._replace(cells=[present("Cell", "c", going=True)]), [], Then.WAIT),
        (ALL._replace(gateways=[]), ["c", "g"], Then.WAIT),
        (ALL._replace(gateways=[], groups=[]), ["c"], Then.WAIT),
        (
            ALL._replace(cells=[], gateways=[], groups=[], shards=[present("Shard", "s", owned=False)]),
            ["s"],
            Then.WAIT,
        ),
        (
            ALL._replace(gateways=[], groups=[], shards=[], cells=[present("Cell", "c", going=True)]),
            [],
            Then.WAIT,
        ),
        (ALL._replace(cells=[], gateways=[], groups=[], shards=[]), [], Then.DEREGISTER),
    ],
)
def test_gateways_go_first_then_shards_then_cells_then_records(
    remains: Remains, asked: list[str], then: Then
) -> None:
    step = next_step(remains)
    assert (deleted(step.steps), step.then) == (asked, then)
    assert bool(step.waits_for) is (then is Then.WAIT)


@pytest.mark.parametrize(
    ("owned", "labelled", "is_through"),
    [([], [C], False), ([], [STRAY], True), ([C], [C, STRAY], False), ([], [], False)],
    ids=["another's", "let go", "a hand took one owner away", "nothing left"],
)
def test_a_cluster_whose_children_were_all_let_go_was_orphaned(
    owned: list[Present], labelled: list[Present], is_through: bool
) -> None:
    assert was_orphaned(owned, [each.seen for each in labelled]) is is_through


def test_whom_a_cluster_lets_go_keeps_its_other_owners_and_only_as_it_was_seen() -> None:
    [step] = let_go("o", [C])
    assert isinstance(step, Patch)
    assert step.patch == JsonPatch(
        [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "add", "path": "/metadata/ownerReferences", "value": []},
        ]
    )
    [step] = let_go("another", [C])
    assert isinstance(step, Patch)
    assert [owner["uid"] for owner in step.patch.operations[1]["value"]] == ["o"]


def test_nobody_is_asked_to_go_but_as_it_was_seen() -> None:
    """The garbage collector takes the owners away before anybody hears of it: a stale look must not delete."""
    assert [step.resource_version for step in by_force(ALL).steps if isinstance(step, Delete)] == ["7"] * 5


def test_the_topology_server_goes_after_the_records_and_the_rest_after_it() -> None:
    nobody = Remains([], [], [], [], [], [])
    assert deleted(last_step(nobody._replace(servers=[T], rest=[R])).steps) == ["t"]
    assert deleted(last_step(nobody._replace(rest=[R])).steps) == ["r"]
    assert last_step(nobody).then is Then.RELEASE


def test_by_force_everything_is_asked_at_once_and_waited_for() -> None:
    step = by_force(ALL)
    assert deleted(step.steps) == ["c", "g", "s", "t", "r"]
    assert step.waits_for.startswith("waiting for Cell c, TableGroup g")
    assert by_force(Remains([], [], [], [], [], [])).then is Then.DEREGISTER


def test_the_figures_have_the_names_labels_and_buckets_that_dashboards_know() -> None:
    registry = CollectorRegistry()
    figures = DeletionFigures(registry)
    figures.blocked("TopoServer", "shop")
    figures.ended("Cell", 7.0)
    assert registry.get_sample_value(
        "multigres_deletion_blocked_total", {"kind": "TopoServer", "namespace": "shop"}
    )
    name = "multigres_graceful_shutdown_duration_seconds_bucket"
    bounds = ("1.0", "5.0", "10.0", "30.0", "60.0", "120.0", "300.0", "+Inf")
    counts = [registry.get_sample_value(name, {"kind": "Cell", "le": bound}) for bound in bounds]
    assert counts == [0, 0, 1, 1, 1, 1, 1, 1]
