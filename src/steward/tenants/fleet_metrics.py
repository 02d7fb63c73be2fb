"""Gauges of registries and templates, derived from their statuses at each scrape.

A series ends with its object, and one about a table that was not read yet, or a rollout that is not in progress, does
not exist: an alert on it cannot fire by mistake.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from steward.kube.cache.store import Store
from steward.kube.objects.conditions import TRUE, find_condition
from steward.kube.objects.timestamps import from_timestamp
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import RolloutStatus
from steward.tenants.status.conditions import DELETION_HELD, read_conditions
from steward.tenants.status.pause import PAUSED
from steward.tenants.status.registry import SOURCE_REACHABLE
from steward.tenants.views import Registry, Template

Status = Mapping[str, Any]
Value = Callable[[Status], float | None]
"""The value of a gauge for a status; None where there is none."""


def registry_gauges(registries: Iterable[Registry]) -> Iterator[Metric]:
    found = list(registries)
    for name, (documentation, value) in _REGISTRY_GAUGES.items():
        yield _family(name, documentation, "registry", value, found)


class TemplatesCollector(Collector):
    def __init__(self, templates: Store[Template]) -> None:
        self._templates = templates

    def collect(self) -> Iterator[Metric]:
        found = self._templates.list()
        for name, (documentation, value) in _TEMPLATE_GAUGES.items():
            yield _family(name, documentation, "template", value, found)


def _family(
    name: str, documentation: str, label: str, value: Value, found: Iterable[Registry | Template]
) -> Metric:
    family = GaugeMetricFamily(name, documentation, labels=(label, "namespace"))
    for each in found:
        number = value(each.status)
        if number is not None:
            family.add_metric((each.metadata.name, each.metadata.namespace), number)
    return family


def _count(field: str) -> Value:
    return lambda status: status.get(field) or 0


def _is_held(status: Status) -> float:
    held = find_condition(read_conditions(dict(status)), DELETION_HELD)
    return float(held is not None and held.status == TRUE)


def _is_reachable(status: Status) -> float | None:
    reachable = find_condition(read_conditions(dict(status)), SOURCE_REACHABLE)
    if reachable is None or reachable.reason == reasons.NOT_READ_YET:
        return None
    return float(reachable.status == TRUE)


def _paused_since(status: Status) -> float | None:
    paused = find_condition(read_conditions(dict(status)), PAUSED)
    since = None if paused is None else paused.last_transition_time
    return from_timestamp(since) if since else None


def _rollout(status: Status) -> RolloutStatus | None:
    try:
        return msgspec.convert(status["rollout"], RolloutStatus)
    except (KeyError, msgspec.ValidationError):
        return None


def _has_failed_rollout(status: Status) -> float:
    rollout = _rollout(status)
    return float(rollout is not None and rollout.phase == "Failed")


def _updating(status: Status) -> float:
    rollout = _rollout(status)
    return 0 if rollout is None else rollout.updating_nodes or 0


def _last_progress(status: Status) -> float | None:
    rollout = _rollout(status)
    if rollout is None or rollout.phase != "InProgress" or rollout.last_progress_time is UNSET:
        return None
    try:
        return from_timestamp(rollout.last_progress_time)
    except ValueError:
        return None


_REGISTRY_GAUGES: Final[dict[str, tuple[str, Value]]] = {
    "registry_desired": ("Tenants: desired.", _count("desired")),
    "registry_ready": ("Tenants: ready.", _count("ready")),
    "registry_failed": ("Tenants: failed.", _count("failed")),
    "registry_rejected_rows": ("Rows that cannot become Tenants.", _count("rejectedRows")),
    "registry_source_reachable": ("1 if the last read of the table completed.", _is_reachable),
    "registry_paused_since_seconds": ("Unix time at which a paused registry was paused.", _paused_since),
    "deletion_held": ("1 while deletions wait for approval.", _is_held),
}
_TEMPLATE_GAUGES: Final[dict[str, tuple[str, Value]]] = {
    "template_deletion_held": ("1 while the deletion of the template waits for approval.", _is_held),
    "template_paused_since_seconds": ("Unix time at which a paused template was paused.", _paused_since),
    "template_rollout_failed": ("1 after a rollout that its deadline stopped.", _has_failed_rollout),
    "template_rollout_updating": ("Tenants that are updating to a new version.", _updating),
    "template_rollout_last_progress_timestamp_seconds": (
        "When a Tenant last became ready with the new version; while a rollout is in progress.",
        _last_progress,
    ),
}
