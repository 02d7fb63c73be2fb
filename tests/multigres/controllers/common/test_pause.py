"""Nothing but statuses, events and requeues is executed for the objects of a paused cluster."""

import json
from typing import Any

import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, PERSISTENT_VOLUME_CLAIM, Key, Kind, Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import CELL, CLUSTER, MultigresCacheRules
from steward.multigres.controllers.common.pause import PausableExecutor, PausedClusters
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Apply, Delete, Emit, Patch, Plan, Requeue, Status

LABELS = {"multigres.com/cluster": "demo", "app.kubernetes.io/managed-by": "multigres-operator"}
CLUSTER_REF, CELL_REF = Ref(CLUSTER, Key("ns", "demo")), Ref(CELL, Key("ns", "demo-a"))
CLAIM_REF = Ref(PERSISTENT_VOLUME_CLAIM, Key("ns", "data"))
CONFIG_REF = Ref(CONFIG_MAP, Key("ns", "config"))
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "config", "namespace": "ns"}}
REPORT: Plan = (Status(CLUSTER_REF, {}), Emit(CLUSTER_REF, "Why", "message"), Requeue(1.0))
WRITES: Plan = (Apply(CONFIG), Patch(CONFIG_REF, MergePatch({})), Delete(CONFIG_REF, "uid", "reason"))


class Recorder:
    def __init__(self) -> None:
        self.executed: Plan = ()

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        self.executed = plan
        return PlanResult([])


def stores(**spec: Any) -> dict[Kind, Store[Any]]:
    rules = MultigresCacheRules("")
    found: dict[Kind, Store[Any]] = {
        rule.kind: Store(rule) for rule in (rules.cluster, rules.cell, rules.claim)
    }
    cell = {"name": "a", "allCells": ["a"]}
    for ref, content in ((CLUSTER_REF, spec), (CELL_REF, cell), (CLAIM_REF, {})):
        metadata = {**ref.key._asdict(), "uid": "u", "resourceVersion": "1", "labels": LABELS}
        manifest = {
            "apiVersion": ref.kind.api_version,
            "kind": ref.kind.kind,
            "metadata": metadata,
            "spec": content,
        }
        found[ref.kind].observe_write(json.dumps(manifest).encode())
    return found


@pytest.mark.parametrize("cause", [CLUSTER_REF, CELL_REF, CLAIM_REF], ids=lambda ref: ref.kind.kind)
async def test_only_reports_are_executed_for_the_objects_of_a_paused_cluster(cause: Ref) -> None:
    recorder = Recorder()
    executor = PausableExecutor(recorder, PausedClusters(stores(paused=True).get))
    await executor.execute((*WRITES, *REPORT), cause)
    assert recorder.executed == REPORT


@pytest.mark.parametrize("cause", [CLUSTER_REF, CELL_REF, CONFIG_REF], ids=lambda ref: ref.kind.kind)
async def test_everything_is_executed_for_other_clusters(cause: Ref) -> None:
    recorder = Recorder()
    executor = PausableExecutor(recorder, PausedClusters(stores(paused=False).get))
    await executor.execute((*WRITES, *REPORT), cause)
    assert recorder.executed == (*WRITES, *REPORT)
