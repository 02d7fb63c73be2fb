"""Deletes a cluster under its finalizer: its parts in order, and the finalizer when nothing is left.

Under foreground deletion and in a terminating namespace other controllers delete the parts as well, in an order of
their own; a part that is already gone is not waited for. Deleted with `--cascade=orphan`, the parts stay.
"""

from typing import Any

from msgspec import to_builtins

from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.meta import ObjectMeta, key_of
from steward.multigres import names, reasons
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.cluster.parts import ClusterParts
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import (
    Deregistration,
    DeregistrationResult,
    RecordScope,
    TopologyTarget,
    has_foreign_records,
    is_shared_root,
    remove_all_records,
    remove_scoped_records,
)
from steward.multigres.controllers.common.graceful_deletion import (
    DeletingObject,
    GracefulDeletion,
    deletion_event,
)
from steward.multigres.controllers.common.resolution import SpecResolver
from steward.multigres.controllers.common.volumes import retained_claims
from steward.multigres.deletion import topology_mark
from steward.multigres.deletion.annotations import (
    has_finalizer,
    is_forced,
    orphans_children,
)
from steward.multigres.deletion.cluster_order import (
    REASON,
    DeletionStep,
    NextAction,
    RemainingObjects,
    final_deletion_step,
    forced_deletion_step,
    next_deletion_step,
    orphan_steps,
    revision_step,
    was_orphaned,
)
from steward.multigres.deletion.draining import RECHECK_SECONDS, DeletionTerms
from steward.multigres.objects.metadata import CLUSTER_LABEL, FINALIZER
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
        self._secrets = context.store(rules.secret)
        self._parts = ClusterParts(context, self.graceful_deletion)

    async def plan_deletion(self, cluster: ClusterView) -> Plan:
        meta = cluster.metadata
        if not has_finalizer(meta):
            return ()
        terms = self.graceful_deletion.terms(meta)
        seconds = self.context.grace.default_seconds
        deleting = DeletingObject(Ref(KIND, key_of(cluster)), meta, cluster.status, seconds, ())
        remaining = self._parts.remaining(meta)
        owned = remaining.owned_by(meta.uid)
        if orphans_children(meta) or was_orphaned(owned, self._parts.children(meta)):
            return (*orphan_steps(meta.uid, owned), *remove_finalizer(deleting.ref, meta, FINALIZER))
        if is_forced(terms.annotations):
            return await self._force_plan(cluster, deleting, terms, remaining)
        step = next_deletion_step(remaining, terms)
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
        step = final_deletion_step(remaining, terms)
        if step.action is NextAction.RELEASE:
            step = revision_step(await self._parts.ownerless_revisions(deleting.meta))
        if step.action is not NextAction.RELEASE:
            return (*result.steps, *self._wait(deleting, step))
        password = await self._delete_password(deleting.meta)
        return (*result.steps, *password, *remove_finalizer(deleting.ref, deleting.meta, FINALIZER))

    async def _delete_password(self, meta: ObjectMeta) -> Plan:
        """The password Secret outlives the cluster as long as data does."""
        key = Key(meta.namespace, names.password_secret(meta.name))
        live = self._secrets.get(key)
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
        revisions = await self._parts.ownerless_revisions(deleting.meta)
        step = forced_deletion_step(remaining._replace(rest=[*remaining.rest, *revisions]))
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

    async def _deregister(
        self, cluster: ClusterView, deleting: DeletingObject, terms: DeletionTerms
    ) -> DeregistrationResult:
        resolved = (await self.resolver.resolve(cluster)).resolved
        if resolved is None:
            return DeregistrationResult()
        reference = resolved.topo.reference
        managed = names.global_topo(cluster.metadata.name) if resolved.topo.etcd is not None else ""
        # Below a shared root another cluster may have registered a cell of the same name, which lets poolers register.
        may_have_records = is_shared_root(resolved) or topology_mark.may_have_records(cluster.metadata)
        target = TopologyTarget(reference, managed, may_have_records)
        root, scope = reference.root_path, _scope(resolved)
        if has_foreign_records(resolved):
            return await self.records.deregister(
                deleting, terms, target, lambda etcd: remove_scoped_records(etcd, root, scope)
            )
        return await self.records.deregister(
            deleting, terms, target, lambda etcd: remove_all_records(etcd, root)
        )


def _scope(resolved: ResolvedCluster) -> RecordScope:
    cells = [cell.name for cell in resolved.cells] if resolved.topology.register_cell else []
    return RecordScope(cells, [database.name for database in resolved.databases])
