"""Deletes a Cell: its gateways, then the orchestrators and pools in it, its record, and its own topology server.

A Cell that a user deletes although its cluster still desires it only drains: it is created again and keeps its record.
"""

from collections.abc import Sequence

from msgspec import UNSET

from steward.kube.objects.kinds import DEPLOYMENT, Key, Ref
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import CELL as KIND
from steward.multigres.cache_rules import TOPO_SERVER
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import (
    Deregistration,
    DeregistrationResult,
    TopologyTarget,
    remove_cell_records,
)
from steward.multigres.controllers.common.graceful_deletion import DeletingObject, GracefulDeletion
from steward.multigres.controllers.common.resolution import SpecResolver
from steward.multigres.controllers.connection_counts import ConnectionCounts
from steward.multigres.deletion import topology_mark
from steward.multigres.deletion.annotations import (
    has_finalizer,
    is_forced,
    orphans_children,
)
from steward.multigres.deletion.dependents import local_server_name
from steward.multigres.deletion.draining import DeletionTerms, DrainingWorkload, DrainStage
from steward.multigres.deletion.ownerless_objects import is_ownerless_part
from steward.multigres.objects import orchestrator, pool
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, COMPONENT_LABEL, FINALIZER
from steward.multigres.resolution import defaults
from steward.multigres.views import CellView, ClusterView, PodView
from steward.runtime.plan.finalizers import remove_finalizer
from steward.runtime.plan.steps import Delete, Plan

SHARD_COMPONENTS = (orchestrator.COMPONENT, pool.COMPONENT)
SKIPPED = "the grace period, the wait for shards in the cell, and the cell's record in the topology server"
CELL_DELETED = "its cell is being deleted"


class CellDeletion:
    def __init__(
        self, context: MultigresContext, records: Deregistration, counts: ConnectionCounts | None = None
    ) -> None:
        rules = context.rules
        self.counts = counts
        self.context = context
        self.graceful_deletion = GracefulDeletion(context)
        self.records = records
        self.resolver = SpecResolver(context)
        self.clusters = context.store(rules.cluster)
        self.servers = context.store(rules.topo_server)
        self.deployments = context.store(rules.deployment)
        self.sets = context.store(rules.stateful_set)

    async def plan_deletion(self, cell: CellView, pods: Sequence[PodView]) -> Plan:
        meta = cell.metadata
        if not has_finalizer(meta):
            return ()
        if self.counts is not None:
            await self.counts.refresh(pods)
        terms, seconds = self.graceful_deletion.terms(meta), self.context.grace.default_seconds
        gateways = self.graceful_deletion.draining_workloads(DEPLOYMENT, meta, pods)
        stages = [DrainStage([*gateways, *await self._ownerless_gateways(cell, pods)], seconds)]
        ref = Ref(KIND, Key(meta.namespace, meta.name))
        deleting = DeletingObject(ref, meta, cell.status, seconds, stages)
        if orphans_children(meta):
            return remove_finalizer(ref, meta, FINALIZER)
        if is_forced(terms.annotations):
            return self.graceful_deletion.force_plan(deleting, SKIPPED)
        plan = self.graceful_deletion.plan(deleting, terms)
        if plan is not None:
            return plan
        return await self._plan_after_drain(cell, deleting, terms)

    async def _ownerless_gateways(self, cell: CellView, pods: Sequence[PodView]) -> list[DrainingWorkload]:
        """Gateways that were orphaned with this Cell or by hand. A Cell that the cluster still desires is created again
        and takes them over."""
        namespace, cluster_name = cell.metadata.namespace, cell.metadata.labels.get(CLUSTER_LABEL, "")
        cluster = self.clusters.get(Key(namespace, cluster_name))
        live = self.deployments.get(Key(namespace, names.gateway(cluster_name, cell.spec.name)))
        if cluster is None or live is None or await self._is_desired(cluster, cell):
            return []
        if not is_ownerless_part(DEPLOYMENT, live.metadata, cluster_name):
            return []
        return [self.graceful_deletion.draining_workload(DEPLOYMENT, live, pods)]

    async def _plan_after_drain(self, cell: CellView, deleting: DeletingObject, terms: DeletionTerms) -> Plan:
        meta = deleting.meta
        cluster = self.clusters.get(Key(meta.namespace, meta.labels.get(CLUSTER_LABEL, "")))
        if cluster is None or await self._is_desired(cluster, cell):
            return self.graceful_deletion.complete(deleting, terms)
        if remaining := self._remaining_workloads(cell):
            message = f"waiting for {', '.join(remaining)} to end"
            return self.graceful_deletion.blocked_status(deleting, message)
        result = await self._deregister(cell, deleting, terms)
        if result.waits_for:
            return self.graceful_deletion.blocked_status(deleting, result.waits_for)
        return (*result.steps, *self._delete_local_server(cell, deleting, terms))

    async def _deregister(
        self, cell: CellView, deleting: DeletingObject, terms: DeletionTerms
    ) -> DeregistrationResult:
        reference, managed = cell.spec.global_topo_server, cell.spec.topo_server_ref
        flags = or_default(cell.spec.topology_reconciliation, defaults.TOPOLOGY)
        if reference is UNSET or not or_default(flags.register_cell, True):
            return DeregistrationResult()
        cluster = self.clusters.get(Key(deleting.meta.namespace, deleting.meta.labels.get(CLUSTER_LABEL, "")))
        may_have_records = cluster is None or topology_mark.may_have_records(cluster.metadata)
        target = TopologyTarget(reference, "" if managed is UNSET else managed.name, may_have_records)
        root, name = reference.root_path, cell.spec.name
        return await self.records.deregister(
            deleting, terms, target, lambda etcd: remove_cell_records(etcd, root, name)
        )

    async def _is_desired(self, cluster: ClusterView, cell: CellView) -> bool:
        """A cluster whose spec cannot be resolved deletes nothing, so a user must have deleted the Cell."""
        if cluster.metadata.deletion_timestamp is not None:
            return False
        resolved = (await self.resolver.resolve(cluster)).resolved
        return resolved is None or any(desired.name == cell.spec.name for desired in resolved.cells)

    def _remaining_workloads(self, cell: CellView) -> list[str]:
        """Workloads of Shards in this cell: the Shard controllers delete them."""
        namespace, cluster = cell.metadata.namespace, cell.metadata.labels.get(CLUSTER_LABEL)
        workloads = [*self.deployments.list(namespace), *self.sets.list(namespace)]
        named_labels = ((live.metadata.name, live.metadata.labels) for live in workloads)
        return sorted(
            name
            for name, labels in named_labels
            if (labels.get(CLUSTER_LABEL), labels.get(CELL_LABEL)) == (cluster, cell.spec.name)
            and labels.get(COMPONENT_LABEL) in SHARD_COMPONENTS
        )

    def _delete_local_server(self, cell: CellView, deleting: DeletingObject, terms: DeletionTerms) -> Plan:
        name = local_server_name(cell)
        key = Key(deleting.meta.namespace, name)
        live = self.servers.get(key) if name else None
        if live is None:
            return self.graceful_deletion.complete(deleting, terms)
        message = f"waiting for topology server {name} to end"
        waits = self.graceful_deletion.blocked_status(deleting, message)
        if live.metadata.deletion_timestamp is not None:
            return waits
        return (Delete(Ref(TOPO_SERVER, key), live.metadata.uid, CELL_DELETED), *waits)
