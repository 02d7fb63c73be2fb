"""A cluster's end, under its finalizer: its parts go in order, and the finalizer goes when nothing is left.

Under foreground deletion and in a namespace that goes, others delete the parts as well, in an order of their own; what
is already gone is simply not waited for. Deleted with `--cascade=orphan` the parts stay, as that asks for.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from steward.kube.objects.kinds import DEPLOYMENT, SECRET, SERVICE, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, key_of
from steward.multigres import names, reasons
from steward.multigres.cache_rules import CELL, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.deregistration import (
    Attempt,
    Deregistration,
    Server,
    Whose,
    remove_everything,
    remove_own,
)
from steward.multigres.controllers.common.graceful_deletion import (
    LOOK_AGAIN_SECONDS,
    Farewell,
    Leaving,
    controls,
    emit,
)
from steward.multigres.controllers.common.kept_claims import kept_claims
from steward.multigres.controllers.common.resolution import Resolution
from steward.multigres.deletion.annotations import holds, is_forced, leaves_orphans, release
from steward.multigres.deletion.cluster_order import (
    REASON,
    Next,
    Present,
    Remains,
    Then,
    by_force,
    last_step,
    let_go,
    next_step,
    was_orphaned,
)
from steward.multigres.deletion.draining import Terms
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CLUSTER, COMPONENT
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import Health, Report, common_status
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Delete, EventType, Plan, Requeue, Status

SKIPPED = "the order of removal, grace periods, and the wait for dependents"


class ClusterRemoval:
    def __init__(self, context: ControllerContext, records: Deregistration) -> None:
        rules = context.rules
        self.context = context
        self.farewell = Farewell(context)
        self.records = records
        self.resolution = Resolution(context)
        of_children = (rules.cell, rules.table_group, rules.shard, rules.topo_server)
        self._stores = {
            rule.kind: context.store(rule)
            for rule in (*of_children, rules.deployment, rules.service, rules.secret)
        }

    async def leave(self, cluster: ClusterView) -> Plan:
        meta = cluster.metadata
        if not holds(meta):
            return ()
        terms = self.farewell.terms(meta)
        leaving = Leaving(
            Ref(KIND, key_of(cluster)), meta, cluster.status, self.context.grace.default_seconds, ()
        )
        remains = self._remains(cluster)
        if leaves_orphans(meta) or self._was_orphaned(cluster, remains):
            return (*let_go(meta.uid, remains.owned), release(leaving.ref, meta))
        if is_forced(terms.annotations):
            return await self._by_force(cluster, leaving, terms, remains)
        step = next_step(remains)
        if step.then is not Then.DEREGISTER:
            return self._wait(leaving, step)
        # Nothing tells that the records are gone but the server itself: it is asked as long as there is one.
        attempt = await self._deregister(cluster, leaving, terms)
        if attempt.waits_for:
            return self._wait(leaving, Next((), Then.WAIT, attempt.waits_for))
        step = last_step(remains)
        if step.then is Then.RELEASE:
            return (*attempt.steps, *await self._password(meta), release(leaving.ref, meta))
        return (*attempt.steps, *self._wait(leaving, step))

    async def _password(self, meta: ObjectMeta) -> Plan:
        """The password outlives the cluster for as long as data does; without data nobody needs it."""
        key = Key(meta.namespace, names.password_secret(meta.name))
        seen = self._stores[SECRET].get(key)
        if seen is None or await kept_claims(self.context.client, meta.namespace, {CLUSTER: meta.name}):
            return ()
        return (Delete(Ref(SECRET, key), seen.metadata.uid, REASON),)

    async def _by_force(self, cluster: ClusterView, leaving: Leaving, terms: Terms, remains: Remains) -> Plan:
        step = by_force(remains)
        if step.then is Then.WAIT:
            return self._wait(leaving, step)
        attempt = await self._deregister(cluster, leaving, terms)
        told = f"Deleted by force; skipped: {SKIPPED}{'; ' if attempt.waits_for else ''}{attempt.waits_for}"
        return (
            emit(leaving, reasons.FORCE_DELETED, told, EventType.WARNING),
            *await self._password(leaving.meta),
            release(leaving.ref, leaving.meta),
        )

    def _wait(self, leaving: Leaving, step: Next) -> Plan:
        report = Report(leaving.meta, leaving.status.conditions, self.context.now())
        health = Health("Progressing", reasons.DELETING, step.waits_for, False, False)
        before: dict[str, Any] = to_builtins(leaving.status)
        status = {**before, **common_status(report, health)}
        return (*step.steps, Status(leaving.ref, status), Requeue(LOOK_AGAIN_SECONDS))

    def _remains(self, cluster: ClusterView) -> Remains:
        own = self._owned
        rest = [*own(cluster, DEPLOYMENT), *own(cluster, SERVICE), *own(cluster, SECRET)]
        gateways = [
            each
            for each in self._labelled(cluster, DEPLOYMENT)
            if each.seen.metadata.labels.get(COMPONENT) == gateway.COMPONENT
        ]
        return Remains(
            own(cluster, CELL),
            gateways,
            own(cluster, TABLE_GROUP),
            self._labelled(cluster, SHARD),
            own(cluster, TOPO_SERVER),
            rest,
        )

    def _was_orphaned(self, cluster: ClusterView, remains: Remains) -> bool:
        kinds = (CELL, TABLE_GROUP, TOPO_SERVER)
        labelled = [each.seen for kind in kinds for each in self._labelled(cluster, kind)]
        return was_orphaned(remains.owned, labelled)

    def _owned(self, cluster: ClusterView, kind: Kind) -> list[Present]:
        owned = self._stores[kind].by_owner(cluster.metadata.uid)
        return _present(kind, (seen for seen in owned if controls(cluster.metadata, seen)))

    def _labelled(self, cluster: ClusterView, kind: Kind) -> list[Present]:
        """Below the children, where owner references do not lead to the cluster."""
        beside = self._stores[kind].list(cluster.metadata.namespace)
        name = cluster.metadata.name
        return _present(kind, (seen for seen in beside if seen.metadata.labels.get(CLUSTER) == name))

    async def _deregister(self, cluster: ClusterView, leaving: Leaving, terms: Terms) -> Attempt:
        resolved = self.resolution.of(cluster).resolved
        if resolved is None:
            return Attempt()
        reference = resolved.topo.reference
        managed = names.global_topo(cluster.metadata.name) if resolved.topo.etcd is not None else ""
        root, whose = reference.root_path, _whose(resolved)
        if is_shared(resolved):
            return await self.records.attempt(
                leaving, terms, Server(reference, managed), lambda etcd: remove_own(etcd, root, whose)
            )
        return await self.records.attempt(
            leaving, terms, Server(reference, managed), lambda etcd: remove_everything(etcd, root)
        )


def is_shared(resolved: ResolvedCluster) -> bool:
    """Whether other clusters may keep records below the same root."""
    external = resolved.topo.external
    return external is not None and bool(given(external.root_path, ""))


def _whose(resolved: ResolvedCluster) -> Whose:
    cells = [cell.name for cell in resolved.cells]
    return Whose(cells, [database.name for database in resolved.databases])


def _present(kind: Kind, found: Iterable[Any]) -> list[Present]:
    ordered = sorted(found, key=lambda seen: str(seen.metadata.name))
    return [Present(Ref(kind, Key(seen.metadata.namespace, seen.metadata.name)), seen) for seen in ordered]
