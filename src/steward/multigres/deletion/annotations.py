"""Reads the annotations and finalizers that control a deletion. Pure.

Annotations are set on the object itself or on its MultigresCluster; the object's own take precedence, one by one. An
invalid value never blocks a deletion and never shortens it by accident: the default is used instead, and the problem is
returned so that it can be reported.
"""

from collections.abc import Mapping
from typing import NamedTuple

from steward.kube.objects.durations import format_duration, parse_duration
from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres.objects.metadata import FINALIZER
from steward.runtime.plan.steps import Patch

ORPHAN_FINALIZER = "orphan"
PROTECTION = "multigres.com/deletion-protection"
FORCE = "multigres.com/force-delete"
PERIOD = "multigres.com/graceful-shutdown-period"
STARTED = "multigres.com/graceful-shutdown-started"
REMOVAL_REQUESTED = "multigres.com/removal-asked"
DELETION_ANNOTATIONS = (PROTECTION, FORCE, PERIOD)
"""Set by users. STARTED is set by the operator; REMOVAL_REQUESTED was by earlier releases and is removed with it."""

ENABLED, DISABLED = "enabled", "disabled"
POOLER_FACTOR = 2.0
"""Poolers get twice the period of all other workloads: sessions last longer than requests."""
SKEW_SECONDS = 5.0
LONG_BEFORE_SECONDS = 3600.0
"""More than clocks ever differ: a start so long before the deletion request belongs to an earlier shutdown."""


class GraceSettings(NamedTuple):
    """The operator's settings for graceful deletion."""

    default_seconds: float = 30.0
    max_seconds: float = 300.0
    protects_by_default: bool = True

    @property
    def pooler_seconds(self) -> float:
        return self.default_seconds * POOLER_FACTOR


class ShutdownPeriod(NamedTuple):
    """The period to use, and why it is not the one that the annotation asks for."""

    seconds: float
    problem: str = ""


def effective_annotations(own: Mapping[str, str], cluster: Mapping[str, str]) -> dict[str, str]:
    """The object's own annotations, and of its cluster's those that steer a deletion."""
    inherited = {name: cluster[name] for name in DELETION_ANNOTATIONS if name in cluster}
    return {**inherited, **own}


def is_forced(annotations: Mapping[str, str]) -> bool:
    return annotations.get(FORCE, "").strip().lower() == "true"


def is_protected(annotations: Mapping[str, str], grace: GraceSettings) -> bool:
    """Any other value than `enabled` and `disabled` leaves it to the setting."""
    value = annotations.get(PROTECTION, "").strip().lower()
    return value == ENABLED if value in (ENABLED, DISABLED) else grace.protects_by_default


def shutdown_period(annotations: Mapping[str, str], default: float, grace: GraceSettings) -> ShutdownPeriod:
    usual = min(default, grace.max_seconds)
    text = annotations.get(PERIOD)
    if text is None:
        return ShutdownPeriod(usual)
    try:
        asked = parse_duration(text)
    except ValueError as error:
        problem = f"{PERIOD}: {error}, such as 30s or 1m30s; {format_duration(usual)} is used instead"
        return ShutdownPeriod(usual, problem)
    if asked > grace.max_seconds:
        most = format_duration(grace.max_seconds)
        problem = f"{PERIOD}: {text} is more than allowed; {most} is used instead"
        return ShutdownPeriod(grace.max_seconds, problem)
    return ShutdownPeriod(asked)


class ShutdownStart(NamedTuple):
    """When a shutdown began; None if it has not, or if the annotation is invalid."""

    at: float | None
    problem: str = ""


def shutdown_start(annotations: Mapping[str, str], now: float, requested_at: float = 0.0) -> ShutdownStart:
    """`requested_at` is the time of the deletion request, if it is known."""
    text = annotations.get(STARTED)
    if text is None:
        return ShutdownStart(None)
    try:
        at = from_timestamp(text)
    except (ValueError, OverflowError):
        return ShutdownStart(None, f"{STARTED}: {text!r} is not a timestamp; the shutdown starts again")
    if at > now + SKEW_SECONDS:
        return ShutdownStart(None, f"{STARTED}: {text} is in the future; the shutdown starts again")
    if at < requested_at - LONG_BEFORE_SECONDS:
        return ShutdownStart(
            None, f"{STARTED}: {text} is long before the deletion; the shutdown starts again"
        )
    return ShutdownStart(at)


def started_annotations(now: float, period: float | None = None) -> dict[str, str]:
    """The annotations with which a shutdown survives a restart of the operator."""
    annotations = {STARTED: to_timestamp(now)}
    return annotations if period is None else {**annotations, PERIOD: format_duration(period)}


def mark_started_step(ref: Ref, annotations: Mapping[str, str]) -> Patch:
    return Patch(ref, MergePatch({"metadata": {"annotations": dict(annotations)}}))


def clear_started_step(ref: Ref) -> Patch:
    """For a workload that is desired again: a later shutdown must not find its period already over."""
    cleared = {STARTED: None, PERIOD: None, REMOVAL_REQUESTED: None}
    return Patch(ref, MergePatch({"metadata": {"annotations": cleared}}))


def has_finalizer(meta: ObjectMeta) -> bool:
    return FINALIZER in meta.finalizers


def orphans_children(meta: ObjectMeta) -> bool:
    """Whether the object is deleted with `--cascade=orphan`: the garbage collector removes the owner references."""
    return ORPHAN_FINALIZER in meta.finalizers
