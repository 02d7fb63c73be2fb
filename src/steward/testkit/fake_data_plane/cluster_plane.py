"""The fake data plane of one cluster: its registry, its shards, and multiadmin on a port of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from steward.etcd.client import EtcdClient
from steward.etcd.errors import Unreachable
from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.objects.multiadmin import HTTP
from steward.runtime.manager.connect_to import Forward
from steward.testkit.fake_data_plane.backups.stored import ClusterRepositories, RepositoryStore
from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.listener import HOST, Listener
from steward.testkit.fake_data_plane.multiadmin import Multiadmin
from steward.testkit.fake_data_plane.programs import DataPlaneProgram, ShardKey
from steward.testkit.fake_data_plane.registry import ClusterRegistry
from steward.testkit.fake_data_plane.shard_model import ShardState, ShardView, Timing
from steward.testkit.fake_data_plane.shards import ClusterShards, ClusterState
from steward.testkit.fake_data_plane.topology_reader import TopologyRecords, read_topology

Connect = Callable[[tuple[str, ...]], EtcdClient]


class PlaneEnvironment(NamedTuple):
    """What the planes of all clusters share. `on_change` is called with the cluster whose shards multiadmin changed."""

    connect: Connect
    directory: Path
    timing: Timing
    clock: Clock
    on_change: Callable[[Key], None]
    repositories: RepositoryStore


class ClusterPlane:
    def __init__(self, key: Key, environment: PlaneEnvironment) -> None:
        file = environment.directory / "shards" / f"{key.namespace}.{key.name}.json"
        self.key = key
        repositories = ClusterRepositories(environment.repositories, f"{key.namespace}/{key.name}")
        self.registry = ClusterRegistry(
            environment.connect, ClusterShards(environment.timing, file), repositories
        )
        self._connect = environment.connect
        self._clock = environment.clock
        self._on_change = environment.on_change
        self._program: DataPlaneProgram | None = None
        self._faults = NO_FAULTS
        self._multiadmin = Multiadmin(self, environment.clock, repositories)
        self._listener = Listener(self._serve)

    @property
    def forward(self) -> Forward:
        """multiadmin's address in the cluster, and the one to connect to instead."""
        host = f"{names.multiadmin(self.key.name)}.{self.key.namespace}.svc"
        return Forward(host, HTTP.number, HOST, self._listener.port)

    async def sync(self, cluster: ClusterState) -> float:
        """Sync the records; return the seconds until the next sync."""
        self._program = next(iter(cluster.programs), self._program)
        return await self.registry.sync(cluster)

    async def serve_multiadmin(self, is_ready: bool, faults: DataPlaneFaults) -> None:
        """Answer while a pod of multiadmin is ready; otherwise refuse connections."""
        self._faults = faults
        if is_ready and DataPlaneFault.MULTIADMIN_AWAY not in faults:
            await self._listener.listen()
        else:
            self._multiadmin.backups.forget_jobs()
            await self._listener.refuse()

    async def close(self) -> None:
        await self._listener.close()

    def forget(self) -> None:
        """Delete what is kept of a deleted cluster."""
        self.registry.shards.delete()

    async def read_topology(self) -> TopologyRecords:
        if self._program is None:
            raise Unreachable("no program of the cluster names its topology server")
        return await read_topology(self._connect, self._program)

    def view(self, shard: ShardKey) -> ShardView | None:
        found = self.registry.shards.views.get(shard)
        return None if found is None else found._replace(now=self._clock.monotonic())

    def replace_state(self, shard: ShardKey, state: ShardState) -> None:
        shards = self.registry.shards
        shards.views[shard] = shards.views[shard]._replace(state=state)
        shards.save()
        self._on_change(self.key)

    async def _serve(self, request: web.BaseRequest) -> web.Response:
        if DataPlaneFault.MULTIADMIN_SILENT in self._faults:
            await asyncio.Event().wait()
        return await self._multiadmin.serve(request)
