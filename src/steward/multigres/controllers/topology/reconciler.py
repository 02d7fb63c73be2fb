"""Keeps the records of each cluster in its topology server, apart from everything else.

A server that does not answer holds up nothing but its own records: this controller has its own queue and its own
condition. It writes nothing but records: what it has to say in a status it hands to the controller that writes it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.etcd.client import EtcdClient
from steward.etcd.errors import EtcdError
from steward.kube.cache.store import Change
from steward.kube.objects.conditions import FALSE, TRUE, Condition, find_condition
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import names, reasons
from steward.multigres.api.topo import TopoReference
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.etcd_access import SecretUnusable, TopologyAccess
from steward.multigres.controllers.common.primaries import Sighting
from steward.multigres.controllers.common.resolution import Resolution
from steward.multigres.controllers.common.status_contributions import RemarkCarrier
from steward.multigres.controllers.topology.registration import living_poolers, register
from steward.multigres.controllers.topology.rounds import until_next_round
from steward.multigres.controllers.topology.stable_error import Wording
from steward.multigres.objects import pool
from steward.multigres.objects.metadata import CLUSTER, COMPONENT, TOPO_SERVER
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import TOPOLOGY_REGISTERED, read_conditions, unregistered
from steward.multigres.topology.desired_records import (
    Leader,
    cell_reference,
    desired_records,
    expected_pods,
    leaders,
    local_server,
    poolers_by_shard,
)
from steward.multigres.topology.protobuf import MalformedRecord
from steward.multigres.topology.store_records import PoolerRecord, cell_key, database_key, primary
from steward.multigres.views import CellView, ClusterView, PodView, ShardView, StatefulSetView
from steward.runtime.controller.backoff import Backoff
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import chosen
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.steps import Plan, Requeue, Status
from steward.runtime.reconcile import DONE, Result

LOOK_AGAIN_SECONDS = 15.0
"""How often the records are looked at when there is no other reason to: in common rounds, to wake once for all."""
SEEK_SECONDS = 3.0
"""How often a primary is looked for while none is known."""
RETRY = Backoff(first=0.5, cap=LOOK_AGAIN_SECONDS, jitter=0.0)
"""Anew from the first step whenever a member becomes ready. The cap is how late a record may be when the way to a
server opens and nothing in the cluster tells of it. A gateway ends after 10 s without the record of its cell, and by
its second end the kubelet puts it off for longer than this."""
QUIET_SECONDS = 5.0
"""A cluster this young need not say yet that it is not registered: it comes up together with its server."""
TOLD_AFTER = 4
"""So many tries in vain, which take some seconds, before a server that comes up is said not to answer."""
FORGET_SECONDS = 30.0
"""After so long without an answer the primaries that were seen last are no longer told."""
REGISTERED = "the topology server holds the records of all cells and databases"


class Unregistered(NamedTuple):
    """Why the records are not what they should be."""

    reason: str
    message: str


class Failing(NamedTuple):
    """How often in a row a server was asked in vain, while so many of its members were ready."""

    times: int
    ready: int


class TopologyReconciler:
    def __init__(self, context: ControllerContext, executor: RemarkCarrier, settings: Settings) -> None:
        self.context = context
        self.executor = executor
        self.clusters = context.store(context.rules.cluster)
        self.sets = context.store(context.rules.stateful_set)
        self.shards = context.store(context.rules.shard)
        self.cells = context.store(context.rules.cell)
        self.pods = context.store(context.rules.pod)
        self.pods.add_label_index(CLUSTER)
        self.resolution = Resolution(context)
        self.access = TopologyAccess(context.client, Redirect(settings.connect_to))
        self._failures: dict[Key, Failing] = {}
        self._wording = Wording()
        self._registered: dict[Key, frozenset[str]] = {}

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "topology",
            self,
            (
                For(rules.cluster),
                Watches(rules.stateful_set, to=_cluster_of_server, when=chosen(_ready_members)),
                Watches(rules.pod, to=_cluster_of_pooler, when=_goes),
            ),
            channel=self.context.primaries.asked,
        )

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            self._failures.pop(key, None)
            self._wording.forget(key)
            self._registered.pop(key, None)
            return DONE
        resolved = self.resolution.of(cluster).resolved
        if resolved is None:
            return DONE
        plan = await self._plan(cluster, resolved)
        return (await self.executor.execute(plan, Ref(KIND, key))).result

    async def _plan(self, cluster: ClusterView, resolved: ResolvedCluster) -> Plan:
        if resolved.topo.etcd is not None and not self._is_up(
            cluster, names.global_topo(resolved.identity.name)
        ):
            self._saw_nothing(cluster, resolved)
            return self._unregistered(cluster, _waiting(names.global_topo(resolved.identity.name)))
        began = self.context.clock.monotonic()
        try:
            poolers = await self._look(cluster, resolved)
        except (EtcdError, MalformedRecord, SecretUnusable, OSError, ValueError) as error:
            return self._failed(cluster, resolved, _explained(error))
        self._failures.pop(key_of(cluster), None)
        self._wording.forget(key_of(cluster))
        starting = [
            name
            for cell in resolved.cells
            if (name := local_server(resolved, cell)) and not self._is_up(cluster, name)
        ]
        if starting:
            self._saw_nothing(cluster, resolved)
            return self._unregistered(cluster, _waiting(starting[0]))
        self._saw(cluster, poolers_by_shard(resolved, poolers), began)
        found = leaders(resolved, poolers)
        again = self._next_round() if all(leader.cell for leader in found) else SEEK_SECONDS
        told = self._told(cluster, TRUE, reasons.REGISTERED, REGISTERED)
        return (*told, *self._leading(cluster, found), Requeue(again))

    def _saw(self, cluster: ClusterView, found: Mapping[str, Sequence[PoolerRecord]], began: float) -> None:
        for shard, poolers in found.items():
            sighting = Sighting(primary(poolers), began, poolers)
            self.context.primaries.saw(Key(cluster.metadata.namespace, shard), sighting)

    def _saw_nothing(self, cluster: ClusterView, resolved: ResolvedCluster) -> None:
        """The server was asked, and did not say."""
        silence = Sighting(None, self.context.clock.monotonic(), is_answered=False)
        for shard in poolers_by_shard(resolved, ()):
            self.context.primaries.saw(Key(cluster.metadata.namespace, shard), silence)

    def _failed(self, cluster: ClusterView, resolved: ResolvedCluster, why: Unregistered) -> Plan:
        key = key_of(cluster)
        again = Requeue(self._retry_after(key, resolved))
        why = why._replace(message=self._wording.of(key, _standing(cluster, why.reason), why.message))
        self._saw_nothing(cluster, resolved)
        if why.reason == reasons.TOPOLOGY_UNREACHABLE and _has_just_come_up(cluster, self._failures[key]):
            return (again,)
        return (*self._unregistered(cluster, why), *self._forgotten(cluster, resolved), again)

    def _retry_after(self, key: Key, resolved: ResolvedCluster) -> float:
        """What failed while fewer members were ready counts for nothing."""
        ready = sum(self._ready(key.namespace, name) for name in _servers(resolved))
        before = self._failures.get(key)
        times = before.times + 1 if before is not None and before.ready == ready else 1
        self._failures[key] = Failing(times, ready)
        delay = RETRY.delay(times, 0.0)
        return delay if delay < RETRY.cap else self._next_round()

    def _next_round(self) -> float:
        return until_next_round(self.context.clock.monotonic(), LOOK_AGAIN_SECONDS)

    def _unregistered(self, cluster: ClusterView, why: Unregistered) -> Plan:
        age = self._seconds_since(cluster.metadata.creation_timestamp)
        if _before(cluster) is None and 0 <= age < QUIET_SECONDS:
            return (Requeue(QUIET_SECONDS),)
        return self._told(cluster, FALSE, *why)

    def _forgotten(self, cluster: ClusterView, resolved: ResolvedCluster) -> Plan:
        before = _before(cluster)
        if before is None or before.status == TRUE:
            return ()
        if self._seconds_since(before.last_transition_time) < FORGET_SECONDS:
            return ()
        return self._leading(cluster, leaders(resolved, ()))

    def _seconds_since(self, stamp: str | None) -> float:
        return self.context.clock.now() - (from_timestamp(stamp) if stamp else 0.0)

    def _is_up(self, cluster: ClusterView, name: str) -> bool:
        return self._ready(cluster.metadata.namespace, name) > 0

    def _ready(self, namespace: str, server: str) -> int:
        """Members that are ready, by the set that counts them: what a TopoServer says of them may be held back."""
        members: StatefulSetView | None = self.sets.get(Key(namespace, server))
        return 0 if members is None else members.status.ready_replicas

    async def _look(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[PoolerRecord]:
        """Registers what there is to register first: nothing of that may wait for a cell's own server."""
        namespace, key = cluster.metadata.namespace, key_of(cluster)
        desired = desired_records(resolved)
        async with EtcdClient(await self.access.endpoints(namespace, resolved.topo.reference)) as etcd:
            ours = self._registered.get(key, frozenset()) if _is_shared(resolved) else None
            leaving = self._leaving_records(key, resolved.topo.reference.root_path) - set(desired)
            await register(etcd, resolved.topo.reference.root_path, desired, ours, leaving)
        self._registered[key] = frozenset(desired) | leaving
        databases = {database.name for database in resolved.databases}
        pods = expected_pods(resolved) | self._existing_pods(key)
        poolers: list[PoolerRecord] = []
        for reference in self._cell_servers(cluster, resolved):
            async with EtcdClient(await self.access.endpoints(namespace, reference)) as etcd:
                poolers += await living_poolers(etcd, reference.root_path, databases, pods)
        return poolers

    def _leaving_records(self, cluster: Key, root: str) -> set[str]:
        """The records of cells and databases that are still there, wanted or not."""
        cells = (cell for cell in self.cells.list(cluster.namespace) if _is_of(cell, cluster))
        shards = (shard for shard in self.shards.list(cluster.namespace) if _is_of(shard, cluster))
        databases = {given(shard.spec.database_name, "") for shard in shards}
        return {cell_key(root, cell.spec.name) for cell in cells} | {
            database_key(root, database) for database in databases
        }

    def _cell_servers(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[TopoReference]:
        found: list[TopoReference] = []
        for cell in resolved.cells:
            own = local_server(resolved, cell)
            reference = cell_reference(resolved, cell)
            if reference not in found and (not own or self._is_up(cluster, own)):
                found.append(reference)
        return found

    def _existing_pods(self, cluster: Key) -> set[str]:
        """A pod that nobody asks for any more still owns its record while it shuts down."""
        pods = self.pods.by_index(CLUSTER, cluster.name)
        return {pod.metadata.name for pod in pods if pod.metadata.namespace == cluster.namespace}

    def _told(self, cluster: ClusterView, status: str, reason: str, message: str) -> Plan:
        generation, now = cluster.metadata.generation, self.context.now()
        condition = Condition(TOPOLOGY_REGISTERED, status, reason, message, generation, now)
        return (Status(Ref(KIND, key_of(cluster)), {"conditions": [condition.manifest()]}),)

    def _leading(self, cluster: ClusterView, found: list[Leader]) -> Plan:
        namespace = cluster.metadata.namespace
        return tuple(
            Status(
                Ref(SHARD, Key(namespace, leader.shard)), {"primaryCell": leader.cell} if leader.cell else {}
            )
            for leader in found
            if self.shards.get(Key(namespace, leader.shard)) is not None
        )


def _is_of(seen: CellView | ShardView, cluster: Key) -> bool:
    return seen.metadata.labels.get(CLUSTER) == cluster.name


def _before(cluster: ClusterView) -> Condition | None:
    return find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)


def _has_just_come_up(cluster: ClusterView, failing: Failing) -> bool:
    """Nobody knows the way to a server in the moment in which its first member is ready: that is no news yet."""
    before = _before(cluster)
    is_new = before is None or before.reason == reasons.TOPOLOGY_WAITING
    return is_new and failing.ready > 0 and failing.times < TOLD_AFTER


def _standing(cluster: ClusterView, reason: str) -> str:
    """What the status says already about the same thing."""
    before = _before(cluster)
    return before.message if before is not None and before.reason == reason else ""


def _is_shared(resolved: ResolvedCluster) -> bool:
    """Whether other clusters may keep records below the same root: then only what we wrote ourselves may go."""
    external = resolved.topo.external
    return external is not None and bool(given(external.root_path, ""))


def _waiting(server: str) -> Unregistered:
    waiting = unregistered(server)
    return Unregistered(waiting.reason, waiting.message)


def _explained(error: Exception) -> Unregistered:
    if isinstance(error, MalformedRecord):
        return Unregistered(reasons.TOPOLOGY_UNREADABLE, str(error))
    if isinstance(error, SecretUnusable):
        return Unregistered(reasons.TOPOLOGY_SECRET_MISSING, str(error))
    return Unregistered(reasons.TOPOLOGY_UNREACHABLE, f"{error}; it is tried again by itself")


def _goes(change: Change[PodView]) -> bool:
    """A pod ends, or begins to: the moment in which a primary may move."""
    if change.new is None:
        return True
    is_old = change.old is None or change.old.metadata.deletion_timestamp is not None
    return change.new.metadata.deletion_timestamp is not None and not is_old


def _cluster_of_pooler(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    if labels.get(COMPONENT) != pool.COMPONENT or CLUSTER not in labels:
        return []
    return [Key(pod.metadata.namespace, labels[CLUSTER])]


def _servers(resolved: ResolvedCluster) -> list[str]:
    """The servers that Steward runs for the cluster."""
    own = [name for cell in resolved.cells if (name := local_server(resolved, cell))]
    return own if resolved.topo.etcd is None else [names.global_topo(resolved.identity.name), *own]


def _ready_members(members: StatefulSetView) -> int:
    return members.status.ready_replicas


def _cluster_of_server(members: StatefulSetView) -> list[Key]:
    labels = members.metadata.labels
    if TOPO_SERVER not in labels or CLUSTER not in labels:
        return []
    return [Key(members.metadata.namespace, labels[CLUSTER])]
