"""What a user may say about the end of an object, and what holds when nothing, or nonsense, is said. Pure.

Annotations stand on the object itself or on its MultigresCluster; the object's own win, one by one. Nonsense never
stops a deletion and never shortens it by accident: the default takes its place, and the complaint is handed on to be
told.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres.durations import parse_duration, show_duration
from steward.multigres.objects.metadata import FINALIZER
from steward.runtime.plan.steps import Patch

ORPHAN_FINALIZER = "orphan"
PROTECTION = "multigres.com/deletion-protection"
FORCE = "multigres.com/force-delete"
PERIOD = "multigres.com/graceful-shutdown-period"
STARTED = "multigres.com/graceful-shutdown-started"
ASKED = "multigres.com/removal-asked"
STEERING = (PROTECTION, FORCE, PERIOD)
"""What a user steers a deletion with; STARTED and ASKED are Steward's own notes."""

ENABLED, DISABLED = "enabled", "disabled"
POOLER_FACTOR = 2.0
"""Poolers wait twice as long as everything else: sessions outlive requests."""
SKEW_SECONDS = 5.0
LONG_BEFORE_SECONDS = 3600.0
"""More than clocks ever differ: what began so long before the deletion was asked for was another shutdown."""


class Grace(NamedTuple):
    """The operator's settings for graceful deletion."""

    default_seconds: float = 30.0
    most_seconds: float = 300.0
    protects: bool = True

    @property
    def pooler_seconds(self) -> float:
        return self.default_seconds * POOLER_FACTOR


class Said(NamedTuple):
    """What was read, and a complaint where it could not be taken as it stood."""

    seconds: float
    complaint: str = ""


def steering(own: Mapping[str, str], cluster: Mapping[str, str]) -> dict[str, str]:
    """The annotations in force: the object's own, else its cluster's."""
    inherited = {name: cluster[name] for name in STEERING if name in cluster}
    return {**inherited, **own}


def is_forced(annotations: Mapping[str, str]) -> bool:
    return annotations.get(FORCE, "").strip().lower() == "true"


def is_protected(annotations: Mapping[str, str], grace: Grace) -> bool:
    """Anything but a clear word leaves it to the setting."""
    said = annotations.get(PROTECTION, "").strip().lower()
    return said == ENABLED if said in (ENABLED, DISABLED) else grace.protects


def shutdown_period(annotations: Mapping[str, str], default: float, grace: Grace) -> Said:
    usual = min(default, grace.most_seconds)
    text = annotations.get(PERIOD)
    if text is None:
        return Said(usual)
    try:
        asked = parse_duration(text)
    except ValueError as error:
        return Said(usual, f"{PERIOD}: {error}, such as 30s or 1m30s; {show_duration(usual)} is used instead")
    if asked > grace.most_seconds:
        most = show_duration(grace.most_seconds)
        return Said(grace.most_seconds, f"{PERIOD}: {text} is more than allowed; {most} is used instead")
    return Said(asked)


class Start(NamedTuple):
    """When a shutdown began; None when it has not, or when nobody can tell."""

    at: float | None
    complaint: str = ""


def shutdown_start(annotations: Mapping[str, str], now: float, asked: float = 0.0) -> Start:
    """`asked` is when the deletion was asked for, where that is known."""
    text = annotations.get(STARTED)
    if text is None:
        return Start(None)
    try:
        at = from_timestamp(text)
    except (ValueError, OverflowError):
        return Start(None, f"{STARTED}: {text!r} is no time; the shutdown starts anew")
    if at > now + SKEW_SECONDS:
        return Start(None, f"{STARTED}: {text} is yet to come; the shutdown starts anew")
    if at < asked - LONG_BEFORE_SECONDS:
        return Start(None, f"{STARTED}: {text} is long before the deletion; the shutdown starts anew")
    return Start(at)


def started_note(now: float, period: float | None = None) -> dict[str, str]:
    """The annotations that let a shutdown survive a restart of the operator."""
    written = {STARTED: to_timestamp(now)}
    return written if period is None else {**written, PERIOD: show_duration(period)}


def note_started(ref: Ref, note: Mapping[str, str]) -> Patch:
    return Patch(ref, MergePatch({"metadata": {"annotations": dict(note)}}))


def forget_started(ref: Ref) -> Patch:
    """For what was to go and is wanted again: a later shutdown must not find its time already over."""
    return Patch(ref, MergePatch({"metadata": {"annotations": {STARTED: None, PERIOD: None, ASKED: None}}}))


def holds(meta: ObjectMeta) -> bool:
    return FINALIZER in meta.finalizers


def hold(ref: Ref, meta: ObjectMeta) -> Patch:
    return _finalizers(ref, meta, (*meta.finalizers, FINALIZER))


def leaves_orphans(meta: ObjectMeta) -> bool:
    """Whether what belongs to it is to stay: the garbage collector is taking the owner references away."""
    return ORPHAN_FINALIZER in meta.finalizers


def held(ref: Ref, meta: ObjectMeta) -> tuple[Patch, ...]:
    """The finalizer stands before anything that it has to clean up; what Steward makes has it from the start."""
    return () if holds(meta) else (hold(ref, meta),)


def release(ref: Ref, meta: ObjectMeta) -> Patch:
    return _finalizers(ref, meta, tuple(name for name in meta.finalizers if name != FINALIZER))


def _finalizers(ref: Ref, meta: ObjectMeta, names: tuple[str, ...]) -> Patch:
    return set_as_seen(ref, meta, "finalizers", list(names))


def set_as_seen(ref: Ref, meta: ObjectMeta, field: str, value: list[Any]) -> Patch:
    """Sets a list of the metadata, unless the object has changed since it was seen."""
    return Patch(ref, MergePatch.metadata_as_seen(meta.resource_version, **{field: value}))
