"""Deletes a cluster under its finalizer: its parts in order, and the finalizer when nothing is left.

Under foreground deletion and in a terminating namespace other controllers delete the parts as well, in an order of
their own; a part that is already gone is not waited for. Deleted with `--cascade=orphan`, the parts stay.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from steward.kube.objects.kinds import DEPLOYMENT, SECRET, SERVICE, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, key_of
from steward.multigres import names, reasons
from steward.multigres.cache_rules import CELL, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import (
    Deregistration,
    DeregistrationResult,
    RecordScope,
    TopologyTarget,
    is_shared_root,
    remove_all_records,
    remove_scoped_records,
)
from steward.multigres.controllers.common.graceful_deletion import (
    RECHECK_SECONDS,
    DeletingObject,
    GracefulDeletion,
    controls,
    deletion_event,
)
from steward.multigres.controllers.common.resolution import SpecResolver
from steward.multigres.controllers.common.volumes import retained_claims
from steward.multigres.deletion.annotations import (
    has_finalizer,
    is_forced,
    orphans_children,
)
from steward.multigres.deletion.cluster_order import (
    REASON,
    DeletionStep,
    NextAction,
    RemainingObject,
    RemainingObjects,
    final_deletion_step,
    forced_deletion_step,
    next_deletion_step,
    orphan_steps,
    was_orphaned,
)
from steward.multigres.deletion.draining import DeletionTerms
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL, FINALIZER
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import ObjectHealth, StatusContext, common_status
from steward.multigres.views import ClusterView
from steward.runtime.plan.finalizers import remove_finalizer
from steward.runtime.plan.steps import Delete, EventType, Plan, Requeue, Status

SKIPPED = "the order of removal, grace periods, and the wait for dependents"


class ClusterDeletion:
    def __init__(self, context: MultigresContext, records: Deregistration) -> None:
        rules = context.rules
        self.context = context
        self.graceful_deletion = GracefulDeletion(context)
        self.records = records
        self.resolver = SpecResolver(context)
        children = (rules.cell, rules.table_group, rules.shard, rules.topo_server)
        self._stores = {
            rule.kind: context.store(rule)
            for rule in (*children, rules.deployment, rules.service, rules.secret)
        }

    async def plan_deletion(self, cluster: ClusterView) -> Plan:
        meta = cluster.metadata
        if not has_finalizer(meta):
            return ()
        terms = self.graceful_deletion.terms(meta)
        seconds = self.context.grace.default_seconds
        deleting = DeletingObject(Ref(KIND, key_of(cluster)), meta, cluster.status, seconds, ())
        remaining = self._remaining(cluster)
        if orphans_children(meta) or self._was_orphaned(cluster, remaining):
            return (
                *orphan_steps(meta.uid, remaining.owned),
                *remove_finalizer(deleting.ref, meta, FINALIZER),
            )
        if is_forced(terms.annotations):
            return await self._force_plan(cluster, deleting, terms, remaining)
        step = next_deletion_step(remaining)
        if step.action is not NextAction.DEREGISTER:
            return self._wait(deleting, step)
        return await self._plan_after_parts(cluster, deleting, terms, remaining)

    async def _plan_after_parts(
        self,
        cluster: ClusterView,
        deleting: DeletingObject,
        terms: DeletionTerms,
        remaining: RemainingObjects,
    ) -> Plan:
        # Only the topology server knows whether the records are gone: it is asked as long as it exists.
        result = await self._deregister(cluster, deleting, terms)
        if result.waits_for:
            return self._wait(deleting, DeletionStep((), NextAction.WAIT, result.waits_for))
        step = final_deletion_step(remaining)
        if step.action is not NextAction.RELEASE:
            return (*result.steps, *self._wait(deleting, step))
        password = await self._delete_password(deleting.meta)
        return (*result.steps, *password, *remove_finalizer(deleting.ref, deleting.meta, FINALIZER))

    async def _delete_password(self, meta: ObjectMeta) -> Plan:
        """The password Secret outlives the cluster as long as data does."""
        key = Key(meta.namespace, names.password_secret(meta.name))
        live = self._stores[SECRET].get(key)
        labels = {CLUSTER_LABEL: meta.name}
        if live is None or await retained_claims(self.context.client, meta.namespace, labels):
            return ()
        return (Delete(Ref(SECRET, key), live.metadata.uid, REASON),)

    async def _force_plan(
        self,
        cluster: ClusterView,
        deleting: DeletingObject,
        terms: DeletionTerms,
        remaining: RemainingObjects,
    ) -> Plan:
        step = forced_deletion_step(remaining)
        if step.action is NextAction.WAIT:
            return self._wait(deleting, step)
        result = await self._deregister(cluster, deleting, terms)
        separator = "; " if result.waits_for else ""
        message = f"Deleted by force; skipped: {SKIPPED}{separator}{result.waits_for}"
        return (
            deletion_event(deleting, reasons.FORCE_DELETED, message, EventType.WARNING),
            *await self._delete_password(deleting.meta),
            *remove_finalizer(deleting.ref, deleting.meta, FINALIZER),
        )

    def _wait(self, deleting: DeletingObject, step: DeletionStep) -> Plan:
        context = StatusContext(deleting.meta, deleting.status.conditions, self.context.now())
        health = ObjectHealth("Progressing", reasons.DELETING, step.waits_for, False, False)
        previous: dict[str, Any] = to_builtins(deleting.status)
        status = {**previous, **common_status(context, health)}
        return (*step.steps, Status(deleting.ref, status), Requeue(RECHECK_SECONDS))

    def _remaining(self, cluster: ClusterView) -> RemainingObjects:
        owned = self._owned
        rest = [*owned(cluster, DEPLOYMENT), *owned(cluster, SERVICE), *owned(cluster, SECRET)]
        gateways = [
            remaining
            for remaining in self._labelled(cluster, DEPLOYMENT)
            if remaining.live.metadata.labels.get(COMPONENT_LABEL) == gateway.COMPONENT
        ]
        return RemainingObjects(
            owned(cluster, CELL),
            gateways,
            owned(cluster, TABLE_GROUP),
            self._labelled(cluster, SHARD),
            owned(cluster, TOPO_SERVER),
            rest,
        )

    def _was_orphaned(self, cluster: ClusterView, remaining: RemainingObjects) -> bool:
        kinds = (CELL, TABLE_GROUP, TOPO_SERVER)
        labelled = [each.live for kind in kinds for each in self._labelled(cluster, kind)]
        return was_orphaned(remaining.owned, labelled)

    def _owned(self, cluster: ClusterView, kind: Kind) -> list[RemainingObject]:
        owned = self._stores[kind].by_owner(cluster.metadata.uid)
        return _sorted_by_name(kind, (live for live in owned if controls(cluster.metadata, live)))

    def _labelled(self, cluster: ClusterView, kind: Kind) -> list[RemainingObject]:
        """Objects of the cluster by label: owner references of grandchildren do not lead to the cluster."""
        objects = self._stores[kind].list(cluster.metadata.namespace)
        name = cluster.metadata.name
        labelled = (live for live in objects if live.metadata.labels.get(CLUSTER_LABEL) == name)
        return _sorted_by_name(kind, labelled)

    async def _deregister(
        self, cluster: ClusterView, deleting: DeletingObject, terms: DeletionTerms
    ) -> DeregistrationResult:
        resolved = self.resolver.resolve(cluster).resolved
        if resolved is None:
            return DeregistrationResult()
        reference = resolved.topo.reference
        managed = names.global_topo(cluster.metadata.name) if resolved.topo.etcd is not None else ""
        target, root, scope = TopologyTarget(reference, managed), reference.root_path, _scope(resolved)
        if is_shared_root(resolved):
            return await self.records.deregister(
                deleting, terms, target, lambda etcd: remove_scoped_records(etcd, root, scope)
            )
        return await self.records.deregister(
            deleting, terms, target, lambda etcd: remove_all_records(etcd, root)
        )


def _scope(resolved: ResolvedCluster) -> RecordScope:
    cells = [cell.name for cell in resolved.cells]
    return RecordScope(cells, [database.name for database in resolved.databases])


def _sorted_by_name(kind: Kind, objects: Iterable[Any]) -> list[RemainingObject]:
    ordered = sorted(objects, key=lambda live: str(live.metadata.name))
    return [RemainingObject(Ref(kind, key_of(live)), live) for live in ordered]
