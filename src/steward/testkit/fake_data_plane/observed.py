"""The watched objects: which clusters and etcd servers there are, their programs, and their faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steward.kube.cache.caches import Caches
from steward.kube.cache.store import ObjectChange
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    TOPO_SERVER_LABEL,
)
from steward.multigres.objects.multiadmin import COMPONENT as MULTIADMIN
from steward.multigres.objects.pool import CLAIM
from steward.multigres.objects.repository.host import COMPONENT as HOST
from steward.testkit.fake_data_plane.fault_table import FaultTable
from steward.testkit.fake_data_plane.faults import (
    NO_FAULTS,
    DataPlaneFault,
    DataPlaneFaults,
    FaultWord,
    faults_of_server,
    faults_without_server,
)
from steward.testkit.fake_data_plane.programs import HOST_PREFIX, DataPlaneProgram, ShardKey, parse_program
from steward.testkit.fake_data_plane.servers import DesiredServer
from steward.testkit.fake_data_plane.shards import ClusterState
from steward.testkit.fake_data_plane.views import READ_ONLY, FakeDataPlaneCacheRules, PodView, TopoServerView


class ObservedObjects:
    def __init__(self, caches: Caches, rules: FakeDataPlaneCacheRules) -> None:
        self.faults = FaultTable()
        self._pool_types: dict[tuple[Key, str], str] = {}
        self._pods = caches.store(rules.pod)
        self._pods.add_index(CLUSTER_LABEL, lambda pod: [str(key) for key in cluster_of(pod)])
        self._pods.add_index(TOPO_SERVER_LABEL, lambda pod: [str(key) for key in _server_of(pod)])
        self._topo_servers = caches.store(rules.topo_server)
        self._topo_servers.add_index(CLUSTER_LABEL, lambda server: [str(key) for key in cluster_of(server)])
        self._shards = caches.store(rules.shard)
        self._claims = caches.store(rules.claim)

    def subscribe(self, on_change: Callable[[ObjectChange[Any]], None]) -> None:
        for store in (self._pods, self._topo_servers, self._shards):
            store.subscribe(on_change)

    def has_cluster(self, cluster: Key) -> bool:
        """Whether the cluster has a pod or a TopoServer."""
        stores = (self._pods, self._topo_servers)
        return any(store.by_index(CLUSTER_LABEL, str(cluster)) for store in stores)

    def server_uids(self) -> set[str]:
        return {server.metadata.uid for server in self._topo_servers.list()}

    def desired_servers(self) -> list[DesiredServer]:
        return [self._desired_server(server) for server in self._topo_servers.list()]

    def _desired_server(self, server: TopoServerView) -> DesiredServer:
        key = key_of(server)
        ready = sum(pod.is_ready for pod in self._pods.by_index(TOPO_SERVER_LABEL, str(key)))
        has_quorum = ready > server.spec.replicas // 2
        return DesiredServer(
            key, server.metadata.uid, has_quorum, faults_without_server(self.faults.of_object(server))
        )

    def has_multiadmin(self, cluster: Key) -> bool:
        """Whether a pod of multiadmin is ready."""
        pods = self._pods.by_index(CLUSTER_LABEL, str(cluster))
        return any(pod.component == MULTIADMIN and pod.is_ready for pod in pods)

    def cluster_faults(self, cluster: Key) -> DataPlaneFaults:
        """Faults of the whole cluster: those of its TopoServers."""
        return faults_without_server(self._cluster_words(cluster))

    def _cluster_words(self, cluster: Key) -> frozenset[FaultWord]:
        servers = self._topo_servers.by_index(CLUSTER_LABEL, str(cluster))
        return frozenset().union(*(self.faults.of_object(server) for server in servers))

    def cluster_state(self, cluster: Key, now: float) -> ClusterState:
        pods = self._pods.by_index(CLUSTER_LABEL, str(cluster))
        return ClusterState(
            [program for pod in pods if (program := parse_program(pod)) is not None],
            lambda program: self._may_lead(cluster, program),
            now,
            self.cluster_faults(cluster),
            lambda shard: self._shard_faults(cluster, shard),
            lambda shard, server: self._server_faults(cluster, shard, server),
            lambda program: self._volume(cluster, program),
        )

    def _shard_faults(self, cluster: Key, shard: ShardKey) -> DataPlaneFaults:
        return faults_without_server(self._shard_words(cluster, shard)) | self._repository_faults(
            cluster, shard
        )

    def _repository_faults(self, cluster: Key, shard: ShardKey) -> DataPlaneFaults:
        """A repository that a pod serves cannot be reached without it."""
        pods = self._pods.by_index(CLUSTER_LABEL, str(cluster))
        programs = [program for pod in pods if (program := parse_program(pod)) is not None]
        is_served = any(
            program.shard == shard and program.repository.startswith(HOST_PREFIX) for program in programs
        )
        hosts = [pod for pod in pods if pod.component == HOST and _shard_of(pod) == tuple(shard)]
        is_away = is_served and not any(pod.is_ready for pod in hosts)
        return frozenset({DataPlaneFault.REPOSITORY_UNREACHABLE}) if is_away else NO_FAULTS

    def _shard_words(self, cluster: Key, shard: ShardKey) -> frozenset[FaultWord]:
        key = _shard_object(cluster, shard)
        found = self._shards.get(key)
        return self.faults.of_name(key) if found is None else self.faults.of_object(found)

    def _server_faults(self, cluster: Key, shard: ShardKey, server: str) -> DataPlaneFaults:
        """Faults of the server's pod, of its shard and of its cluster."""
        pod = self._pods.get(Key(cluster.namespace, server))
        own = NO_FAULTS if pod is None else faults_without_server(self.faults.of_object(pod))
        return own | faults_of_server(
            self._shard_words(cluster, shard) | self._cluster_words(cluster), server
        )

    def _volume(self, cluster: Key, program: DataPlaneProgram) -> str:
        """The uid of the claim with the data of a server: another one is an empty volume."""
        claim = self._claims.get(Key(cluster.namespace, f"{CLAIM}-{program.service_id}"))
        return "" if claim is None else claim.metadata.uid

    def _may_lead(self, cluster: Key, program: DataPlaneProgram) -> bool:
        name = _shard_object(cluster, program.shard)
        shard = self._shards.get(name)
        pool = None if shard is None else shard.spec.pools.get(program.pool)
        if pool is not None:
            self._pool_types[name, program.pool] = pool.type
        # Real poolers read no spec: a primary stays primary after its pool was removed from it.
        return self._pool_types.get((name, program.pool), READ_ONLY) != READ_ONLY


def _shard_object(cluster: Key, shard: ShardKey) -> Key:
    return Key(cluster.namespace, names.shard(ShardPath(cluster.name, *shard)))


def cluster_of(seen: HasMetadata) -> list[Key]:
    name = seen.metadata.labels.get(CLUSTER_LABEL)
    return [Key(seen.metadata.namespace, name)] if name else []


def is_of_server(seen: HasMetadata) -> bool:
    """Whether it is a TopoServer, or a pod of one."""
    return isinstance(seen, TopoServerView) or TOPO_SERVER_LABEL in seen.metadata.labels


def _server_of(pod: PodView) -> list[Key]:
    name = pod.metadata.labels.get(TOPO_SERVER_LABEL)
    return [Key(pod.metadata.namespace, name)] if name else []


def _shard_of(pod: PodView) -> tuple[str, ...]:
    """By labels: the API server cuts long names of Deployments in those of their pods."""
    labels = pod.metadata.labels
    return tuple(labels.get(name, "") for name in (DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL))
