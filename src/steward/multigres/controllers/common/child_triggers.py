"""Debounce periods for the triggers of children: how long their changes may be collected into one reconcile.

While pods start, a shard receives some hundred changes, most of which change neither its plan nor its status. Repairs,
deletions and changes of a child's health (Ready, Degraded, Stalled) are never delayed, so that the chain from the last
ready pod to phase Healthy stays short.
"""

from collections.abc import Iterable
from typing import Any

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange
from steward.kube.objects.conditions import READY, STALLED, TRUE
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.reporting import REPORTED_KINDS
from steward.multigres.status.conditions import DEGRADED
from steward.runtime.controller.predicates import deletion, generation
from steward.runtime.controller.triggers import Debounce, Owns

HEALTH_CONDITIONS = frozenset({READY, DEGRADED, STALLED})


def _is_significant(change: ObjectChange[Any]) -> bool:
    """Whether a child is being deleted, its spec was edited, or its health has changed."""
    if change.old is None or change.new is None:
        return deletion(change)
    return deletion(change) or generation(change) or _health(change.old) != _health(change.new)


def _health(live: Any) -> list[str]:
    """The health conditions that are true. A child without a status and one that reports waiting both have none."""
    conditions = or_default(live.status.conditions, [])
    return [
        condition.type
        for condition in conditions
        if condition.type in HEALTH_CONDITIONS and condition.status == TRUE
    ]


OBJECTS = Debounce(0.1)
"""Workloads, Services and the like: repairs at once, all other changes a moment later."""
CHILDREN = Debounce(0.1, unless=_is_significant)
"""Custom resources of this operator: edits of their specs and changes of their health at once."""
PODS = Debounce(0.5, unless=deletion)
"""Pods and volume claims: once they are ready, the status of their workload changes as well."""


def owned_triggers(rules: Iterable[CacheRule[Any]]) -> tuple[Owns[Any], ...]:
    """One trigger per kind of child, with the debounce period of the kind."""
    return tuple(Owns(rule, debounce=CHILDREN if rule.kind in REPORTED_KINDS else OBJECTS) for rule in rules)
