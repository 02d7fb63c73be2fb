"""The backups controller over objects in memory, and the repository of the fake data plane. It can crash at any effect.

An effect is a write to the API server or a request that changes the data plane. A crash before the nth effect leaves it
undone; one after it leaves it done, without an answer. The next process knows nothing but the objects.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multiadmin.client import Request
from steward.multiadmin.errors import RequestRejected, Unreachable
from steward.multigres import names
from steward.multigres.api.backup import Backup, BackupRetention
from steward.multigres.api.multigres_backup import MultigresBackupSpec, MultigresBackupStatus
from steward.multigres.api.shard import ShardBackupStatus, ShardSpec, ShardStatus
from steward.multigres.api.status import Condition
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.controllers.backups.maintenance import (
    BackupMaintenanceReconciler,
    MaintenanceRequests,
)
from steward.multigres.controllers.backups.reconciler import BackupReconciler
from steward.multigres.controllers.common.servers import Servers
from steward.multigres.names import ShardPath
from steward.multigres.views import ClusterView, MultigresBackupView, ShardView
from steward.runtime.controller.triggers import Channel
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Create, Delete, Emit, Plan, Status
from steward.runtime.reconcile import RequeueAfter
from steward.testkit.fake_data_plane.backups.multiadmin import BackupCall, MultiadminBackups
from steward.testkit.fake_data_plane.backups.repository import FakeBackup
from steward.testkit.fake_data_plane.multiadmin_answers import MultiadminError
from steward.testkit.fake_data_plane.programs import ShardKey
from tests.testkit.support.fake_multiadmin import SHARD as DATA_PLANE_SHARD
from tests.testkit.support.fake_multiadmin import FakeCluster, WallClock
from tests.testkit.support.fake_shard import FakeShard

T = TypeVar("T")
PATH = ShardPath("shop", "postgres", "default", "0-inf")
SHARD = Key("ns", names.shard(PATH))
MAX_RECONCILES = 400


class Crashed(BaseException):
    """Not an Exception: nothing but the simulation catches it."""


class SimulatedClock(WallClock):
    def monotonic(self) -> float:
        return self.time


class MemoryStore(dict[Key, Any]):
    def __init__(self) -> None:
        super().__init__()
        self._index: Callable[[Any], list[str]] = lambda view: []

    def add_index(self, name: str, function: Callable[[Any], list[str]]) -> None:
        self._index = function

    def by_index(self, name: str, value: str) -> list[Any]:
        return [view for view in self.values() if value in self._index(view)]

    def list(self, namespace: str | None = None) -> list[Any]:
        return list(self.values())


async def _password_secret(*_: object) -> dict[str, Any]:
    return {"data": {"password": "c2VjcmV0"}}


class SimulatedBackups:
    def __init__(self, backup: Backup | None = None) -> None:
        self.clock = SimulatedClock()
        self.data_plane_shard = FakeShard("a1", "b1", "c1")
        self.data_plane_shard.wait(30.0)
        self.fake_cluster = FakeCluster(self.data_plane_shard)
        self.multiadmin_backups = MultiadminBackups(self.fake_cluster.view, self.clock)
        self.backups, self.shards, self.clusters = MemoryStore(), MemoryStore(), MemoryStore()
        self.claims = MemoryStore()
        self.events: list[str] = []
        self.starts, self.writes, self.lists = 0, 0, 0
        self.shard_status: tuple[Any, ...] = ()
        self.cluster_condition: Any = None
        self.cluster_conditions: tuple[Any, ...] = ()
        self.cluster_fields: dict[str, Any] = {}
        self.status_writes, self.cluster_writes = 0, 0
        self.is_multiadmin_away = False
        self._crash_at, self._crash_after, self._effects = 0, False, 0
        self._uids = 0
        self._add_shard(backup)
        self._start_process()

    def _add_shard(self, backup: Backup | None) -> None:
        spec = ShardSpec(shard_name="0-inf", database_name="postgres", table_group_name="default")
        if backup is not None:
            spec = msgspec.structs.replace(spec, backup=backup)
        labels = {"multigres.com/cluster": "shop"}
        created = to_timestamp(self.clock.now())
        meta = ObjectMeta(
            name=SHARD.name, namespace="ns", uid="shard", labels=labels, creation_timestamp=created
        )
        available = Condition(
            type="Available", status="True", reason="r", message="m", last_transition_time=created
        )
        self.shards[SHARD] = ShardView(meta, spec, ShardStatus(conditions=[available]))
        self.clusters[Key("ns", "shop")] = ClusterView(ObjectMeta(name="shop", namespace="ns"), {})

    def set_availability(self, status: str) -> None:
        """As the status of the Shard reports it."""
        view = self.shards[SHARD]
        conditions = [
            msgspec.structs.replace(condition, status=status) for condition in view.status.conditions
        ]
        written = msgspec.structs.replace(view.status, conditions=conditions)
        self.shards[SHARD] = msgspec.structs.replace(view, status=written)

    def create_again(self, **cluster: Any) -> None:
        """The cluster was lost: another one of its name has the same repository."""
        created = to_timestamp(self.clock.now())
        shard = self.shards[SHARD]
        meta = msgspec.structs.replace(shard.metadata, creation_timestamp=created)
        self.shards[SHARD] = msgspec.structs.replace(shard, metadata=meta)
        self.clusters[Key("ns", "shop")] = ClusterView(ObjectMeta(name="shop", namespace="ns"), cluster)

    def set_primary(self, pod: str) -> None:
        shard = self.shards[SHARD]
        status = msgspec.structs.replace(shard.status, primary=pod)
        self.shards[SHARD] = msgspec.structs.replace(shard, status=status)

    def set_retention(self, retention: BackupRetention) -> None:
        shard = self.shards[SHARD]
        backup = msgspec.structs.replace(shard.spec.backup, retention=retention)
        spec = msgspec.structs.replace(shard.spec, backup=backup)
        self.shards[SHARD] = msgspec.structs.replace(shard, spec=spec)

    def _start_process(self) -> None:
        stores = {
            "shard": self.shards,
            "cluster": self.clusters,
            "backup": self.backups,
            "claim": self.claims,
            "pod": MemoryStore(),
            "secret": MemoryStore(),
        }
        self.context: Any = SimpleNamespace(
            clock=self.clock,
            now=lambda: to_timestamp(self.clock.now()),
            rules=SimpleNamespace(**{name: name for name in stores}),
            store=lambda rule: stores[rule],
            settings=SimpleNamespace(connect_to=()),
            client=SimpleNamespace(get=_password_secret),
            multiadmin=SimpleNamespace(at=lambda address: self),
            executor=self,
            contributions=self,
            servers=Servers(cast(Clock, self.clock), Channel()),
        )
        requests = MaintenanceRequests()
        self.reconciler = BackupReconciler(self.context, requests)
        self.maintenance = BackupMaintenanceReconciler(self.context, requests)

    # What a test does.

    def create(self, name: str = "b", shard: str = "0-inf", **spec: Any) -> None:
        spec = {"cluster": "shop", "shard": shard, **spec}
        self._add(name, MultigresBackupSpec(**spec), {})

    def _add(self, name: str, spec: MultigresBackupSpec, labels: dict[str, str]) -> None:
        self._uids += 1
        created = to_timestamp(self.clock.now())
        meta = ObjectMeta(
            name=name,
            namespace="ns",
            uid=f"uid-{self._uids}",
            generation=1,
            creation_timestamp=created,
            labels=labels,
        )
        self.backups.setdefault(Key("ns", name), MultigresBackupView(meta, spec))

    def status(self, name: str = "b") -> MultigresBackupStatus:
        status: MultigresBackupStatus = self.backups[Key("ns", name)].status
        return status

    async def reconcile(self, key: Key = SHARD) -> float | None:
        """Seconds until the next reconcile."""
        result = await self.reconciler.reconcile(key)
        if key in self.maintenance.requests.pending:
            await self.maintenance.reconcile(key)
            result = await self.reconciler.reconcile(key)
        return result.seconds if isinstance(result, RequeueAfter) else None

    async def run(self, is_done: Callable[[], bool]) -> None:
        """Reconciles, and lets the time pass in between."""
        for _ in range(MAX_RECONCILES):
            if is_done():
                return
            try:
                seconds = await self.reconcile()
            except Crashed:
                self._start_process()
                continue
            self.clock.time += 1.0 if seconds is None else seconds
        raise AssertionError(f"not done: {[view.status for view in self.backups.values()]}")

    def crash(self, at: int, after: bool) -> None:
        """Crashes at the nth effect from now on, before or after it."""
        self._crash_at, self._crash_after, self._effects = at, after, 0

    @property
    def shard_backup(self) -> ShardBackupStatus:
        found: ShardBackupStatus = self.shards[SHARD].status.backup
        return found

    @property
    def health(self) -> tuple[str, str]:
        return self.shard_status[0].status, self.shard_status[0].reason

    def scheduled(self) -> list[tuple[Any, Any]]:
        """Type and phase of each MultigresBackup, by creation."""
        found = sorted(self.backups.values(), key=lambda view: view.metadata.creation_timestamp)
        return [(view.spec.type, view.status.phase) for view in found]

    async def run_for(self, seconds: float) -> None:
        """Lets the time pass, and reconciles when the controller asks for it."""
        end = self.clock.time + seconds
        while self.clock.time < end:
            try:
                pause = await self.reconcile()
            except Crashed:
                self._start_process()
                continue
            self.clock.time = min(end, self.clock.time + (seconds if pause is None else pause))
        await self.reconcile()

    @property
    def repository(self) -> tuple[FakeBackup, ...]:
        return self.multiadmin_backups._advanced(ShardKey(*PATH[1:])).backups

    # What the controller uses.

    async def execute(self, plan: Plan, cause: Any) -> PlanResult:
        return PlanResult([StepResult(step, self._effect(step)) for step in plan])

    def _effect(self, step: Any) -> StepEffect:
        if isinstance(step, Emit):
            self.events.append(step.reason)
            return StepEffect.EMITTED
        if not isinstance(step, Status | Create | Delete):
            return StepEffect.REQUEUED
        before = self.backups.get(step.ref.key)
        if isinstance(step, Status) and (before is None or _same_status(before, step)):
            return StepEffect.GONE if before is None else StepEffect.UNCHANGED
        if isinstance(step, Create) and before is not None:
            return StepEffect.UNCHANGED
        self._count(lambda: self._write(step))
        return StepEffect.CHANGED

    def _write(self, step: Status | Create | Delete) -> None:
        self.writes += 1
        if isinstance(step, Delete):
            self.backups.pop(step.ref.key, None)
        elif isinstance(step, Create):
            spec = msgspec.convert(step.manifest["spec"], MultigresBackupSpec)
            self._add(step.ref.key.name, spec, step.manifest["metadata"].get("labels", {}))
        else:
            view = self.backups[step.ref.key]
            status = msgspec.convert(step.status, MultigresBackupStatus)
            self.backups[step.ref.key] = msgspec.structs.replace(view, status=status)

    def has(self, ref: Any, contributor: str) -> bool:
        return bool(self.shard_status)

    def set(self, ref: Any, contributor: str, contribution: Any) -> None:
        """Writes the status, as the controllers of Shards and clusters do."""
        if ref.kind == CLUSTER:
            written = (*contribution.conditions, contribution.fields)
            self.cluster_writes += written != (*self.cluster_conditions, self.cluster_fields)
            self.cluster_condition = contribution.conditions[0]
            self.cluster_conditions, self.cluster_fields = contribution.conditions, contribution.fields
            return
        view = self.shards[SHARD]
        backup = msgspec.convert(contribution.fields["backup"], ShardBackupStatus)
        written = (*contribution.conditions, backup)
        self.status_writes += written != self.shard_status
        self.shard_status = written
        status = msgspec.structs.replace(view.status, backup=backup)
        self.shards[SHARD] = msgspec.structs.replace(view, status=status)

    async def call(self, request: Request, decode: Callable[[bytearray], T]) -> T:
        if self.is_multiadmin_away:
            raise Unreachable("shop-multiadmin.ns.svc:18000: it accepts no connection")
        answers: list[Any] = []
        fields = {**dict(parse_qsl(request.query)), **msgspec.json.decode(request.body or b"{}")}
        shard = ShardKey(*(fields[name] for name in ("database", "table_group", "shard")))
        call = BackupCall(shard, fields, await self.fake_cluster.read_topology())

        def answer() -> None:
            answers.append(self._answer(request, call))

        self._count(answer) if request.method == "POST" else answer()
        return decode(bytearray(msgspec.json.encode(answers[0])))

    call_over_dead_connection = call

    def _answer(self, request: Request, call: BackupCall) -> Any:
        backups = self.multiadmin_backups
        try:
            if request.path.startswith("/api/v1/jobs/"):
                return backups.job(request.path.rpartition("/")[2], call)
            if request.method == "GET":
                self.lists += 1
                return backups.list(call)
            if request.path.endswith("/backups"):
                self.starts += 1
                return backups.start(call)
            return (backups.verify if request.path.endswith("verify") else backups.expire)(call)
        except MultiadminError as error:
            raise RequestRejected(str(error), error.code, str(error)) from None

    def _count(self, effect: Callable[[], None]) -> None:
        self._effects += 1
        is_crash = self._effects == self._crash_at
        if is_crash and not self._crash_after:
            raise Crashed
        effect()
        if is_crash:
            raise Crashed


def _same_status(live: MultigresBackupView, step: Status) -> bool:
    return bool(msgspec.to_builtins(live.status) == step.status)


assert ShardKey(*PATH[1:]) == DATA_PLANE_SHARD
