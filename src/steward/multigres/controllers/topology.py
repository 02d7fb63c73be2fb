"""Keeps the records of each cluster in its topology server, apart from everything else.

A server that does not answer holds up nothing but its own records: this controller has its own queue, its own
condition and its own field manager, so that it and the cluster's controller never write the same field.
"""

import base64
import ssl

from msgspec import UNSET

from steward.etcd.client import Endpoints, EtcdClient, KeyValue
from steward.etcd.errors import EtcdError
from steward.kube.conditions import FALSE, TRUE, Condition, set_condition
from steward.kube.errors import NotFound
from steward.kube.kinds import SECRET, Key, Ref
from steward.multigres import names, reasons
from steward.multigres.api.topo import TopoReference
from steward.multigres.controllers.ground import Ground
from steward.multigres.controllers.wanted import Resolution
from steward.multigres.layers import given
from steward.multigres.objects.metadata import CLUSTER
from steward.multigres.protobuf import MalformedRecord
from steward.multigres.records import desired_records, expected_pods, leaders
from steward.multigres.resolved import ResolvedCluster
from steward.multigres.rules import CLUSTER as KIND
from steward.multigres.rules import SHARD
from steward.multigres.status import TOPOLOGY_REGISTERED, read_conditions
from steward.multigres.topology import (
    PoolerRecord,
    Stored,
    Write,
    changes,
    dead_poolers,
    decode_pooler,
    pooler_prefix,
)
from steward.multigres.views import ClusterView, TopoServerView
from steward.runtime.carry import Carrier
from steward.runtime.controller import Controller
from steward.runtime.plan import Plan, Requeue, Status
from steward.runtime.reconcile import DONE, Result
from steward.runtime.settings import Settings
from steward.runtime.triggers import For, Watches

FIELD_MANAGER = "multigres-topology"
LOOK_AGAIN_SECONDS = 15.0
RETRY_SECONDS = 5.0


class TopologyReconciler:
    def __init__(self, ground: Ground, carrier: Carrier, settings: Settings) -> None:
        self.ground = ground
        self.carrier = carrier
        self.clusters = ground.store(ground.rules.cluster)
        self.servers = ground.store(ground.rules.topo_server)
        self.resolution = Resolution(ground)
        self._forwards = {(f.host, f.port): (f.to_host, f.to_port) for f in settings.connect_to}

    def controller(self) -> Controller:
        rules = self.ground.rules
        return Controller("topology", self, (For(rules.cluster), Watches(rules.topo_server, to=_cluster_of)))

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            return DONE
        resolved = self.resolution.of(cluster).resolved
        if resolved is None:
            return DONE
        plan = await self._plan(cluster, resolved)
        return (await self.carrier.carry_out(plan, Ref(KIND, key))).result

    async def _plan(self, cluster: ClusterView, resolved: ResolvedCluster) -> Plan:
        if not self._server_is_up(cluster, resolved):
            name = names.global_topo(cluster.metadata.name)
            return self._told(
                cluster, FALSE, reasons.TOPOLOGY_WAITING, f"waiting for a ready member of {name}"
            )
        try:
            poolers = await self._register(cluster.metadata.namespace, resolved)
        except (EtcdError, NotFound, OSError, ValueError) as error:
            told = f"{error}; it is tried again every {RETRY_SECONDS:.0f} s"
            return (*self._told(cluster, FALSE, reasons.TOPOLOGY_UNREACHABLE, told), Requeue(RETRY_SECONDS))
        told = "the topology server holds the records of all cells and databases"
        return (
            *self._told(cluster, TRUE, reasons.REGISTERED, told),
            *_leading(cluster.metadata.namespace, resolved, poolers),
            Requeue(LOOK_AGAIN_SECONDS),
        )

    def _server_is_up(self, cluster: ClusterView, resolved: ResolvedCluster) -> bool:
        if resolved.topo.etcd is None:
            return True
        name = names.global_topo(cluster.metadata.name)
        server: TopoServerView | None = self.servers.get(Key(cluster.metadata.namespace, name))
        return server is not None and given(server.status.ready_replicas, 0) > 0

    async def _register(self, namespace: str, resolved: ResolvedCluster) -> list[PoolerRecord]:
        root = resolved.topo.reference.root_path
        async with EtcdClient(await self._endpoints(namespace, resolved.topo.reference)) as etcd:
            stored = {**await etcd.list(f"{root}/cells/"), **await etcd.list(f"{root}/databases/")}
            await _bring_up_to_date(etcd, resolved, stored)
            return await _prune_poolers(etcd, resolved)

    async def _endpoints(self, namespace: str, reference: TopoReference) -> Endpoints:
        tls = await self._tls(namespace, reference)
        return Endpoints(
            reference.address.split(","),
            tls,
            lambda host, port: self._forwards.get((host, port), (host, port)),
        )

    async def _tls(self, namespace: str, reference: TopoReference) -> ssl.SSLContext | None:
        if reference.ca_secret is UNSET and reference.client_cert_secret is UNSET:
            return None
        context = ssl.create_default_context()
        if reference.ca_secret is not UNSET:
            found = await self._secret(namespace, reference.ca_secret)
            context.load_verify_locations(cadata=found["ca.crt"].decode())
        if reference.client_cert_secret is not UNSET:
            found = await self._secret(namespace, reference.client_cert_secret)
            _load_client_certificate(context, found)
        return context

    async def _secret(self, namespace: str, name: str) -> dict[str, bytes]:
        found = await self.ground.client.get(SECRET, Key(namespace, name))
        return {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}

    def _told(self, cluster: ClusterView, status: str, reason: str, message: str) -> Plan:
        condition = Condition(TOPOLOGY_REGISTERED, status, reason, message, cluster.metadata.generation)
        before = tuple(c for c in read_conditions(cluster.status.conditions) if c.type == TOPOLOGY_REGISTERED)
        [stamped] = set_condition(before, condition, self.ground.now())
        ref = Ref(KIND, Key(cluster.metadata.namespace, cluster.metadata.name))
        return (Status(ref, {"conditions": [stamped.manifest()]}),)


def _load_client_certificate(context: ssl.SSLContext, secret: dict[str, bytes]) -> None:
    """The standard library reads key pairs from files only."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as directory:
        pair = Path(directory)
        (pair / "tls.crt").write_bytes(secret["tls.crt"])
        (pair / "tls.key").write_bytes(secret["tls.key"])
        context.load_cert_chain(pair / "tls.crt", pair / "tls.key")


async def _bring_up_to_date(etcd: EtcdClient, resolved: ResolvedCluster, stored: dict[str, KeyValue]) -> None:
    known = {key: Stored(*value) for key, value in stored.items()}
    ours = _ours(resolved, stored)
    for change in changes(desired_records(resolved), known, ours):
        if isinstance(change, Write):
            await etcd.put(change.key, change.value, change.revision)
        else:
            await etcd.delete(change.key, change.revision)


def _ours(resolved: ResolvedCluster, stored: dict[str, KeyValue]) -> list[str]:
    """Records that may go when nobody wants them: all of them, unless the root may be shared with other clusters."""
    external = resolved.topo.external
    if external is not None and external.root_path is not UNSET:
        return []
    return [key for key in stored if key.endswith(("/Cell", "/Database"))]


async def _prune_poolers(etcd: EtcdClient, resolved: ResolvedCluster) -> list[PoolerRecord]:
    """Takes away the records of poolers that nobody asks for, and returns the others."""
    stored = await etcd.list(pooler_prefix(resolved.topo.reference.root_path))
    poolers = {key: pooler for key, value in stored.items() if (pooler := _pooler(value.value))}
    databases = {database.name for database in resolved.databases}
    own = {key: pooler for key, pooler in poolers.items() if pooler.database in databases}
    dead = set(dead_poolers(own, expected_pods(resolved)))
    for key in sorted(dead):
        await etcd.delete(key, stored[key].revision)
    return [pooler for key, pooler in own.items() if key not in dead]


def _pooler(value: bytes) -> PoolerRecord | None:
    try:
        return decode_pooler(value)
    except MalformedRecord:
        return None


def _leading(namespace: str, resolved: ResolvedCluster, poolers: list[PoolerRecord]) -> Plan:
    return tuple(
        Status(Ref(SHARD, Key(namespace, leader.shard)), {"primaryCell": leader.cell} if leader.cell else {})
        for leader in leaders(resolved, poolers)
    )


def _cluster_of(server: TopoServerView) -> list[Key]:
    name = server.metadata.labels.get(CLUSTER)
    return [Key(server.metadata.namespace, name)] if name else []
