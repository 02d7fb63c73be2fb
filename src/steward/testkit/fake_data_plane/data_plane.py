"""Watches pods, TopoServers and Shards, and plays etcd servers, programs, Postgres servers and multiadmin for them.

    async with FakeDataPlane(FakeDataPlaneSettings(kubeconfig, directory)) as plane:
        start_operator("--connect-to", plane.connect_to)
        plane.inject_faults(Key("shop", "mini-global-topo"), DataPlaneFault.SILENT_ETCD)
        ...
        plane.clear_faults(Key("shop", "mini-global-topo"))

Changes take effect at once. Failed syncs are retried every half second; finished ones are repeated every few seconds,
because the operator and users write to the same servers.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from steward.etcd.errors import EtcdError
from steward.kube.cache.caches import Caches
from steward.kube.cache.store import ObjectChange
from steward.kube.client.client import Client, connect
from steward.kube.clock import Clock, SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import Key
from steward.kube.transport.transport import TransportOptions
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import SilentProgress
from steward.multigres.topology.protobuf import MalformedRecord
from steward.testkit.fake_data_plane.backups.stored import RepositoryStore
from steward.testkit.fake_data_plane.cluster_plane import ClusterPlane, PlaneEnvironment
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from steward.testkit.fake_data_plane.faults import DataPlaneFault, FaultWord
from steward.testkit.fake_data_plane.memory_etcd import MemoryEtcd
from steward.testkit.fake_data_plane.observed import ObservedObjects, cluster_of, is_of_server
from steward.testkit.fake_data_plane.registry import BUSY_SECONDS, IDLE_SECONDS
from steward.testkit.fake_data_plane.servers import (
    NO_EXTERNAL,
    CreateServer,
    ExternalEtcd,
    TopologyServers,
)
from steward.testkit.fake_data_plane.shard_model import DEFAULT_TIMING, Timing
from steward.testkit.fake_data_plane.views import FakeDataPlaneCacheRules

log = logging.getLogger(__name__)

USER_AGENT = "steward-data-plane"
BURST_SECONDS = 0.05


class EtcdKind(Enum):
    PROCESS = "process"
    MEMORY = "memory"


@dataclass(frozen=True)
class FakeDataPlaneSettings:
    """The control plane to watch, and the directory for etcd's data, the state of shards and the file of forwards."""

    kubeconfig: Path
    directory: Path
    namespaces: tuple[str, ...] = ()
    timing: Timing = DEFAULT_TIMING
    etcd: EtcdKind = EtcdKind.PROCESS
    external: ExternalEtcd = NO_EXTERNAL
    clock: Clock = field(default_factory=SystemClock)


class FakeDataPlane:
    def __init__(self, settings: FakeDataPlaneSettings) -> None:
        self._settings = settings
        self._clock = settings.clock
        self._planes: dict[Key, ClusterPlane] = {}
        self._due: dict[Key, float] = {}
        self._syncs: dict[Key, asyncio.Task[None]] = {}
        self._changed_clusters: set[Key] = set()
        self._servers_changed = False
        self._changed = asyncio.Event()
        self._next_server_check = 0.0

    @property
    def connect_to(self) -> str:
        """The value of `--connect-to` for an operator outside the cluster; valid before the start, too."""
        return f"@{self._settings.directory / 'connect-to'}"

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            await self._open(undo)
            self._undo = undo.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._undo.aclose()

    async def _open(self, undo: AsyncExitStack) -> None:
        directory = self._settings.directory
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.servers = TopologyServers(
            await self._create_server(), directory, self._clock, self._settings.external
        )
        undo.push_async_callback(self.servers.stop)
        self._environment = PlaneEnvironment(
            self.servers.connect,
            directory,
            self._settings.timing,
            self._clock,
            self._wake,
            RepositoryStore(directory / "repositories"),
        )
        client = await connect(
            load_settings(ConfigSource(kubeconfig=str(self._settings.kubeconfig), environ={})),
            TransportOptions(user_agent=USER_AGENT),
        )
        undo.push_async_callback(client.close)
        await self._watch(client, undo)
        self._loop = asyncio.create_task(self._run(), name="fake data plane")
        undo.push_async_callback(self._end_tasks)

    async def _create_server(self) -> CreateServer:
        if self._settings.etcd is EtcdKind.MEMORY:
            return lambda directory: MemoryEtcd()
        program = (await binaries.ensure([CONTROL_PLANE], SilentProgress()))["etcd"]
        return lambda directory: EtcdProcess(program, directory)

    async def _end_tasks(self) -> None:
        tasks = [self._loop, *self._syncs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(plane.close() for plane in self._planes.values()))

    async def wait(self) -> None:
        """Wait until cancelled: no failure ends the fake data plane."""
        await self._loop

    def inject_faults(self, key: Key, *faults: DataPlaneFault | FaultWord) -> None:
        """Replace the injected faults of a TopoServer, a Shard or a pod; those of its annotation are added to them."""
        self.observed.faults.inject(key, faults)
        self._servers_changed = True
        for cluster in self._planes:
            self._wake(cluster)

    def clear_faults(self, key: Key) -> None:
        self.inject_faults(key)

    async def _watch(self, client: Client, undo: AsyncExitStack) -> None:
        caches = Caches(client)
        undo.push_async_callback(caches.stop)
        self.observed = ObservedObjects(caches, FakeDataPlaneCacheRules(self._settings.namespaces))
        self.observed.subscribe(self._on_change)
        await caches.start()
        await caches.wait_synced()
        self.servers.remove_stale_data(self.observed.server_uids())

    def _on_change(self, change: ObjectChange[Any]) -> None:
        changed = change.new if change.new is not None else change.old
        if changed is None:
            return
        self._servers_changed |= is_of_server(changed)
        for cluster in cluster_of(changed):
            self._wake(cluster)

    def _wake(self, cluster: Key) -> None:
        """Sync a cluster at once."""
        self._due[cluster] = 0.0
        self._changed_clusters.add(cluster)
        self._changed.set()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self._reconcile()
            except OSError as error:
                log.warning("cannot reconcile the servers: %s", error)
            self._start_due_syncs()
            # Not wait_for: on Python 3.11 it swallows a cancellation that meets the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds_until_due()):
                    await self._changed.wait()
            # Pods of one cluster change together: one sync for all of them.
            await asyncio.sleep(BURST_SECONDS)

    async def _reconcile(self) -> None:
        """Start and stop etcd servers and the ports of multiadmin.

        Only planes of changed clusters are looked at, and servers seldom unless one has changed: a test run leaves
        hundreds of clusters behind."""
        changed, self._changed_clusters = self._changed_clusters, set()
        for cluster in changed:
            await self._reconcile_plane(cluster)
        now = self._clock.monotonic()
        if self._servers_changed or now >= self._next_server_check:
            self._servers_changed = False
            self._next_server_check = now + BUSY_SECONDS
            forwards = [plane.forward for plane in self._planes.values()]
            await self.servers.reconcile(self.observed.desired_servers(), forwards)

    async def _reconcile_plane(self, cluster: Key) -> None:
        if self.observed.has_cluster(cluster):
            if cluster not in self._planes:
                self._planes[cluster] = ClusterPlane(cluster, self._environment)
                self._servers_changed = True
            faults = self.observed.cluster_faults(cluster)
            await self._planes[cluster].serve_multiadmin(self.observed.has_multiadmin(cluster), faults)
        elif cluster in self._syncs:
            self._changed_clusters.add(cluster)
        elif cluster in self._planes:
            plane = self._planes.pop(cluster)
            self._servers_changed = True
            self._due.pop(cluster, None)
            plane.forget()
            await plane.close()

    def _seconds_until_due(self) -> float:
        now = self._clock.monotonic()
        waiting = [
            self._due.get(cluster, 0.0) - now for cluster in self._planes if cluster not in self._syncs
        ]
        return max(0.0, min([BUSY_SECONDS, *waiting]))

    def _start_due_syncs(self) -> None:
        now = self._clock.monotonic()
        for cluster in self._planes:
            if self._due.get(cluster, 0.0) <= now and cluster not in self._syncs:
                self._due[cluster] = now + IDLE_SECONDS
                self._syncs[cluster] = asyncio.create_task(self._sync(cluster), name=f"records of {cluster}")

    async def _sync(self, cluster: Key) -> None:
        state = self.observed.cluster_state(cluster, self._clock.monotonic())
        try:
            seconds = await self._planes[cluster].sync(state)
        except (EtcdError, MalformedRecord, OSError) as error:
            log.info("cannot sync the records of %s: %s", cluster, error)
            seconds = BUSY_SECONDS
        except Exception:
            log.exception("cannot sync the records of %s", cluster)
            seconds = BUSY_SECONDS
        finally:
            self._syncs.pop(cluster, None)
        self._due[cluster] = min(self._due.get(cluster, 0.0), self._clock.monotonic() + max(seconds, 0.0))
        self._changed.set()
