"""For how long the news of children may be gathered into one look at their owner.

While pods come up a shard hears of some hundred changes, and most of them change nothing that it would do or say. What
is to be put back, what goes, and the verdict of a child (ready, in trouble) never wait: the chain from the last pod to
the word Healthy is as short as it was.
"""

from collections.abc import Iterable
from typing import Any

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Change
from steward.kube.objects.conditions import READY, STALLED, TRUE
from steward.multigres.controllers.common.context import REPORTED
from steward.multigres.resolution.layers import given
from steward.multigres.status.conditions import DEGRADED
from steward.runtime.controller.predicates import generation, goes
from steward.runtime.controller.triggers import Owns, Patience

VERDICTS = frozenset({READY, DEGRADED, STALLED})


def _turned(change: Change[Any]) -> bool:
    """A child goes, its spec was edited, or its verdict is another one than before."""
    if change.old is None or change.new is None:
        return goes(change)
    return goes(change) or generation(change) or _verdict(change.old) != _verdict(change.new)


def _verdict(seen: Any) -> list[str]:
    """What holds of it. To have no status yet and to say that one waits are the same verdict: none."""
    conditions = given(seen.status.conditions, [])
    return [known.type for known in conditions if known.type in VERDICTS and known.status == TRUE]


OBJECTS = Patience(0.1)
"""Workloads, Services and the like: put back at once, and otherwise looked at in a moment."""
CHILDREN = Patience(0.1, unless=_turned)
"""Children with a status of ours: their specs are put back at once, and their verdicts passed on."""
PODS = Patience(0.5, unless=goes)
"""Pods and volumes: when they are ready, the workload that counts them has news of its own."""


def owned(rules: Iterable[CacheRule[Any]]) -> tuple[Owns[Any], ...]:
    """The children of an owner, each kind with the patience that it has."""
    return tuple(Owns(rule, patience=CHILDREN if rule.kind in REPORTED else OBJECTS) for rule in rules)
