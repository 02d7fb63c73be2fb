"""Watches pods, TopoServers and Shards, and maintains etcd servers and topology records as a real data plane would.

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
from steward.kube.objects.meta import HasMetadata, key_of
from steward.kube.transport.transport import TransportOptions
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import SilentProgress
from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER_LABEL, TOPO_SERVER_LABEL
from steward.multigres.topology.protobuf import MalformedRecord
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit.fake_data_plane.faults import (
    ANNOTATION,
    NO_FAULTS,
    DataPlaneFault,
    DataPlaneFaults,
    parse_faults,
)
from steward.testkit.fake_data_plane.programs import DataPlaneProgram, parse_program
from steward.testkit.fake_data_plane.registry import ClusterRegistry, ClusterState
from steward.testkit.fake_data_plane.servers import DesiredServer, TopologyServers
from steward.testkit.fake_data_plane.views import READ_ONLY, FakeDataPlaneCacheRules, PodView, TopoServerView

log = logging.getLogger(__name__)

USER_AGENT = "steward-data-plane"
BUSY_SECONDS = 0.5
IDLE_SECONDS = 10.0


@dataclass(frozen=True)
class FakeDataPlaneSettings:
    """The control plane to watch, and the directory for etcd's data and the file of forwards."""

    kubeconfig: Path
    directory: Path
    namespaces: tuple[str, ...] = ()
    failover_seconds: float = 2.0
    clock: Clock = field(default_factory=SystemClock)


class FakeDataPlane:
    def __init__(self, settings: FakeDataPlaneSettings) -> None:
        self._settings = settings
        self._clock = settings.clock
        self._rules = FakeDataPlaneCacheRules(settings.namespaces)
        self._injected: dict[Key, DataPlaneFaults] = {}
        self._unknown_words: dict[Key, list[str]] = {}
        self._registries: dict[Key, ClusterRegistry] = {}
        self._pool_types: dict[tuple[Key, str], str] = {}
        self._due: dict[Key, float] = {}
        self._syncs: dict[Key, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

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
        found = await binaries.ensure([CONTROL_PLANE], SilentProgress())
        directory = self._settings.directory
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.servers = TopologyServers(found["etcd"], directory, self._clock)
        undo.push_async_callback(self.servers.stop)
        self._redirect = Redirect((ForwardFile(self.servers.forwards_file),))
        client = await connect(
            load_settings(ConfigSource(kubeconfig=str(self._settings.kubeconfig), environ={})),
            TransportOptions(user_agent=USER_AGENT),
        )
        undo.push_async_callback(client.close)
        await self._watch(client, undo)
        self._loop = asyncio.create_task(self._run(), name="fake data plane")
        undo.push_async_callback(self._end_tasks)

    async def _end_tasks(self) -> None:
        tasks = [self._loop, *self._syncs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def wait(self) -> None:
        """Wait until cancelled: no failure ends the fake data plane."""
        await self._loop

    def inject_faults(self, server: Key, *faults: DataPlaneFault) -> None:
        """Replace the injected faults of a TopoServer; faults of the annotation are added to them."""
        self._injected[server] = frozenset(faults)
        self._due.clear()
        self._changed.set()

    def clear_faults(self, server: Key) -> None:
        self.inject_faults(server)

    async def _watch(self, client: Client, undo: AsyncExitStack) -> None:
        caches = Caches(client)
        undo.push_async_callback(caches.stop)
        self._pods = caches.store(self._rules.pod)
        self._pods.add_index(CLUSTER_LABEL, lambda pod: [str(key) for key in _cluster_of(pod)])
        self._pods.add_index(TOPO_SERVER_LABEL, lambda pod: [str(key) for key in _server_of(pod)])
        self._topo_servers = caches.store(self._rules.topo_server)
        self._shards = caches.store(self._rules.shard)
        for store in (self._pods, self._topo_servers, self._shards):
            store.subscribe(self._on_change)
        await caches.start()
        await caches.wait_synced()
        self.servers.remove_stale_data({server.metadata.uid for server in self._topo_servers.list()})

    def _on_change(self, change: ObjectChange[Any]) -> None:
        changed = change.new if change.new is not None else change.old
        for cluster in _cluster_of(changed) if changed is not None else ():
            self._due[cluster] = 0.0
        self._changed.set()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self.servers.reconcile(
                    [self._desired_server(server) for server in self._topo_servers.list()]
                )
            except OSError as error:
                log.warning("cannot reconcile the etcd servers: %s", error)
            self._start_due_syncs()
            # Not wait_for: on Python 3.11 it swallows a cancellation that meets the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(BUSY_SECONDS):
                    await self._changed.wait()

    def _desired_server(self, server: TopoServerView) -> DesiredServer:
        key = key_of(server)
        ready = sum(pod.is_ready for pod in self._pods.by_index(TOPO_SERVER_LABEL, str(key)))
        has_quorum = ready > server.spec.replicas // 2
        return DesiredServer(key, server.metadata.uid, has_quorum, self._faults(server))

    def _faults(self, server: TopoServerView) -> DataPlaneFaults:
        annotated, unknown = parse_faults(server.metadata.annotations)
        if unknown and self._unknown_words.get(key_of(server)) != unknown:
            known = ", ".join(fault.value for fault in DataPlaneFault)
            log.warning("%s of %s: %s is not one of %s", ANNOTATION, key_of(server), unknown, known)
        self._unknown_words[key_of(server)] = unknown
        return annotated | self._injected.get(key_of(server), NO_FAULTS)

    def _start_due_syncs(self) -> None:
        now = self._clock.monotonic()
        clusters = {cluster for pod in self._pods.list() for cluster in _cluster_of(pod)}
        for cluster in clusters | set(self._registries):
            if self._due.get(cluster, 0.0) <= now and cluster not in self._syncs:
                self._due[cluster] = now + IDLE_SECONDS
                self._syncs[cluster] = asyncio.create_task(self._sync(cluster), name=f"records of {cluster}")

    async def _sync(self, cluster: Key) -> None:
        try:
            settled = await self._registry(cluster).sync(self._cluster_state(cluster))
        except (EtcdError, MalformedRecord, OSError) as error:
            log.info("cannot sync the records of %s: %s", cluster, error)
            settled = False
        except Exception:
            log.exception("cannot sync the records of %s", cluster)
            settled = False
        finally:
            self._syncs.pop(cluster, None)
        if not settled:
            self._due[cluster] = min(self._due.get(cluster, 0.0), self._clock.monotonic() + BUSY_SECONDS)
        elif not self._pods.by_index(CLUSTER_LABEL, str(cluster)):
            self._registries.pop(cluster, None)

    def _registry(self, cluster: Key) -> ClusterRegistry:
        if cluster not in self._registries:
            self._registries[cluster] = ClusterRegistry(self._redirect, self._settings.failover_seconds)
        return self._registries[cluster]

    def _cluster_state(self, cluster: Key) -> ClusterState:
        pods = self._pods.by_index(CLUSTER_LABEL, str(cluster))
        faults = [
            self._faults(server) for server in self._topo_servers.list() if cluster in _cluster_of(server)
        ]
        return ClusterState(
            [program for pod in pods if (program := parse_program(pod)) is not None],
            lambda program: self._may_lead(cluster, program),
            self._clock.monotonic(),
            NO_FAULTS.union(*faults),
        )

    def _may_lead(self, cluster: Key, program: DataPlaneProgram) -> bool:
        name = names.shard(ShardPath(cluster.name, *program.shard))
        shard = self._shards.get(Key(cluster.namespace, name))
        pool = None if shard is None else shard.spec.pools.get(program.pool)
        if pool is not None:
            self._pool_types[Key(cluster.namespace, name), program.pool] = pool.type
        # Real poolers read no spec: a primary stays primary after its pool was removed from it.
        return self._pool_types.get((Key(cluster.namespace, name), program.pool), READ_ONLY) != READ_ONLY


def _cluster_of(seen: HasMetadata) -> list[Key]:
    name = seen.metadata.labels.get(CLUSTER_LABEL)
    return [Key(seen.metadata.namespace, name)] if name else []


def _server_of(pod: PodView) -> list[Key]:
    name = pod.metadata.labels.get(TOPO_SERVER_LABEL)
    return [Key(pod.metadata.namespace, name)] if name else []
