"""Keeps the records of each cluster in its topology server, independently of all other controllers.

A server that does not answer delays only its own records: this controller has its own queue and its own condition. It
writes no status; its conditions and fields are contributions to the statuses of cluster and shards.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from steward.etcd.client import EtcdClient, ReadOnlyEtcdClient
from steward.etcd.errors import EtcdError, Unreachable
from steward.kube.cache.store import ObjectChange
from steward.kube.objects.conditions import FALSE, TRUE, Condition, find_condition
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import names, reasons
from steward.multigres.api.topo import TopoReference
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import has_foreign_records
from steward.multigres.controllers.common.etcd_access import SecretUnusable, TopologyAccess
from steward.multigres.controllers.common.primaries import PrimaryObservation
from steward.multigres.controllers.common.resolution import SpecResolver
from steward.multigres.controllers.common.status_contributions import StatusContributor
from steward.multigres.controllers.topology.failures import Unregistered, explain_failure
from steward.multigres.controllers.topology.membership import CohortMembership
from steward.multigres.controllers.topology.registration import living_poolers, register_records
from steward.multigres.controllers.topology.retry import Failures, TopologyRetries
from steward.multigres.deletion.annotations import has_finalizer
from steward.multigres.deletion.topology_mark import registration_steps
from steward.multigres.objects import pool
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL, TOPO_SERVER_LABEL
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import (
    TOPOLOGY_REGISTERED,
    read_conditions,
    topology_waiting_condition,
)
from steward.multigres.status.pause import is_paused
from steward.multigres.topology.desired_records import (
    PrimaryCell,
    cell_reference,
    desired_records,
    existing_cell_reference,
    expected_pods,
    local_server_name,
    managed_servers,
    poolers_by_shard,
    primary_cells,
    shards_with_servers,
)
from steward.multigres.topology.protobuf import MalformedRecord
from steward.multigres.topology.store_records import PoolerRecord, cell_key, database_key, find_primary
from steward.multigres.views import CellView, ClusterView, PodView, ShardView, StatefulSetView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.steps import Plan, Requeue, Status
from steward.runtime.reconcile import DONE, Result

PRIMARY_SECONDS = 3.0
"""How often the records are checked while a primary is unknown."""
QUIET_SECONDS = 5.0
"""A cluster younger than this does not report that it is not registered: it starts together with its server."""
REPORT_AFTER_FAILURES = 4
"""Consecutive failures, some seconds apart, before a server that has just started is reported as unreachable."""
SYNCHRONIZE_SECONDS = 60.0
"""The time limit of one reconcile for all topology servers of a cluster: slow ones must not occupy the workers."""
FORGET_SECONDS = 30.0
"""How long the last known primaries stay in the status while the server does not answer."""
CELL_RECORD = "/Cell"
REGISTERED = "the topology server holds the records of all cells and databases"


class TopologyReconciler:
    """Writes records directly to etcd: they are not Kubernetes objects. The plan only contains status contributions."""

    def __init__(self, context: MultigresContext, executor: StatusContributor, settings: Settings) -> None:
        self.context = context
        self.executor = executor
        self.clusters = context.store(context.rules.cluster)
        self.sets = context.store(context.rules.stateful_set)
        self.shards = context.store(context.rules.shard)
        self.cells = context.store(context.rules.cell)
        self.pods = context.store(context.rules.pod)
        self.pods.add_label_index(CLUSTER_LABEL)
        self.resolver = SpecResolver(context)
        self.access = TopologyAccess(context.client, Redirect(settings.connect_to))
        self._retries = TopologyRetries(context.clock)
        self._registered: dict[Key, frozenset[str]] = {}
        self._membership = CohortMembership(context)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "topology",
            self,
            (
                For(rules.cluster),
                Watches(rules.stateful_set, to=_cluster_of_server, when=selected_fields(_ready_members)),
                Watches(rules.pod, to=_cluster_of_pooler, when=_begins_to_terminate),
            ),
            channel=self.context.primaries.check_requests,
        )

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            self._retries.forget(key)
            self._registered.pop(key, None)
            self._membership.forget(key)
            self.context.registered_cells.forget_cluster(key)
            return DONE
        if not has_finalizer(cluster.metadata):
            # Without it the cluster could be deleted and leave its records; its addition triggers the next reconcile.
            return DONE
        resolved = (await self.resolver.resolve(cluster)).resolved
        if resolved is None:
            return DONE
        plan = await self._plan(cluster, resolved)
        return (await self.executor.execute(plan, Ref(KIND, key))).result

    async def _plan(self, cluster: ClusterView, resolved: ResolvedCluster) -> Plan:
        global_server = names.global_topo(resolved.identity.name)
        if resolved.topo.etcd is not None and not self._is_up(cluster, global_server):
            return self._waiting_plan(cluster, resolved, global_server)
        began = self.context.clock.monotonic()
        try:
            poolers = await self._synchronize_in_time(cluster, resolved)
        except (EtcdError, MalformedRecord, SecretUnusable, OSError, ValueError) as error:
            return self._failure_plan(cluster, resolved, explain_failure(error))
        self._retries.forget(key_of(cluster))
        local_servers = {cell.name: local_server_name(resolved, cell) for cell in resolved.cells}
        starting = {
            cell: name for cell, name in local_servers.items() if name and not self._is_up(cluster, name)
        }
        self._record_cells(cluster, local_servers.keys() - starting.keys())
        if starting:
            return self._waiting_plan(cluster, resolved, next(iter(starting.values())))
        self._record_primaries(cluster, poolers_by_shard(resolved, poolers), began)
        awaited = set() if cluster.spec.get("hibernation") is True else shards_with_servers(resolved)
        return self._registered_plan(cluster, primary_cells(resolved, poolers), awaited)

    def _registered_plan(
        self, cluster: ClusterView, primaries: list[PrimaryCell], awaited: Collection[str]
    ) -> Plan:
        """`awaited` are the Shards that should have a primary."""
        all_known = all(primary.cell for primary in primaries if primary.shard in awaited)
        again = self._retries.check_seconds() if all_known else PRIMARY_SECONDS
        condition: Plan = ()
        if not is_paused(cluster):
            condition = self._condition_steps(cluster, TRUE, reasons.REGISTERED, REGISTERED)
        return (*condition, *self._primary_cell_steps(cluster, primaries), Requeue(again))

    def _waiting_plan(self, cluster: ClusterView, resolved: ResolvedCluster, server: str) -> Plan:
        """While a server that the operator runs has no ready member."""
        self._record_silence(cluster, resolved)
        waiting = topology_waiting_condition(server)
        return self._unregistered_steps(cluster, Unregistered(waiting.reason, waiting.message))

    def _failure_plan(self, cluster: ClusterView, resolved: ResolvedCluster, cause: Unregistered) -> Plan:
        key = key_of(cluster)
        failures = self._retries.record_failure(key, self._all_ready_members(key.namespace, resolved))
        again = Requeue(self._retries.retry_seconds(failures))
        message = self._retries.stable_message(key, _reported_message(cluster, cause.reason), cause.message)
        self._record_silence(cluster, resolved)
        if cause.reason == reasons.TOPOLOGY_UNREACHABLE and _has_just_started(cluster, failures):
            return (again,)
        return (
            *self._unregistered_steps(cluster, cause._replace(message=message)),
            *self._forget_primary_steps(cluster, resolved),
            again,
        )

    def _record_cells(self, cluster: ClusterView, cells: Iterable[str]) -> None:
        meta = cluster.metadata
        keys = [Key(meta.namespace, names.cell(meta.name, cell)) for cell in cells]
        self.context.registered_cells.record(key_of(cluster), keys)

    def _record_primaries(
        self, cluster: ClusterView, poolers: Mapping[str, Sequence[PoolerRecord]], began: float
    ) -> None:
        for shard, registered in poolers.items():
            observation = PrimaryObservation(find_primary(registered), began, registered)
            self.context.primaries.record(Key(cluster.metadata.namespace, shard), observation)

    def _record_silence(self, cluster: ClusterView, resolved: ResolvedCluster) -> None:
        """Records that the server did not answer."""
        silence = PrimaryObservation(None, self.context.clock.monotonic(), is_answered=False)
        for shard in poolers_by_shard(resolved, ()):
            self.context.primaries.record(Key(cluster.metadata.namespace, shard), silence)

    def _all_ready_members(self, namespace: str, resolved: ResolvedCluster) -> int:
        return sum(self._ready(namespace, name) for name in managed_servers(resolved))

    def _unregistered_steps(self, cluster: ClusterView, cause: Unregistered) -> Plan:
        age = self._seconds_since(cluster.metadata.creation_timestamp)
        if _registered_condition(cluster) is None and 0 <= age < QUIET_SECONDS:
            return (Requeue(QUIET_SECONDS),)
        return self._condition_steps(cluster, FALSE, *cause)

    def _forget_primary_steps(self, cluster: ClusterView, resolved: ResolvedCluster) -> Plan:
        previous = _registered_condition(cluster)
        if previous is None or previous.status == TRUE:
            return ()
        if self._seconds_since(previous.last_transition_time) < FORGET_SECONDS:
            return ()
        return self._primary_cell_steps(cluster, primary_cells(resolved, ()))

    def _seconds_since(self, timestamp: str | None) -> float:
        return self.context.clock.now() - (from_timestamp(timestamp) if timestamp else 0.0)

    def _is_up(self, cluster: ClusterView, name: str) -> bool:
        return self._ready(cluster.metadata.namespace, name) > 0

    def _ready(self, namespace: str, server: str) -> int:
        """Ready members, from the StatefulSet: the status of a TopoServer may be throttled."""
        members: StatefulSetView | None = self.sets.get(Key(namespace, server))
        return 0 if members is None else members.status.ready_replicas

    async def _synchronize_in_time(
        self, cluster: ClusterView, resolved: ResolvedCluster
    ) -> list[PoolerRecord]:
        try:
            async with asyncio.timeout(SYNCHRONIZE_SECONDS):
                await self._begin_registration(cluster, resolved)
                return await self._synchronize(cluster, resolved)
        except TimeoutError:
            message = f"the topology servers did not answer all requests within {SYNCHRONIZE_SECONDS:g} s"
            raise Unreachable(message) from None

    async def _begin_registration(self, cluster: ClusterView, resolved: ResolvedCluster) -> None:
        """Records that there may be records, once the server has answered and before the first one is written."""
        ref, meta = Ref(KIND, key_of(cluster)), cluster.metadata
        steps = registration_steps(ref, meta)
        if not steps:
            return
        topo = resolved.topo.reference
        async with EtcdClient(await self.access.endpoints(meta.namespace, topo)) as etcd:
            await etcd.list(f"{topo.root_path}/cells/")
        await self.context.executor.execute(steps, ref)

    async def _synchronize(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[PoolerRecord]:
        """Writes the records, then returns the poolers: the records must not wait for a cell's own server. One
        connection for both: opening another would cost as much as two of the three requests."""
        namespace, key, topo = cluster.metadata.namespace, key_of(cluster), resolved.topo.reference
        client = ReadOnlyEtcdClient if is_paused(cluster) else EtcdClient
        servers, poolers = self._cell_servers(cluster, resolved), list[PoolerRecord]()
        async with client(await self.access.endpoints(namespace, topo)) as etcd:
            if not is_paused(cluster):
                await self._register(etcd, key, resolved)
            self._membership.begin_check(key)
            if topo in servers:
                poolers += await self._read_poolers(etcd, topo, key, resolved)
        for reference in (server for server in servers if server != topo):
            async with client(await self.access.endpoints(namespace, reference)) as etcd:
                poolers += await self._read_poolers(etcd, reference, key, resolved)
        self._membership.end_check(key)
        return poolers

    async def _read_poolers(
        self, etcd: EtcdClient, server: TopoReference, key: Key, resolved: ResolvedCluster
    ) -> list[PoolerRecord]:
        databases = {database.name for database in resolved.databases}
        pods = expected_pods(resolved) | self._existing_pods(key)
        is_member = partial(self._membership.is_member, key) if resolved.topology.prune_tablets else None
        return await living_poolers(etcd, server.root_path, databases, pods, is_member)

    async def _register(self, etcd: EtcdClient, key: Key, resolved: ResolvedCluster) -> None:
        desired, root = desired_records(resolved), resolved.topo.reference.root_path
        retained = self._existing_records(key, root) - set(desired)
        own = self._removable_records(key, resolved)
        await register_records(etcd, root, desired, own, retained)
        self._registered[key] = frozenset(desired) | retained

    def _removable_records(self, cluster: Key, resolved: ResolvedCluster) -> frozenset[str] | None:
        """The records that may be removed if they are not desired; None for all below the root."""
        if not has_foreign_records(resolved):
            return None
        written = self._registered.get(cluster, frozenset())
        if resolved.topology.register_cell:
            return written
        # Another program manages the cells now, including those that the operator once registered.
        return frozenset(record for record in written if not record.endswith(CELL_RECORD))

    def _existing_records(self, cluster: Key, root: str) -> set[str]:
        """The record keys of all Cells and databases that still exist, desired or not."""
        cells = (cell for cell in self.cells.list(cluster.namespace) if _belongs_to(cell, cluster))
        shards = (shard for shard in self.shards.list(cluster.namespace) if _belongs_to(shard, cluster))
        databases = {or_default(shard.spec.database_name, "") for shard in shards}
        return {cell_key(root, cell.spec.name) for cell in cells} | {
            database_key(root, database) for database in databases
        }

    def _cell_servers(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[TopoReference]:
        references: list[TopoReference] = []
        for cell in resolved.cells:
            local = local_server_name(resolved, cell)
            reference = cell_reference(resolved, cell)
            if reference not in references and (not local or self._is_up(cluster, local)):
                references.append(reference)
        return [*references, *self._removed_cell_servers(cluster, resolved)]

    def _removed_cell_servers(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[TopoReference]:
        """Of cells that are no longer desired: their servers register there until the last one has left."""
        desired = {cell.name for cell in resolved.cells}
        removed = (
            cell
            for cell in self.cells.list(cluster.metadata.namespace)
            if _belongs_to(cell, key_of(cluster)) and cell.spec.name not in desired
        )
        return [
            reference
            for cell in removed
            if (reference := existing_cell_reference(resolved.identity, cell.spec)) is not None
            and self._is_up(cluster, names.local_topo(cell.metadata.name))
        ]

    def _existing_pods(self, cluster: Key) -> set[str]:
        """Includes pods that are no longer desired: they own their records until they have shut down."""
        pods = self.pods.by_index(CLUSTER_LABEL, cluster.name)
        return {pod.metadata.name for pod in pods if pod.metadata.namespace == cluster.namespace}

    def _condition_steps(self, cluster: ClusterView, status: str, reason: str, message: str) -> Plan:
        generation, now = cluster.metadata.generation, self.context.now()
        condition = Condition(TOPOLOGY_REGISTERED, status, reason, message, generation, now)
        return (Status(Ref(KIND, key_of(cluster)), {"conditions": [condition.manifest()]}),)

    def _primary_cell_steps(self, cluster: ClusterView, primaries: list[PrimaryCell]) -> Plan:
        keyed = [(Key(cluster.metadata.namespace, primary.shard), primary.cell) for primary in primaries]
        return tuple(
            Status(Ref(SHARD, key), {"primaryCell": cell} if cell else {})
            for key, cell in keyed
            if self.shards.get(key) is not None
        )


def _belongs_to(live: CellView | ShardView, cluster: Key) -> bool:
    return live.metadata.labels.get(CLUSTER_LABEL) == cluster.name


def _registered_condition(cluster: ClusterView) -> Condition | None:
    return find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)


def _has_just_started(cluster: ClusterView, failures: Failures) -> bool:
    """A server is often not reachable yet when its first member becomes ready: the first failures are not reported."""
    previous = _registered_condition(cluster)
    is_new = previous is None or previous.reason == reasons.TOPOLOGY_WAITING
    return is_new and failures.ready_members > 0 and failures.times < REPORT_AFTER_FAILURES


def _reported_message(cluster: ClusterView, reason: str) -> str:
    """The message that the status reports for the same reason; "" if there is none."""
    previous = _registered_condition(cluster)
    return previous.message if previous is not None and previous.reason == reason else ""


def _begins_to_terminate(change: ObjectChange[PodView]) -> bool:
    """A pod is deleted or begins to terminate: the primary may move."""
    if change.new is None:
        return True
    was_terminating = change.old is None or change.old.metadata.deletion_timestamp is not None
    return change.new.metadata.deletion_timestamp is not None and not was_terminating


def _cluster_of_pooler(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    if labels.get(COMPONENT_LABEL) != pool.COMPONENT or CLUSTER_LABEL not in labels:
        return []
    return [Key(pod.metadata.namespace, labels[CLUSTER_LABEL])]


def _ready_members(members: StatefulSetView) -> int:
    return members.status.ready_replicas


def _cluster_of_server(members: StatefulSetView) -> list[Key]:
    labels = members.metadata.labels
    if TOPO_SERVER_LABEL not in labels or CLUSTER_LABEL not in labels:
        return []
    return [Key(members.metadata.namespace, labels[CLUSTER_LABEL])]
