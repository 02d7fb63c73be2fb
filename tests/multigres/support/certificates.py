"""A shard, its certificates controller and the Secrets that it manages."""

import base64
from types import SimpleNamespace
from typing import Any, cast

import msgspec

from steward.certificates.worker_process import in_this_process
from steward.kube.client.client import Client
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.options import ApplyOptions
from steward.multigres.api.backup import Backup
from steward.multigres.api.shard import ShardStatus
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import StatusContributor
from steward.multigres.views import ShardView
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Plan, Status
from steward.runtime.reconcile import RequeueAfter
from steward.testkit import FakeClock
from tests.multigres.support.simulated_backups import MemoryStore

HOUR, DAY, YEAR = 3600.0, 86_400.0, 365 * 86_400.0
CA, LEAF = "s-pgbackrest-ca", "s-pgbackrest-tls"
SHARD_SPEC = {
    "databaseName": "postgres",
    "tableGroupName": "default",
    "shardName": "0-inf",
    "globalTopoServer": {"address": "a", "rootPath": "/r", "implementation": "etcd"},
    "pools": {"main": {"cells": ["z1"], "replicasPerCell": 1}},
}


class RecordedStatus:
    """Executes plans by storing the reported status in the shard, where the next reconcile reads it."""

    def __init__(self, shards: dict[Key, ShardView]) -> None:
        self._shards = shards
        self.conditions: list[Any] = []
        self.confirmed: list[int] = []

    def confirm(self, ref: Ref, generation: int) -> None:
        self.confirmed.append(generation)

    async def execute(self, plan: Plan, about: Ref) -> PlanResult:
        for step in plan:
            if isinstance(step, Status):
                self.conditions = step.status["conditions"]
                status = msgspec.convert(step.status, ShardStatus)
                self._shards[about.key] = msgspec.structs.replace(self._shards[about.key], status=status)
        return PlanResult([StepResult(step, StepEffect.UNCHANGED) for step in plan])


class CertificateScenario:
    """One shard, its certificates controller and the Secrets that it manages."""

    def __init__(self, client: Client, shard: ShardView, clock: FakeClock | None = None) -> None:
        self.key = key_of(shard)
        self.namespace = self.key.namespace
        self.shards = shards = {self.key: shard}
        self.client, self.clock, self.reported = client, clock or FakeClock(), RecordedStatus(shards)
        rules, claims = MultigresCacheRules(""), MemoryStore()
        context = SimpleNamespace(
            client=client,
            clock=self.clock,
            rules=rules,
            store=lambda rule: claims if rule == rules.claim else shards,
            now=lambda: "2026-01-01T00:00:00Z",
            paused=SimpleNamespace(includes=lambda ref: False),
        )
        reported = cast(StatusContributor, self.reported)
        self.reconciler = CertificateReconciler(cast(MultigresContext, context), reported, in_this_process)

    async def reconcile(self) -> float:
        """Reconciles once; returns the seconds until the next reconcile."""
        result = await self.reconciler.reconcile(self.key)
        assert isinstance(result, RequeueAfter)
        return result.seconds

    @property
    def renewals(self) -> int:
        """How often the servers have to be replaced."""
        return or_default(self.shards[self.key].status.backup_certificate_renewals, 0)

    def use_user_secret(self, secret: str) -> None:
        """Switches to certificates of the user."""
        shard = self.shards[self.key]
        backup = msgspec.convert({"type": "filesystem", "pgbackrestTLS": {"secretName": secret}}, Backup)
        spec = msgspec.structs.replace(shard.spec, backup=backup)
        self.shards[self.key] = msgspec.structs.replace(shard, spec=spec)

    async def write_user_secret(self, name: str, **data: str) -> None:
        """Writes the Secret of the user, with `_` for the dot in its keys."""
        metadata = {"name": name, "namespace": self.namespace}
        encoded = {
            key.replace("_", "."): base64.b64encode(each.encode()).decode() for key, each in data.items()
        }
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}
        await self.client.apply(secret, ApplyOptions(manager="user", force=True))

    async def data(self, name: str) -> dict[str, bytes]:
        secret = await self.client.get(SECRET, Key(self.namespace, name))
        return {key: base64.b64decode(value) for key, value in secret["data"].items()}
