"""What annotations say about the end of an object, and what is counted of it."""

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.annotations import (
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
from steward.multigres.objects.metadata import FINALIZER

NOW = 1_800_000_000.0
GRACE = Grace()
CELL_KIND = Kind("multigres.com/v1alpha1", "Cell")


def test_the_objects_own_annotations_win_over_the_clusters_one_by_one() -> None:
    found = steering(
        {PERIOD: "5s"}, {PERIOD: "9s", FORCE: "true", STARTED: "2027-01-15T08:00:00Z", "other": "x"}
    )
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


def test_what_is_noted_is_read_back() -> None:
    note = started_note(NOW, 90.0)
    assert shutdown_start(note, NOW + 10).at == NOW
    assert shutdown_period(note, 30.0, GRACE).seconds == 90


def test_the_finalizer_is_put_beside_others_and_taken_from_among_them() -> None:
    ref = Ref(CELL_KIND, Key("ns", "c"))
    meta = ObjectMeta(name="c", resource_version="7", finalizers=("a/b",))
    [step] = held(ref, meta)
    assert step.patch == MergePatch.metadata_as_seen("7", finalizers=["a/b", FINALIZER])
    both = ObjectMeta(name="c", resource_version="8", finalizers=("a/b", FINALIZER, "z/y"))
    assert held(ref, both) == ()
    assert release(ref, both).patch == MergePatch.metadata_as_seen("8", finalizers=["a/b", "z/y"])


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
