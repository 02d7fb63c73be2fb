"""A template that a hundred clusters use changes while somebody edits a cluster of their own: order, not time."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Key, Kind
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, Rules
from steward.multigres.controllers.cluster.deletion import ClusterRemoval
from steward.multigres.controllers.cluster.reconciler import ClusterReconciler
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.status_contributions import Remarks
from steward.runtime.controller.triggers import Bell, Listener
from steward.runtime.controller.workqueue import Lane, WorkQueue
from steward.runtime.plan.lanes import Echoes

HERD = 100
WORKERS = 20


class Uncounted:
    """A watcher of a queue who does not care."""

    def added(self) -> None: ...

    def taken(self, waited: float) -> None: ...

    def finished(self, worked: float) -> None: ...

    def retried(self) -> None: ...


class Scene:
    """The cluster controller's own triggers, between real stores and a real queue."""

    def __init__(self) -> None:
        self.rules = Rules("")
        self.clock = SystemClock()
        self.stores: dict[Kind, Store[Any]] = {}
        self.queue = WorkQueue(self.clock, lambda: 0.5, Uncounted())
        self.versions = 0
        context = SimpleNamespace(rules=self.rules, store=self.store, clock=self.clock, remarks=Remarks())
        reconciler = ClusterReconciler(cast(ControllerContext, context), cast(ClusterRemoval, None))
        for trigger in reconciler.controller().triggers:
            listener = Listener(trigger, CLUSTER, Bell(self._wake, _fail, Echoes()))
            self.store(trigger.rule).subscribe(listener.hear)

    def _wake(self, key: Key, lane: Lane, gather: float) -> None:
        assert not gather, "neither a template nor a cluster waits for more news"
        self.queue.add(key, lane)

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        if rule.kind not in self.stores:
            store = self.stores[rule.kind] = Store(rule)
            store.finish_list(0, set(), "0")  # the first list was empty: what comes now is news
        return self.stores[rule.kind]

    def put(self, kind: Kind, name: str, generation: int, spec: dict[str, Any], **metadata: Any) -> None:
        self.versions += 1
        meta = {"name": name, "namespace": "ns", "uid": name, "generation": generation, **metadata}
        meta["resourceVersion"] = str(self.versions)
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        self.stores[kind].observe(json.dumps(manifest).encode())

    def cluster(self, name: str, template: str, generation: int = 1) -> None:
        spec = {"cells": [{"zone": "z1"}], "templateDefaults": {"cellTemplate": template}}
        self.put(CLUSTER, name, generation, spec)

    def template(self, name: str, generation: int, **metadata: Any) -> None:
        self.put(CELL_TEMPLATE, name, generation, {"multiGateway": {"replicas": generation}}, **metadata)

    def serve(self, count: int) -> list[str]:
        """The next keys, as workers would take them."""
        served: list[str] = []
        while len(served) < count and (key := self.queue.take()) is not None:
            self.queue.done(key)
            served.append(key.name)
        return served


def _fail() -> None:
    pytest.fail("a change could not be mapped to keys")


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.template("shared", 1)
    for number in range(HERD):
        scene.cluster(f"herd-{number}", "shared")
    scene.cluster("mine", "my-own")
    assert len(scene.serve(2 * HERD)) == HERD + 1
    return scene


async def test_an_edit_is_served_before_the_herd_is_through(scene: Scene) -> None:
    scene.template("shared", 2)
    before = scene.serve(WORKERS)
    scene.cluster("mine", "my-own", generation=2)
    after = scene.serve(2 * HERD)
    assert after[0] == "mine"
    assert len(before) + len(after) == HERD + 1


async def test_edits_without_end_do_not_starve_the_herd(scene: Scene) -> None:
    scene.template("shared", 2)
    served: list[str] = []
    for generation in range(2, 20 * HERD):
        scene.cluster("mine", "my-own", generation=generation)
        served += scene.serve(1)
    assert {name for name in served if name != "mine"} == {f"herd-{number}" for number in range(HERD)}


QUIET: dict[str, Callable[[Scene], None]] = {
    "a finalizer": lambda scene: scene.template("shared", 1, finalizers=["multigres.com/in-use-by-a"]),
    "a label": lambda scene: scene.template("shared", 1, labels={"team": "a"}),
    "a template that nobody names": lambda scene: scene.template("unheard-of", 1),
}


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
async def test_what_changes_no_content_wakes_nobody(scene: Scene, change: Callable[[Scene], None]) -> None:
    change(scene)
    assert scene.serve(1) == []


async def test_a_template_called_default_concerns_every_cluster(scene: Scene) -> None:
    scene.template("default", 1)
    assert len(scene.serve(2 * HERD)) == HERD + 1
    assert scene.stores[CLUSTER].get(Key("ns", "mine")) is not None
