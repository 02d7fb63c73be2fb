"""A Cell's end: gateways, then the orchestrators and pools that stand in it, then its record, then its own server.

A Cell that was deleted by hand while its cluster still wants it only drains: it comes back, and takes its place again.
"""

from collections.abc import Sequence

from msgspec import UNSET

from steward.kube.objects.kinds import DEPLOYMENT, Key, Ref
from steward.multigres.cache_rules import CELL as KIND
from steward.multigres.cache_rules import TOPO_SERVER
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.deregistration import Attempt, Deregistration, Server, remove_cell
from steward.multigres.controllers.common.graceful_deletion import Farewell, Leaving
from steward.multigres.controllers.common.resolution import Resolution
from steward.multigres.deletion.annotations import holds, is_forced, leaves_orphans, release
from steward.multigres.deletion.dependents import own_server
from steward.multigres.deletion.draining import Stage, Terms
from steward.multigres.objects import orchestrator, pool
from steward.multigres.objects.metadata import CELL, CLUSTER, COMPONENT
from steward.multigres.views import CellView, ClusterView, PodView
from steward.runtime.plan.steps import Delete, Plan

OF_SHARDS = (orchestrator.COMPONENT, pool.COMPONENT)
SKIPPED = "the grace period, the wait for shards in the cell, and the cell's record in the topology server"
GOES_WITH_CELL = "its cell is going"


class CellRemoval:
    def __init__(self, context: ControllerContext, records: Deregistration) -> None:
        rules = context.rules
        self.context = context
        self.farewell = Farewell(context)
        self.records = records
        self.resolution = Resolution(context)
        self.clusters = context.store(rules.cluster)
        self.servers = context.store(rules.topo_server)
        self.deployments = context.store(rules.deployment)
        self.sets = context.store(rules.stateful_set)

    async def leave(self, cell: CellView, pods: Sequence[PodView]) -> Plan:
        meta = cell.metadata
        if not holds(meta):
            return ()
        terms, seconds = self.farewell.terms(meta), self.context.grace.default_seconds
        stages = [Stage(self.farewell.going(DEPLOYMENT, meta, pods), seconds)]
        leaving = Leaving(Ref(KIND, Key(meta.namespace, meta.name)), meta, cell.status, seconds, stages)
        if leaves_orphans(meta):
            return (release(leaving.ref, meta),)
        if is_forced(terms.annotations):
            return self.farewell.by_force(leaving, SKIPPED)
        course = self.farewell.course(leaving, terms)
        if course is not None:
            return course
        return await self._afterwards(cell, leaving, terms)

    async def _afterwards(self, cell: CellView, leaving: Leaving, terms: Terms) -> Plan:
        cluster = self.clusters.get(Key(leaving.meta.namespace, leaving.meta.labels.get(CLUSTER, "")))
        if cluster is None or self._is_wanted(cluster, cell):
            return self.farewell.complete(leaving, terms)
        if names := self._left_in(cell):
            return self.farewell.held_up(leaving, f"waiting for {', '.join(names)} to end")
        attempt = await self._deregister(cell, leaving, terms)
        if attempt.waits_for:
            return self.farewell.held_up(leaving, attempt.waits_for)
        return (*attempt.steps, *self._own_server(cell, leaving, terms))

    async def _deregister(self, cell: CellView, leaving: Leaving, terms: Terms) -> Attempt:
        reference, managed = cell.spec.global_topo_server, cell.spec.topo_server_ref
        if reference is UNSET:
            return Attempt()
        server = Server(reference, "" if managed is UNSET else managed.name)
        root, name = reference.root_path, cell.spec.name
        return await self.records.attempt(leaving, terms, server, lambda etcd: remove_cell(etcd, root, name))

    def _is_wanted(self, cluster: ClusterView, cell: CellView) -> bool:
        """What cannot be resolved is left as it is, so nobody but a person can have deleted the Cell."""
        if cluster.metadata.deletion_timestamp is not None:
            return False
        resolved = self.resolution.of(cluster).resolved
        return resolved is None or any(known.name == cell.spec.name for known in resolved.cells)

    def _left_in(self, cell: CellView) -> list[str]:
        """What the shards still have in this cell: each takes its own away."""
        namespace, cluster = cell.metadata.namespace, cell.metadata.labels.get(CLUSTER)
        workloads = [*self.deployments.list(namespace), *self.sets.list(namespace)]
        labels = ((seen.metadata.name, seen.metadata.labels) for seen in workloads)
        return sorted(
            name
            for name, known in labels
            if (known.get(CLUSTER), known.get(CELL)) == (cluster, cell.spec.name)
            and known.get(COMPONENT) in OF_SHARDS
        )

    def _own_server(self, cell: CellView, leaving: Leaving, terms: Terms) -> Plan:
        name = own_server(cell)
        seen = self.servers.get(Key(leaving.meta.namespace, name)) if name else None
        if seen is None:
            return self.farewell.complete(leaving, terms)
        waits = self.farewell.held_up(leaving, f"waiting for topology server {name} to end")
        if seen.metadata.deletion_timestamp is not None:
            return waits
        ref = Ref(TOPO_SERVER, Key(leaving.meta.namespace, name))
        return (Delete(ref, seen.metadata.uid, GOES_WITH_CELL), *waits)
