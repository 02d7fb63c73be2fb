"""TopoServer: manages etcd's objects and reports whether its members are ready.

It is not deleted while other objects depend on it, unless a user forces it or turns protection off; until then it keeps
serving.
"""

from collections.abc import Iterable, Sequence

from steward.kube.objects.conditions import Condition, find_condition, is_true
from steward.kube.objects.kinds import STATEFUL_SET, Key, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import TOPO_SERVER as KIND
from steward.multigres.controllers.common.child_triggers import CHILDREN, PODS, owned_triggers
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.foreign_objects import foreign_stall
from steward.multigres.controllers.common.graceful_deletion import (
    SOON_SECONDS,
    DeletingObject,
    GracefulDeletion,
    deletion_event,
)
from steward.multigres.controllers.common.volumes import VolumeInputs, VolumePlan, VolumePlanner
from steward.multigres.deletion.annotations import (
    DELETION_ANNOTATIONS,
    has_finalizer,
    is_forced,
    is_protected,
    orphans_children,
)
from steward.multigres.deletion.dependents import (
    DELETION_BLOCKED,
    NONE_LEFT,
    SAFE_TO_DELETE,
    Dependent,
    NamespaceObjects,
    blocked_conditions,
    blocked_message,
    dependents_of,
    servers_used,
    unblocked_conditions,
)
from steward.multigres.deletion.draining import DrainStage
from steward.multigres.deletion.ownerless_claims import SetVolumes, claim_deletions
from steward.multigres.deletion.ownerless_objects import ownerless_members
from steward.multigres.objects import etcd
from steward.multigres.objects.metadata import CLUSTER_LABEL, FINALIZER, TOPO_SERVER_LABEL
from steward.multigres.objects.tree import topo_server_objects
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.status.conditions import (
    DRAINING,
    ComponentStatus,
    Stall,
    StatusContext,
    assess_health,
    common_status,
    read_conditions,
    workload_component,
)
from steward.multigres.status.events import condition_events
from steward.multigres.views import (
    CellView,
    ClaimView,
    ClusterView,
    PodView,
    ShardView,
    TableGroupView,
    TopoServerView,
)
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import annotations, any_of, generation, lifetime, own_object
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.finalizers import add_finalizer, remove_finalizer
from steward.runtime.plan.steps import EventType, Plan, Requeue, Status
from steward.runtime.reconcile import DONE, Result

UNPROTECTED = "Protection is off"
MEMBERS_GONE = "Its members are gone, and nothing is left to protect"


class TopoServerReconciler:
    """Executes two plans: the children, then the status, so that the status never reports members as ready that the
    first plan has just changed. Volume expansions are executed while the first plan is made."""

    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self.context = context
        self.graceful_deletion = GracefulDeletion(context)
        self.servers = context.store(rules.topo_server)
        self.cells = context.store(rules.cell)
        self.groups = context.store(rules.table_group)
        self.shards = context.store(rules.shard)
        self.sets = context.store(rules.stateful_set)
        self.pods = context.store(rules.pod)
        self.pods.add_label_index(TOPO_SERVER_LABEL)
        self.claims = context.store(rules.claim)
        self.claims.add_label_index(TOPO_SERVER_LABEL)
        self.volumes = VolumePlanner(context)
        self.child_rules = (rules.stateful_set, rules.service, rules.budget)
        for rule in self.child_rules:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        changes = any_of(generation, lifetime)
        return Controller(
            "toposerver",
            self,
            (
                For(rules.topo_server, when=own_object(*DELETION_ANNOTATIONS)),
                *owned_triggers(self.child_rules),
                Watches(rules.pod, to=_server_of, debounce=PODS),
                Watches(rules.claim, to=_server_of, debounce=PODS),
                Watches(rules.cell, to=_used_servers, when=changes, debounce=CHILDREN),
                Watches(rules.table_group, to=_used_servers, when=changes, debounce=CHILDREN),
                Watches(rules.shard, to=_used_servers, when=changes, debounce=CHILDREN),
                Watches(rules.cluster, to=self._servers_of, when=annotations(*DELETION_ANNOTATIONS)),
            ),
            depth=1,
        )

    def _servers_of(self, cluster: ClusterView) -> list[Key]:
        servers = self.servers.list(cluster.metadata.namespace)
        return [key_of(server) for server in servers if _belongs_to(server, cluster)]

    async def reconcile(self, key: Key) -> Result:
        server, ref = self.servers.get(key), Ref(KIND, key)
        if server is None:
            return DONE
        if server.metadata.deletion_timestamp is not None:
            return await self.graceful_deletion.execute(self._plan_deletion(server), ref)
        desired = self._desired(ref, server)
        foreign = await self.context.foreign_objects.find(desired)
        volumes = VolumePlan(desired) if foreign else await self._plan_volumes(server, desired)
        applied = await self.context.executor.execute(self._plan(ref, server, volumes, foreign), ref)
        report = self._report(ref, server, volumes, foreign_stall(foreign))
        reported = await self.context.executor.execute(report, ref)
        return PlanResult([*applied.steps, *reported.steps]).result

    def _desired(self, ref: Ref, server: TopoServerView) -> list[Manifest]:
        inputs = (server.metadata.uid, server.metadata.labels, server.spec)
        return self.context.manifests.get_or_build(ref, inputs, lambda: topo_server_objects(server))

    async def _plan_volumes(self, server: TopoServerView, desired: list[Manifest]) -> VolumePlan:
        inputs = VolumeInputs(server.metadata, self._claims(server), self._pods(server))
        return await self.volumes.plan_volumes(desired, inputs)

    def _plan(self, ref: Ref, server: TopoServerView, volumes: VolumePlan, foreign: frozenset[Ref]) -> Plan:
        meta = server.metadata
        children = self.context.children.plan_children(meta, volumes.desired, self.child_rules)
        return (*add_finalizer(ref, meta, FINALIZER), *volumes.wrap(() if foreign else children))

    def _report(self, ref: Ref, server: TopoServerView, volumes: VolumePlan, stall: Stall | None) -> Plan:
        conditions = (volumes.condition(server.metadata.generation),)
        components = [*self.context.children.terminating(volumes.desired), *volumes.components()]
        status = self._status(server, stall, conditions, components)
        report = self.context.reporter.report(ref, server, status)
        return (*report, *condition_events(ref, server.status.conditions, conditions))

    def _plan_deletion(self, server: TopoServerView) -> Plan:
        meta = server.metadata
        if not has_finalizer(meta):
            return ()
        terms, deleting = self.graceful_deletion.terms(meta), self._deleting(server)
        dependents = dependents_of(server, self._namespace_objects(meta.namespace))
        claims = self._claim_deletions(server)
        if is_forced(terms.annotations):
            return (*claims, *self.graceful_deletion.force_plan(deleting, _skipped_message(dependents)))
        if dependents and is_protected(terms.annotations, terms.grace) and self._has_members(server):
            return self._blocked_plan(server, deleting, dependents)
        if orphans_children(meta):
            return remove_finalizer(deleting.ref, meta, FINALIZER)
        deleting = deleting._replace(other_conditions=tuple(unblocked_conditions(meta, dependents)))
        plan = self.graceful_deletion.plan(deleting, terms)
        if plan is None and claims:
            return (*claims, Requeue(SOON_SECONDS))
        if plan is None:
            return self.graceful_deletion.complete(deleting, terms)
        cause = UNPROTECTED if self._has_members(server) else MEMBERS_GONE
        return (*self._unblocked_events(deleting, dependents, cause), *plan)

    def _deleting(self, server: TopoServerView) -> DeletingObject:
        meta, seconds = server.metadata, self.context.grace.default_seconds
        pods = self._pods(server)
        workloads = self.graceful_deletion.draining_workloads(STATEFUL_SET, meta, pods)
        stages = [DrainStage(workloads, seconds, ownerless_members(pods, meta.name))]
        return DeletingObject(Ref(KIND, key_of(server)), meta, server.status, seconds, stages)

    def _claim_deletions(self, server: TopoServerView) -> Plan:
        """Deletes claims that have lost their owner with the set, where the policy says so."""
        spec, key = server.spec, key_of(server)
        retains = or_default(spec.pvc_deletion_policy, RETAIN).when_deleted != "Delete"
        if retains or self.sets.get(key) is not None:
            return ()
        volumes = SetVolumes(key.name, etcd.CLAIM, or_default(spec.replicas, 3))
        return claim_deletions([volumes], self._claims(server), self._pods(server))

    def _has_members(self, server: TopoServerView) -> bool:
        """Whether there is anything to protect: foreground deletion deletes the members in spite of dependents, and
        then only a new server under the same name helps them."""
        return self.sets.get(key_of(server)) is not None or bool(self._pods(server))

    def _namespace_objects(self, namespace: str) -> NamespaceObjects:
        return NamespaceObjects(
            self.cells.list(namespace), self.groups.list(namespace), self.shards.list(namespace)
        )

    def _blocked_plan(
        self, server: TopoServerView, deleting: DeletingObject, dependents: Sequence[Dependent]
    ) -> Plan:
        """Emits an event once, and again when the number of dependents changes."""
        previous = find_condition(read_conditions(server.status.conditions), DELETION_BLOCKED)
        message = blocked_message(dependents)
        status = self._status(server, None, blocked_conditions(server.metadata, dependents))
        if previous is None or previous.status != "True":
            self.context.deletion_metrics.count_blocked(KIND.kind, server.metadata.namespace)
        elif previous.message == message:
            return (Status(deleting.ref, status),)
        return (
            Status(deleting.ref, status),
            deletion_event(deleting, reasons.DELETION_BLOCKED, message, EventType.WARNING),
        )

    def _unblocked_events(
        self, deleting: DeletingObject, dependents: Sequence[Dependent], cause: str
    ) -> Plan:
        """Emitted once, when no dependent blocks the deletion any more."""
        previous = read_conditions(deleting.status.conditions)
        if is_true(previous, SAFE_TO_DELETE) or find_condition(previous, DRAINING) is not None:
            return ()
        if dependents:
            message = f"{cause}; skipped: {_skipped_message(dependents)}"
            return (deletion_event(deleting, reasons.PROTECTION_OFF, message, EventType.WARNING),)
        return (deletion_event(deleting, reasons.SAFE_TO_DELETE, NONE_LEFT),)

    def _pods(self, server: TopoServerView) -> list[PodView]:
        meta = server.metadata
        labelled = self.pods.by_index(TOPO_SERVER_LABEL, meta.name)
        return [pod for pod in labelled if pod.metadata.namespace == meta.namespace]

    def _claims(self, server: TopoServerView) -> list[ClaimView]:
        meta = server.metadata
        labelled = self.claims.by_index(TOPO_SERVER_LABEL, meta.name)
        return [claim for claim in labelled if claim.metadata.namespace == meta.namespace]

    def _status(
        self,
        server: TopoServerView,
        stall: Stall | None,
        conditions: Iterable[Condition] = (),
        others: Sequence[ComponentStatus] = (),
    ) -> Manifest:
        meta = server.metadata
        live = self.sets.get(Key(meta.namespace, meta.name))
        problems = self.context.pod_problems.find(self._pods(server), self._claims(server))
        replicas = or_default(server.spec.replicas, 3)
        members = workload_component(f"etcd {meta.name}", replicas, live, problems)
        context = StatusContext(meta, server.status.conditions, self.context.now())
        return {
            **common_status(context, assess_health([members, *others], stall), conditions),
            "clientService": meta.name,
            "peerService": f"{meta.name}-headless",
            "replicas": members.desired,
            "readyReplicas": members.ready,
        }


def _server_of(live: PodView | ClaimView) -> list[Key]:
    meta = live.metadata
    name = meta.labels.get(TOPO_SERVER_LABEL)
    return [Key(meta.namespace, name)] if name else []


def _used_servers(live: CellView | TableGroupView | ShardView) -> list[Key]:
    return [Key(live.metadata.namespace, name) for name in servers_used(live)]


def _belongs_to(server: TopoServerView, cluster: ClusterView) -> bool:
    return server.metadata.labels.get(CLUSTER_LABEL) == cluster.metadata.name


def _skipped_message(dependents: Sequence[Dependent]) -> str:
    if not dependents:
        return "the grace period"
    listed = ", ".join(f"{dependent.kind} {dependent.name}" for dependent in dependents)
    return f"the wait for {len(dependents)} components that depend on it ({listed})"
