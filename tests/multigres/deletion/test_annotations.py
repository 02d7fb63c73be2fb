"""Annotations that steer a deletion, finalizers, and the metrics of deletions."""

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.objects.kinds import Kind
from steward.multigres.deletion.annotations import (
    FORCE,
    PERIOD,
    PROTECTION,
    STARTED,
    GraceSettings,
    effective_annotations,
    is_forced,
    is_protected,
    shutdown_period,
    shutdown_start,
    started_annotations,
)
from steward.multigres.metrics import DeletionMetrics

NOW = 1_800_000_000.0
GRACE = GraceSettings()
CELL_KIND = Kind("multigres.com/v1alpha1", "Cell")


def test_the_objects_own_annotations_win_over_the_clusters_one_by_one() -> None:
    found = effective_annotations(
        {PERIOD: "5s"}, {PERIOD: "9s", FORCE: "true", STARTED: "2027-01-15T08:00:00Z", "other": "x"}
    )
    assert found == {PERIOD: "5s", FORCE: "true"}


@pytest.mark.parametrize(
    ("value", "setting", "protected"),
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
def test_protection_is_off_only_if_the_annotation_says_so(
    value: str | None, setting: bool, protected: bool
) -> None:
    annotations = {} if value is None else {PROTECTION: value}
    assert is_protected(annotations, GraceSettings(protects_by_default=setting)) is protected


@pytest.mark.parametrize(
    ("value", "forced"), [("true", True), ("True", True), ("false", False), ("yes", False)]
)
def test_only_true_forces(value: str, forced: bool) -> None:
    assert is_forced({FORCE: value}) is forced


@pytest.mark.parametrize(
    ("value", "seconds", "complaint"),
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
def test_a_period_is_capped_and_an_invalid_one_falls_back(
    value: str | None, seconds: float, complaint: str
) -> None:
    found = shutdown_period({} if value is None else {PERIOD: value}, 30.0, GRACE)
    assert found.seconds == seconds
    assert found.problem == (f"{PERIOD}: {complaint}" if complaint else "")


def test_poolers_have_twice_the_period_up_to_the_maximum() -> None:
    assert GRACE.pooler_seconds == 60
    assert shutdown_period({}, GraceSettings(200, 300).pooler_seconds, GraceSettings(200, 300)).seconds == 300


@pytest.mark.parametrize(
    ("value", "at", "complains"),
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
def test_an_impossible_start_is_ignored(value: str | None, at: float | None, complains: bool) -> None:
    found = shutdown_start({} if value is None else {STARTED: value}, NOW)
    assert found.at == at
    assert bool(found.problem) is complains


@pytest.mark.parametrize(
    ("value", "counts"),
    [(NOW - 2, True), (NOW - 1800, True), (NOW - 2 * 3600, False), (NOW - 20 * 365 * 86_400, False)],
)
def test_a_start_long_before_the_deletion_is_ignored(value: float, counts: bool) -> None:
    found = shutdown_start(started_annotations(value), NOW + 5, requested_at=NOW)
    assert (found.at == value) is counts
    assert ("long before the deletion" in found.problem) is not counts


def test_the_written_annotations_are_read_back() -> None:
    note = started_annotations(NOW, 90.0)
    assert shutdown_start(note, NOW + 10).at == NOW
    assert shutdown_period(note, 30.0, GRACE).seconds == 90


def test_deletion_metrics_have_the_names_labels_and_buckets_that_dashboards_use() -> None:
    registry = CollectorRegistry()
    metrics = DeletionMetrics(registry)
    metrics.count_blocked("TopoServer", "shop")
    metrics.observe_shutdown("Cell", 7.0)
    assert registry.get_sample_value(
        "multigres_deletion_blocked_total", {"kind": "TopoServer", "namespace": "shop"}
    )
    name = "multigres_graceful_shutdown_duration_seconds_bucket"
    bounds = ("1.0", "5.0", "10.0", "30.0", "60.0", "120.0", "300.0", "+Inf")
    counts = [registry.get_sample_value(name, {"kind": "Cell", "le": bound}) for bound in bounds]
    assert counts == [0, 0, 1, 1, 1, 1, 1, 1]
