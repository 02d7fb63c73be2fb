"""Queue order of the cluster controller when a template of a hundred clusters changes."""

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key, Kind
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, MultigresCacheRules
from steward.multigres.controllers.cluster.deletion import ClusterDeletion
from steward.multigres.controllers.cluster.operator_updates import OperatorUpdates
from steward.multigres.controllers.cluster.reconciler import ClusterReconciler
from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.controllers.postgres_access.role_states import RoleStates
from steward.runtime.controller.triggers import Channel, EnqueueHooks, EventHandler
from steward.runtime.controller.workqueue import WorkQueue
from steward.runtime.reconcile import Lane

CLUSTERS = 100
WORKERS = 20


class NoQueueMetrics:
    """Ignores the events of a queue."""

    def added(self) -> None: ...

    def taken(self, waited: float) -> None: ...

    def finished(self, worked: float) -> None: ...

    def retried(self) -> None: ...


class TriggeredQueue:
    """The triggers of the cluster controller with real stores and a real queue."""

    def __init__(self) -> None:
        self.rules = MultigresCacheRules("")
        self.clock = SystemClock()
        self.stores: dict[Kind, Store[Any]] = {}
        self.queue = WorkQueue(self.clock, lambda: 0.5, NoQueueMetrics())
        self.versions = 0
        context = SimpleNamespace(
            client=None,
            rules=self.rules,
            store=self.store,
            store_of=self.stores.__getitem__,
            starts=None,
            clock=self.clock,
            contributions=StatusContributions(),
            resolved_specs=LruCache(4),
            large_resolutions=asyncio.Lock(),
            cluster_specs=ClusterSpecs(),
            settings=SimpleNamespace(connect_to=""),
        )
        typed = cast(MultigresContext, context)
        reconciler = ClusterReconciler(
            typed, cast(ClusterDeletion, None), OperatorUpdates(typed, 1), RoleStates(Channel())
        )
        for trigger in reconciler.controller().triggers:
            handler = EventHandler(trigger, CLUSTER, EnqueueHooks(self._enqueue, _fail))
            self.store(trigger.rule).subscribe(handler.handle)

    def _enqueue(self, key: Key, lane: Lane, gather: float) -> None:
        assert not gather, "changes of templates and clusters are not debounced"
        self.queue.add(key, lane)

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        if rule.kind not in self.stores:
            store = self.stores[rule.kind] = Store(rule)
            store.finish_list(0, set(), "0")  # the initial list was empty: later objects are changes
        return self.stores[rule.kind]

    def observe(self, kind: Kind, name: str, generation: int, spec: dict[str, Any], **metadata: Any) -> None:
        self.versions += 1
        meta = {"name": name, "namespace": "ns", "uid": name, "generation": generation, **metadata}
        meta["resourceVersion"] = str(self.versions)
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        self.stores[kind].observe_write(json.dumps(manifest).encode())

    def cluster(self, name: str, template: str, generation: int = 1) -> None:
        spec = {"cells": [{"zone": "z1"}], "templateDefaults": {"cellTemplate": template}}
        self.observe(CLUSTER, name, generation, spec)

    def template(self, name: str, generation: int, **metadata: Any) -> None:
        self.observe(CELL_TEMPLATE, name, generation, {"multiGateway": {"replicas": generation}}, **metadata)

    def serve(self, count: int) -> list[str]:
        """The next keys, as workers take them."""
        served: list[str] = []
        while len(served) < count and (key := self.queue.take()) is not None:
            self.queue.done(key)
            served.append(key.name)
        return served


def _fail() -> None:
    pytest.fail("a change could not be mapped to keys")


@pytest.fixture
def triggered() -> TriggeredQueue:
    triggered = TriggeredQueue()
    triggered.template("shared", 1)
    for number in range(CLUSTERS):
        triggered.cluster(f"shared-{number}", "shared")
    triggered.cluster("mine", "my-own")
    assert len(triggered.serve(2 * CLUSTERS)) == CLUSTERS + 1
    return triggered


async def test_an_edit_of_a_cluster_is_reconciled_before_all_clusters_of_a_template(
    triggered: TriggeredQueue,
) -> None:
    triggered.template("shared", 2)
    before = triggered.serve(WORKERS)
    triggered.cluster("mine", "my-own", generation=2)
    after = triggered.serve(2 * CLUSTERS)
    assert after[0] == "mine"
    assert len(before) + len(after) == CLUSTERS + 1


async def test_continuous_edits_do_not_starve_the_clusters_of_a_template(triggered: TriggeredQueue) -> None:
    triggered.template("shared", 2)
    served: list[str] = []
    for generation in range(2, 20 * CLUSTERS):
        triggered.cluster("mine", "my-own", generation=generation)
        served += triggered.serve(1)
    assert {name for name in served if name != "mine"} == {f"shared-{number}" for number in range(CLUSTERS)}


IRRELEVANT: dict[str, Callable[[TriggeredQueue], None]] = {
    "a finalizer": lambda triggered: triggered.template(
        "shared", 1, finalizers=["multigres.com/in-use-by-a"]
    ),
    "a label": lambda triggered: triggered.template("shared", 1, labels={"team": "a"}),
    "a template that no cluster references": lambda triggered: triggered.template("unused", 1),
}


@pytest.mark.parametrize("change", IRRELEVANT.values(), ids=IRRELEVANT)
async def test_a_change_without_new_content_triggers_no_cluster(
    triggered: TriggeredQueue, change: Callable[[TriggeredQueue], None]
) -> None:
    change(triggered)
    assert triggered.serve(1) == []


async def test_a_template_named_default_triggers_every_cluster(triggered: TriggeredQueue) -> None:
    triggered.template("default", 1)
    assert len(triggered.serve(2 * CLUSTERS)) == CLUSTERS + 1
    assert triggered.stores[CLUSTER].get(Key("ns", "mine")) is not None
