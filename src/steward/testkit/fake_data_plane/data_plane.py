"""The stand-in at work: watches pods, TopoServers and Shards, and keeps etcds and records as a data plane would.

    async with DataPlane(DataPlaneSettings(kubeconfig, directory)) as plane:
        start_operator("--connect-to", plane.connect_to)
        plane.misbehave(Key("shop", "mini-global-topo"), Misbehaviour.SILENT_ETCD)
        ...
        plane.behave(Key("shop", "mini-global-topo"))

Changes are acted on at once. What could not be done yet is tried again every half second; what is done is looked over
now and then, because others write to the same servers.
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
from steward.kube.cache.store import Change
from steward.kube.client.client import Client, connect
from steward.kube.clock import Clock, SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.kube.transport.transport import TransportOptions
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import Silent
from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER, TOPO_SERVER
from steward.multigres.topology.protobuf import MalformedRecord
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit.fake_data_plane.faults import ANNOTATION, NONE, Misbehaviour, Misbehaviours, read
from steward.testkit.fake_data_plane.programs import Program, program_of
from steward.testkit.fake_data_plane.registry import ClusterRegistry, Scene
from steward.testkit.fake_data_plane.servers import ServerWish, TopologyServers
from steward.testkit.fake_data_plane.views import READ_ONLY, PodView, Rules, TopoServerView

log = logging.getLogger(__name__)

USER_AGENT = "steward-data-plane"
BUSY_SECONDS = 0.5
IDLE_SECONDS = 10.0


@dataclass(frozen=True)
class DataPlaneSettings:
    """Where the control plane is, and where etcd's data and the file of forwards go."""

    kubeconfig: Path
    directory: Path
    namespaces: tuple[str, ...] = ()
    failover_seconds: float = 2.0
    clock: Clock = field(default_factory=SystemClock)


class DataPlane:
    def __init__(self, settings: DataPlaneSettings) -> None:
        self._settings = settings
        self._clock = settings.clock
        self._rules = Rules(settings.namespaces)
        self._told: dict[Key, Misbehaviours] = {}
        self._not_understood: dict[Key, list[str]] = {}
        self._registries: dict[Key, ClusterRegistry] = {}
        self._types: dict[tuple[Key, str], str] = {}
        self._due: dict[Key, float] = {}
        self._syncs: dict[Key, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    @property
    def connect_to(self) -> str:
        """What an operator outside the cluster is given as `--connect-to`, before or after this has started."""
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
        found = await binaries.ensure([CONTROL_PLANE], Silent())
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
        self._loop = asyncio.create_task(self._run(), name="data-plane stand-in")
        undo.push_async_callback(self._end_tasks)

    async def _end_tasks(self) -> None:
        tasks = [self._loop, *self._syncs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def wait(self) -> None:
        """Until it is cancelled: nothing that goes wrong ends the stand-in."""
        await self._loop

    def misbehave(self, server: Key, *wrong: Misbehaviour) -> None:
        """From now on, in place of what was asked for before; what the annotation asks for comes on top."""
        self._told[server] = frozenset(wrong)
        self._due.clear()
        self._changed.set()

    def behave(self, server: Key) -> None:
        self.misbehave(server)

    async def _watch(self, client: Client, undo: AsyncExitStack) -> None:
        caches = Caches(client)
        undo.push_async_callback(caches.stop)
        self._pods = caches.store(self._rules.pod)
        self._pods.add_index(CLUSTER, lambda pod: [str(key) for key in _cluster_of(pod)])
        self._pods.add_index(TOPO_SERVER, lambda pod: [str(key) for key in _server_of(pod)])
        self._topo_servers = caches.store(self._rules.topo_server)
        self._shards = caches.store(self._rules.shard)
        for store in (self._pods, self._topo_servers, self._shards):
            store.subscribe(self._hear)
        await caches.start()
        await caches.wait_synced()
        self.servers.tidy({server.metadata.uid for server in self._topo_servers.list()})

    def _hear(self, change: Change[Any]) -> None:
        seen = change.new if change.new is not None else change.old
        for cluster in _cluster_of(seen) if seen is not None else ():
            self._due[cluster] = 0.0
        self._changed.set()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self.servers.keep([self._wish(server) for server in self._topo_servers.list()])
            except OSError as error:
                log.warning("the etcds cannot be kept now: %s", error)
            self._sync_what_is_due()
            # Not wait_for: on Python 3.11 it swallows a cancellation that meets the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(BUSY_SECONDS):
                    await self._changed.wait()

    def _wish(self, server: TopoServerView) -> ServerWish:
        key = key_of(server)
        ready = sum(pod.is_ready for pod in self._pods.by_index(TOPO_SERVER, str(key)))
        has_quorum = ready > server.spec.replicas // 2
        return ServerWish(key, server.metadata.uid, has_quorum, self._wrong(server))

    def _wrong(self, server: TopoServerView) -> Misbehaviours:
        asked, unknown = read(server.metadata.annotations)
        if unknown and self._not_understood.get(key_of(server)) != unknown:
            known = ", ".join(each.value for each in Misbehaviour)
            log.warning("%s of %s: %s is not one of %s", ANNOTATION, key_of(server), unknown, known)
        self._not_understood[key_of(server)] = unknown
        return asked | self._told.get(key_of(server), NONE)

    def _sync_what_is_due(self) -> None:
        now = self._clock.monotonic()
        clusters = {cluster for pod in self._pods.list() for cluster in _cluster_of(pod)}
        for cluster in clusters | set(self._registries):
            if self._due.get(cluster, 0.0) <= now and cluster not in self._syncs:
                self._due[cluster] = now + IDLE_SECONDS
                self._syncs[cluster] = asyncio.create_task(self._sync(cluster), name=f"records of {cluster}")

    async def _sync(self, cluster: Key) -> None:
        try:
            settled = await self._registry(cluster).sync(self._scene(cluster))
        except (EtcdError, MalformedRecord, OSError) as error:
            log.info("the records of %s cannot be kept now: %s", cluster, error)
            settled = False
        except Exception:
            log.exception("the records of %s cannot be kept", cluster)
            settled = False
        finally:
            self._syncs.pop(cluster, None)
        if not settled:
            self._due[cluster] = min(self._due.get(cluster, 0.0), self._clock.monotonic() + BUSY_SECONDS)
        elif not self._pods.by_index(CLUSTER, str(cluster)):
            self._registries.pop(cluster, None)

    def _registry(self, cluster: Key) -> ClusterRegistry:
        if cluster not in self._registries:
            self._registries[cluster] = ClusterRegistry(self._redirect, self._settings.failover_seconds)
        return self._registries[cluster]

    def _scene(self, cluster: Key) -> Scene:
        pods = self._pods.by_index(CLUSTER, str(cluster))
        wrong = [
            self._wrong(server) for server in self._topo_servers.list() if cluster in _cluster_of(server)
        ]
        return Scene(
            [program for pod in pods if (program := program_of(pod)) is not None],
            lambda program: self._may_lead(cluster, program),
            self._clock.monotonic(),
            NONE.union(*wrong),
        )

    def _may_lead(self, cluster: Key, program: Program) -> bool:
        name = names.shard(ShardPath(cluster.name, *program.shard))
        shard = self._shards.get(Key(cluster.namespace, name))
        pool = None if shard is None else shard.spec.pools.get(program.pool)
        if pool is not None:
            self._types[Key(cluster.namespace, name), program.pool] = pool.type
        # The real ones read no spec: whoever leads goes on leading although its pool was taken out of it.
        return self._types.get((Key(cluster.namespace, name), program.pool), READ_ONLY) != READ_ONLY


def _cluster_of(seen: HasMetadata) -> list[Key]:
    name = seen.metadata.labels.get(CLUSTER)
    return [Key(seen.metadata.namespace, name)] if name else []


def _server_of(pod: PodView) -> list[Key]:
    name = pod.metadata.labels.get(TOPO_SERVER)
    return [Key(pod.metadata.namespace, name)] if name else []
