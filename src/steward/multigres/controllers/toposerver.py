"""TopoServer: keeps etcd's objects and says whether its members are ready.

It does not go while others stand on it, unless somebody says so in so many words; until then it serves as ever.
"""

from collections.abc import Iterable, Sequence

from steward.kube.objects.conditions import Condition, find_condition, is_true
from steward.kube.objects.kinds import STATEFUL_SET, Key, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.cache_rules import TOPO_SERVER as KIND
from steward.multigres.controllers.common.child_triggers import CHILDREN, PODS, owned
from steward.multigres.controllers.common.context import ControllerContext, stall_of
from steward.multigres.controllers.common.graceful_deletion import DRAINING, Farewell, Leaving, emit
from steward.multigres.controllers.common.volumes import Around, VolumeKeeper, Volumes
from steward.multigres.deletion.annotations import (
    STEERING,
    held,
    holds,
    is_forced,
    is_protected,
    leaves_orphans,
    release,
)
from steward.multigres.deletion.dependents import (
    DELETION_BLOCKED,
    NONE_LEFT,
    SAFE_TO_DELETE,
    Beside,
    Dependent,
    blocked,
    blocked_message,
    dependents_of,
    servers_used,
    unblocked,
)
from steward.multigres.deletion.draining import Stage
from steward.multigres.objects.etcd import topo_server_objects
from steward.multigres.objects.metadata import CELL, CLUSTER, REGION, TOPO_SERVER, ZONE, Owner
from steward.multigres.resolution.layers import given
from steward.multigres.status.conditions import (
    Piece,
    Report,
    Stall,
    assess,
    common_status,
    read_conditions,
    workload_piece,
)
from steward.multigres.status.events import news
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
from steward.runtime.plan.steps import EventType, Plan, Status
from steward.runtime.reconcile import DONE, Result

PLACE = (CELL, ZONE, REGION)
UNPROTECTED = "Protection is off"
MEMBERS_GONE = "Its members are gone, and nothing is left to protect"


class TopoServerReconciler:
    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self.context = context
        self.farewell = Farewell(context)
        self.servers = context.store(rules.topo_server)
        self.cells = context.store(rules.cell)
        self.groups = context.store(rules.table_group)
        self.shards = context.store(rules.shard)
        self.sets = context.store(rules.stateful_set)
        self.pods = context.store(rules.pod)
        self.pods.add_label_index(TOPO_SERVER)
        self.claims = context.store(rules.claim)
        self.claims.add_label_index(TOPO_SERVER)
        self.volumes = VolumeKeeper(context)
        self.kept = (rules.stateful_set, rules.service, rules.budget)
        for rule in self.kept:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        stands_on_it = any_of(generation, lifetime)
        return Controller(
            "toposerver",
            self,
            (
                For(rules.topo_server, when=own_object(*STEERING)),
                *owned(self.kept),
                Watches(rules.pod, to=_server_of, patience=PODS),
                Watches(rules.claim, to=_server_of, patience=PODS),
                Watches(rules.cell, to=_servers_below, when=stands_on_it, patience=CHILDREN),
                Watches(rules.table_group, to=_servers_below, when=stands_on_it, patience=CHILDREN),
                Watches(rules.shard, to=_servers_below, when=stands_on_it, patience=CHILDREN),
                Watches(rules.cluster, to=self._servers_of, when=annotations(*STEERING)),
            ),
        )

    def _servers_of(self, cluster: ClusterView) -> list[Key]:
        meta = cluster.metadata
        beside = self.servers.list(meta.namespace)
        return [Key(s.metadata.namespace, s.metadata.name) for s in beside if is_of(cluster, s)]

    async def reconcile(self, key: Key) -> Result:
        server = self.servers.get(key)
        if server is None:
            return DONE
        if server.metadata.deletion_timestamp is not None:
            return await self.farewell.execute(self._leave(server), Ref(KIND, key))
        inputs = (server.metadata.uid, server.metadata.labels, server.spec)
        desired = self.context.drafts.of(Ref(KIND, key), inputs, lambda: _objects(server))
        strangers = await self.context.strangers(desired)
        volumes = Volumes(desired) if strangers else await self._settled(server, desired)
        kept = () if strangers else self.context.keep(server.metadata, volumes.desired, self.kept)
        return await self._carry_out(server, volumes, kept, stall_of(strangers))

    async def _carry_out(
        self, server: TopoServerView, volumes: Volumes, kept: Plan, stall: Stall | None
    ) -> Result:
        meta = server.metadata
        ref = Ref(KIND, Key(meta.namespace, meta.name))
        plan = (*held(ref, meta), *volumes.around(kept))
        outcome = await self.context.executor.execute(plan, ref)
        # What was just applied is already in the caches: no status calls it ready before it is.
        more = (volumes.condition(meta.generation),)
        pieces = [*self.context.going(volumes.desired), *volumes.pieces()]
        told = self.context.report(ref, server, self._status(server, stall, more, pieces))
        events = news(ref, server.status.conditions, more)
        reported = await self.context.executor.execute((*told, *events), ref)
        return PlanResult([*outcome.carried, *reported.carried]).result

    async def _settled(self, server: TopoServerView, desired: list[Manifest]) -> Volumes:
        meta = server.metadata
        around = Around(meta, self._claims(server), self._pods(server))
        return await self.volumes.settle(desired, around)

    def _leave(self, server: TopoServerView) -> Plan:
        meta = server.metadata
        if not holds(meta):
            return ()
        terms, seconds = self.farewell.terms(meta), self.context.grace.default_seconds
        stages = [Stage(self.farewell.going(STATEFUL_SET, meta, self._pods(server)), seconds)]
        leaving = Leaving(Ref(KIND, Key(meta.namespace, meta.name)), meta, server.status, seconds, stages)
        dependents = dependents_of(server, self._beside(meta.namespace))
        if is_forced(terms.annotations):
            return self.farewell.by_force(leaving, _skipped(dependents))
        if dependents and is_protected(terms.annotations, terms.grace) and self._has_members(server):
            return self._blocked(server, leaving, dependents)
        if leaves_orphans(meta):
            return (release(leaving.ref, meta),)
        leaving = leaving._replace(more=tuple(unblocked(meta, dependents)))
        course = self.farewell.course(leaving, terms)
        if course is None:
            return self.farewell.complete(leaving, terms)
        why = UNPROTECTED if self._has_members(server) else MEMBERS_GONE
        return (*self._freed(leaving, dependents, why), *course)

    def _has_members(self, server: TopoServerView) -> bool:
        """Whether there is anything to protect: foreground deletion takes the members away whoever depends on them,
        and then only a new server in the place of this one helps those who do."""
        return self.sets.get(key_of(server)) is not None or bool(self._pods(server))

    def _beside(self, namespace: str) -> Beside:
        return Beside(self.cells.list(namespace), self.groups.list(namespace), self.shards.list(namespace))

    def _blocked(self, server: TopoServerView, leaving: Leaving, dependents: Sequence[Dependent]) -> Plan:
        """Told once, and again when the number of those who depend on it changes."""
        before = find_condition(read_conditions(server.status.conditions), DELETION_BLOCKED)
        told = blocked_message(dependents)
        status = self._status(server, None, blocked(server.metadata, dependents))
        if before is None or before.status != "True":
            self.context.figures.blocked(KIND.kind, server.metadata.namespace)
        elif before.message == told:
            return (Status(leaving.ref, status),)
        return (
            Status(leaving.ref, status),
            emit(leaving, reasons.DELETION_BLOCKED, told, EventType.WARNING),
        )

    def _freed(self, leaving: Leaving, dependents: Sequence[Dependent], why: str) -> Plan:
        """The moment from which nothing, or nothing that counts, stands in the way."""
        known = read_conditions(leaving.status.conditions)
        if is_true(known, SAFE_TO_DELETE) or find_condition(known, DRAINING) is not None:
            return ()
        if dependents:
            told = f"{why}; skipped: {_skipped(dependents)}"
            return (emit(leaving, reasons.PROTECTION_OFF, told, EventType.WARNING),)
        return (emit(leaving, reasons.SAFE_TO_DELETE, NONE_LEFT),)

    def _pods(self, server: TopoServerView) -> list[PodView]:
        meta = server.metadata
        named = self.pods.by_index(TOPO_SERVER, meta.name)
        return [pod for pod in named if pod.metadata.namespace == meta.namespace]

    def _claims(self, server: TopoServerView) -> list[ClaimView]:
        meta = server.metadata
        named = self.claims.by_index(TOPO_SERVER, meta.name)
        return [claim for claim in named if claim.metadata.namespace == meta.namespace]

    def _status(
        self,
        server: TopoServerView,
        stall: Stall | None,
        more: Iterable[Condition] = (),
        pieces: Sequence[Piece] = (),
    ) -> Manifest:
        meta = server.metadata
        seen = self.sets.get(Key(meta.namespace, meta.name))
        look = self.context.look(self._pods(server), self._claims(server))
        piece = workload_piece(f"etcd {meta.name}", given(server.spec.replicas, 3), seen, look)
        health = assess([piece, *pieces], stall)
        report = Report(meta, server.status.conditions, self.context.now())
        return {
            **common_status(report, health, more),
            "clientService": meta.name,
            "peerService": f"{meta.name}-headless",
            "replicas": piece.desired,
            "readyReplicas": piece.ready,
        }


def _objects(server: TopoServerView) -> list[Manifest]:
    meta = server.metadata
    owner = Owner("TopoServer", meta.namespace, meta.name, meta.uid)
    place = {label: meta.labels[label] for label in PLACE if label in meta.labels}
    return topo_server_objects(owner, meta.labels.get(CLUSTER, ""), server.spec, place)


def _server_of(seen: PodView | ClaimView) -> list[Key]:
    meta = seen.metadata
    name = meta.labels.get(TOPO_SERVER)
    return [Key(meta.namespace, name)] if name else []


def _servers_below(seen: CellView | TableGroupView | ShardView) -> list[Key]:
    return [Key(seen.metadata.namespace, name) for name in servers_used(seen)]


def is_of(cluster: ClusterView, server: TopoServerView) -> bool:
    return server.metadata.labels.get(CLUSTER) == cluster.metadata.name


def _skipped(dependents: Sequence[Dependent]) -> str:
    if not dependents:
        return "the grace period"
    listed = ", ".join(f"{dependent.kind} {dependent.name}" for dependent in dependents)
    return f"the wait for {len(dependents)} components that depend on it ({listed})"
