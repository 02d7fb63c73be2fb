"""When volumes grow, from what servers report."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Key, Kind
from steward.multigres.cache_rules import SHARD, MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.volume_growth import VolumeGrowth
from steward.multigres.controllers.volume_usage.reconciler import VolumeUsageReconciler
from steward.multigres.metrics import GrowthMetrics
from steward.postgres import data_size
from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import ServerUnreachable
from steward.runtime.controller.triggers import Channel
from steward.runtime.plan.steps import Emit, Plan
from steward.runtime.reconcile import DONE, RequeueAfter

KEY = Key("ns", "s")
GIBIBYTE = 1024**3
LABELS = {
    "app.kubernetes.io/managed-by": "multigres-operator",
    "multigres.com/cluster": "c",
    "multigres.com/database": "shop",
    "multigres.com/tablegroup": "default",
    "multigres.com/shard": "0-inf",
}


class Pool:
    """A shard with one pool whose servers store so many bytes; None for a server that does not answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *used: int | None, autogrow: bool = True) -> None:
        rules = MultigresCacheRules("")
        self._stores: dict[Kind, Store[Any]] = {
            rule.kind: Store(rule) for rule in (rules.shard, rules.pod, rules.claim, rules.secret)
        }
        self.used = used
        self.events: list[Emit] = []
        self.registry = CollectorRegistry()
        rule = {"autogrow": {"max": "20Gi"}} if autogrow else {}
        spec = {"shardName": "0-inf", "pools": {"main": {"storage": {"size": "10Gi", **rule}}}}
        names = {"databaseName": "shop", "tableGroupName": "default"}
        self._write(SHARD, "s", {**spec, **names}, {}, LABELS)
        for number in range(len(used)):
            labels = {**LABELS, "multigres.com/pool": "main"}
            size = {"resources": {"requests": {"storage": "10Gi"}}}
            status = {"phase": "Bound", "capacity": {"storage": "10Gi"}}
            self._write(PERSISTENT_VOLUME_CLAIM, f"pgdata-p-{number}", size, status, labels)
        context = SimpleNamespace(
            rules=rules,
            store=lambda rule: self._stores[rule.kind],
            settings=SimpleNamespace(connect_to=()),
            clock=SimpleNamespace(monotonic=lambda: 0.0, now=lambda: 0.0),
            client=SimpleNamespace(get=self._secret),
            paused=SimpleNamespace(includes=lambda ref: False),
            executor=SimpleNamespace(execute=self._execute),
        )
        self.growth = VolumeGrowth(Channel())
        self.reconciler = VolumeUsageReconciler(
            cast(MultigresContext, context), self.growth, GrowthMetrics(self.registry)
        )
        monkeypatch.setattr(data_size, "data_bytes", self._data_bytes)

    def _write(self, kind: Kind, name: str, spec: Any, status: Any, labels: dict[str, str]) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1", "labels": labels}
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}
        self._stores[kind].observe_write(json.dumps({**manifest, "status": status}).encode())

    async def _secret(self, kind: Kind, key: Key) -> dict[str, Any]:
        return {"data": {"password": "c2VjcmV0"}}

    async def _data_bytes(self, server: PostgresAddress, password: str) -> int:
        assert password == "secret"
        used = self.used[int(server.host.split(".")[0].rpartition("-")[2])]
        if used is None:
            raise ServerUnreachable("no route")
        return used

    async def _execute(self, plan: Plan, about: Any) -> None:
        self.events += [step for step in plan if isinstance(step, Emit)]

    @property
    def growths(self) -> float | None:
        name = "multigres_operator_volume_growths_total"
        return self.registry.get_sample_value(name, {"namespace": "ns"})


async def test_a_full_volume_is_announced_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(monkeypatch, GIBIBYTE, 9 * GIBIBYTE)
    await pool.reconciler.reconcile(KEY)
    await pool.reconciler.reconcile(KEY)
    assert [growth.size for growth in pool.growth.get(KEY)] == ["12Gi"]
    assert [event.reason for event in pool.events] == ["VolumesGrowing"]
    assert pool.growths == 1


async def test_a_server_that_does_not_answer_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(monkeypatch, None, GIBIBYTE)
    assert isinstance(await pool.reconciler.reconcile(KEY), RequeueAfter)
    assert pool.growth.get(KEY) == ()


async def test_a_decision_ends_when_the_volumes_have_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(monkeypatch, 9 * GIBIBYTE)
    await pool.reconciler.reconcile(KEY)
    pool.used = (GIBIBYTE,)
    await pool.reconciler.reconcile(KEY)
    assert pool.growth.get(KEY) == ()


async def test_servers_without_a_rule_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(monkeypatch, 9 * GIBIBYTE, autogrow=False)
    assert await pool.reconciler.reconcile(KEY) == DONE
    assert pool.growth.get(KEY) == ()
