"""MultigresCluster: resolves what the user wrote, keeps its children, and says in one place how the whole is.

A spec that cannot be carried out changes nothing: what runs stays as it is, and the status says which field to mend.
"""

import secrets as randomness
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from steward.kube.cache.rules import CacheRule
from steward.kube.objects.conditions import Condition, find_condition
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.cache_rules import CELL
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.cell.reconciler import server_piece
from steward.multigres.controllers.cluster.deletion import ClusterRemoval
from steward.multigres.controllers.cluster.external_refs import References
from steward.multigres.controllers.cluster.template_updates import (
    recorded,
    settled,
    update_condition,
    update_status,
)
from steward.multigres.controllers.common.child_triggers import PODS, owned
from steward.multigres.controllers.common.context import ControllerContext, delete_surplus, stall_of
from steward.multigres.controllers.common.resolution import Resolution, Wanted, concerns
from steward.multigres.deletion.annotations import STEERING, held
from steward.multigres.objects import children, gateway, multiadmin, secrets
from steward.multigres.objects.metadata import CLUSTER, COMPONENT, Owner
from steward.multigres.resolution import defaults
from steward.multigres.resolution.external_refs import missing_piece, reference_conditions
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import (
    TOPOLOGY_REGISTERED,
    Piece,
    Report,
    Stall,
    assess,
    child_piece,
    common_status,
    read_conditions,
    serves,
    unregistered,
    workload_piece,
)
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.multigres.views import ClusterView, PodView, TemplateView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import chosen, own_object
from steward.runtime.controller.triggers import For, Owns, Watches
from steward.runtime.controller.workqueue import Lane
from steward.runtime.observability import tracing
from steward.runtime.plan.steps import Create, Plan
from steward.runtime.reconcile import DONE, Result

ADMIN_PODS = "admin"


class ClusterReconciler:
    def __init__(self, context: ControllerContext, removal: ClusterRemoval) -> None:
        rules = context.rules
        self.context = context
        self.removal = removal
        self.clusters = context.store(rules.cluster)
        self.resolution = Resolution(context)
        self.references = References(context)
        self.servers = context.store(rules.topo_server)
        self.cells = context.store(rules.cell)
        self.groups = context.store(rules.table_group)
        self.deployments = context.store(rules.deployment)
        self.secrets = context.store(rules.secret)
        self.pods = context.store(rules.pod)
        self.pods.add_index(ADMIN_PODS, lambda pod: [str(key) for key in _admin_cluster_of(pod)])
        self.kept = (
            rules.topo_server,
            rules.cell,
            rules.table_group,
            rules.deployment,
            rules.service,
            rules.secret,
        )
        for rule in self.kept:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "multigrescluster",
            self,
            (
                For(rules.cluster, when=own_object(*STEERING, APPLY_NOW, ROLL_BACK)),
                *owned(self.kept),
                Owns(rules.revision),
                self._follows(rules.core_template),
                self._follows(rules.cell_template),
                self._follows(rules.shard_template),
                Watches(rules.pod, to=_admin_cluster_of, patience=PODS),
                Watches(rules.storage_class, to=self._unready, lane=Lane.SLOW),
            ),
            bridge=tracing.Bridge(),
            channel=self.context.remarks.channel(KIND),
        )

    def _follows(self, rule: CacheRule[TemplateView]) -> Watches[TemplateView]:
        """A template may serve hundreds of clusters: they take the slow lane, and its finalizers wake none of them."""
        kind = rule.kind.kind

        def clusters(template: TemplateView) -> list[Key]:
            beside = self.clusters.list(template.metadata.namespace)
            return [key_of(cluster) for cluster in beside if concerns(cluster, kind, template)]

        when = chosen(lambda seen: (seen.metadata.generation, seen.metadata.deletion_timestamp))
        return Watches(rule, to=clusters, when=when, lane=Lane.SLOW)

    def _unready(self, _: HasMetadata) -> list[Key]:
        """A storage class that comes may be what they wait for; one that goes is noticed by those who need it anew."""
        waiting = (each for each in self.clusters.list() if given(each.status.phase, "") != "Healthy")
        return [key_of(cluster) for cluster in waiting]

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None:
            return DONE
        if cluster.metadata.deletion_timestamp is not None:
            return await self.removal.farewell.execute(await self.removal.leave(cluster), Ref(KIND, key))
        wanted = self.resolution.of(cluster)
        if wanted.resolved is None:
            return await self._report(cluster, (), wanted, wanted.stall)
        await self._record(cluster, wanted)
        wanted = wanted._replace(missing=await self.references.missing(cluster, wanted.spec, wanted.resolved))
        desired = await self._desired(cluster, wanted)
        stall = stall_of(await self.context.strangers(desired))
        wanted = wanted._replace(going=tuple(self.context.going(desired)))
        cluster = await self._first_word(cluster, wanted, stall)
        kept = () if stall else self._keep(cluster, desired)
        return await self._report(cluster, kept, wanted, stall)

    async def _first_word(self, cluster: ClusterView, wanted: Wanted, stall: Stall | None) -> ClusterView:
        """Whoever has just applied a cluster looks at it now, and among many it takes a while to make its parts."""
        if given(cluster.status.observed_generation, 0):
            return cluster
        ref = Ref(KIND, key_of(cluster))
        told = self.context.report(ref, cluster, self._status(cluster, wanted, stall))
        await self.context.executor.execute(told, ref)
        return self.clusters.get(ref.key) or cluster

    async def _record(self, cluster: ClusterView, wanted: Wanted) -> None:
        """Before anything is built on it: who takes over after a crash must find the content that is in force."""
        if wanted.decision is not None and wanted.decision.records:
            plan = recorded(_owner(cluster), wanted.decision)
            await self.context.executor.execute(plan, Ref(KIND, key_of(cluster)))

    async def _desired(self, cluster: ClusterView, wanted: Wanted) -> list[Manifest]:
        owner, spec, resolved = _owner(cluster), wanted.spec, wanted.resolved
        assert resolved is not None
        tree = self.context.drafts.of(
            Ref(KIND, key_of(cluster)), (owner, spec, resolved), lambda: _tree(owner, spec, resolved)
        )
        return [*tree, *await self._connection(owner, spec)]

    async def _connection(self, owner: Owner, spec: MultigresClusterSpec) -> list[Manifest]:
        """What an application mounts: there as soon as the password is."""
        password = await self.references.password(owner.namespace, owner.name, spec)
        return [] if password is None else [secrets.connection_secret(owner, password)]

    def _keep(self, cluster: ClusterView, desired: list[Manifest]) -> Plan:
        """Cells leave before the shards hear that they are to leave the cell: gateways go first."""
        meta = cluster.metadata
        first = (*held(Ref(KIND, Key(meta.namespace, meta.name)), meta), *self._first_password(cluster))
        surplus = self.context.surplus(meta, desired, self.kept)
        cells = [delete_surplus(each) for each in surplus if each.ref.kind == CELL]
        others = [delete_surplus(each) for each in surplus if each.ref.kind != CELL]
        return (*first, *cells, *self.context.put(desired), *others)

    def _first_password(self, cluster: ClusterView) -> Plan:
        key = Key(cluster.metadata.namespace, names.password_secret(cluster.metadata.name))
        if "postgresPasswordSecretRef" in cluster.spec or self.secrets.get(key) is not None:
            return ()
        return (Create(secrets.password_secret(_owner(cluster), randomness.token_urlsafe(24))),)

    async def _report(self, cluster: ClusterView, kept: Plan, wanted: Wanted, stall: Stall | None) -> Result:
        ref = Ref(KIND, key_of(cluster))
        await self.context.executor.execute(kept, ref)
        # After it: what was just applied is in the caches, and no status calls a child ready that has yet to change.
        told = self.context.report(ref, cluster, self._status(cluster, wanted, stall))
        updated = (
            () if wanted.decision is None else settled(cluster, wanted.decision, self.context.clock.now())
        )
        again = () if wanted.resolved is None else self.references.look_again(wanted.spec, wanted.resolved)
        return (await self.context.executor.execute((*updated, *told, *again), ref)).result

    def _status(self, cluster: ClusterView, wanted: Wanted, stall: Stall | None) -> Manifest:
        report = Report(cluster.metadata, cluster.status.conditions, self.context.now())
        decision = wanted.decision
        more = () if decision is None else (update_condition(decision, cluster.metadata.generation),)
        if wanted.resolved is None or decision is None:
            before = msgspec.to_builtins(cluster.status)
            # Nothing was touched: what served before still does.
            health = assess([], stall)._replace(is_available=serves(cluster.status.conditions))
            return {**before, **common_status(report, health, more)}
        resolved = wanted.resolved
        more = (*more, *reference_conditions(resolved, wanted.missing, cluster.metadata.generation))
        more = (*more, *_not_yet_registered(cluster, resolved))
        pieces = [*wanted.going, *self._pieces(cluster, resolved), *missing_piece(wanted.missing)]
        name = cluster.metadata.name
        return {
            **common_status(report, assess(pieces, stall), more),
            **update_status(decision),
            "cells": self._cell_summaries(cluster, resolved),
            "databases": self._database_summaries(cluster, resolved),
            "resolvedTemplates": _templates(resolved),
            "gatewayServiceName": names.cluster_gateway(name),
            "endpoint": f"{names.cluster_gateway(name)}.{cluster.metadata.namespace}.svc:{gateway.POSTGRES.number}",
            "connectionSecret": names.connection_secret(name),
            **_topo_services(name, resolved),
        }

    def _pieces(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[Piece]:
        return [
            *self._server_pieces(cluster, resolved),
            *(self._cell_piece(cluster, cell.name) for cell in resolved.cells),
            *(
                self._group_piece(cluster, group.database, group.name)
                for database in resolved.databases
                for group in database.groups
            ),
            *self._admin_pieces(cluster, resolved),
        ]

    def _server_pieces(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[Piece]:
        if resolved.topo.etcd is None:
            return []
        name = names.global_topo(cluster.metadata.name)
        return [server_piece(name, self.servers.get(Key(cluster.metadata.namespace, name)))]

    def _cell_piece(self, cluster: ClusterView, cell: str) -> Piece:
        seen = self.cells.get(Key(cluster.metadata.namespace, names.cell(cluster.metadata.name, cell)))
        if seen is None:
            return child_piece(f"cell {cell}", None, [], 0)
        return child_piece(
            f"cell {cell}", seen.metadata, seen.status.conditions, seen.status.observed_generation
        )

    def _group_piece(self, cluster: ClusterView, database: str, group: str) -> Piece:
        name = names.table_group(cluster.metadata.name, database, group)
        seen = self.groups.get(Key(cluster.metadata.namespace, name))
        what = f"table group {database}/{group}"
        if seen is None:
            return child_piece(what, None, [], 0)
        return child_piece(what, seen.metadata, seen.status.conditions, seen.status.observed_generation)

    def _admin_pieces(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[Piece]:
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        look = self.context.look(self.pods.by_index(ADMIN_PODS, str(Key(namespace, name))))
        shapes = {
            names.multiadmin(name): resolved.multiadmin,
            names.multiadmin_web(name): resolved.multiadmin_web,
        }
        return [
            workload_piece(known, given(shape.replicas, 1), self.deployments.get(Key(namespace, known)), look)
            for known, shape in shapes.items()
        ]

    def _cell_summaries(self, cluster: ClusterView, resolved: ResolvedCluster) -> dict[str, Any]:
        summaries = {}
        for cell in resolved.cells:
            seen = self.cells.get(
                Key(cluster.metadata.namespace, names.cell(cluster.metadata.name, cell.name))
            )
            ready = 0 if seen is None else given(seen.status.gateway_ready_replicas, 0)
            piece = self._cell_piece(cluster, cell.name)
            summaries[cell.name] = {"ready": piece.is_ready, "gatewayReplicas": ready}
        return summaries

    def _database_summaries(self, cluster: ClusterView, resolved: ResolvedCluster) -> dict[str, Any]:
        summaries = {}
        for database in resolved.databases:
            total = sum(len(group.shards) for group in database.groups)
            ready = sum(self._ready_shards(cluster, group.database, group.name) for group in database.groups)
            summaries[database.name] = {"readyShards": ready, "totalShards": total}
        return summaries

    def _ready_shards(self, cluster: ClusterView, database: str, group: str) -> int:
        name = names.table_group(cluster.metadata.name, database, group)
        seen = self.groups.get(Key(cluster.metadata.namespace, name))
        # What speaks of an older generation counts for nothing.
        if seen is None or given(seen.status.observed_generation, 0) < seen.metadata.generation:
            return 0
        return int(given(seen.status.ready_shards, 0))


def _tree(owner: Owner, spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[Manifest]:
    """All that follows from the spec alone."""
    server = children.global_topo_server(owner, resolved)
    external = None if spec.external_gateway is UNSET else spec.external_gateway
    levels = given(spec.log_levels, defaults.LOG_LEVELS)
    return [
        *([] if server is None else [server]),
        *children.cells(owner, resolved, spec),
        *children.table_groups(owner, resolved, spec),
        *multiadmin.multiadmin_objects(owner, resolved, levels, spec.observability),
        *multiadmin.web_objects(owner, resolved),
        gateway.cluster_service(owner, external),
    ]


def _owner(cluster: ClusterView) -> Owner:
    meta = cluster.metadata
    return Owner("MultigresCluster", meta.namespace, meta.name, meta.uid)


def _templates(resolved: ResolvedCluster) -> dict[str, list[str]]:
    used = resolved.templates
    return {
        "coreTemplates": list(used["CoreTemplate"]),
        "cellTemplates": list(used["CellTemplate"]),
        "shardTemplates": list(used["ShardTemplate"]),
    }


def _topo_services(cluster: str, resolved: ResolvedCluster) -> dict[str, str]:
    if resolved.topo.etcd is None:
        return {}
    name = names.global_topo(cluster)
    return {"clientService": name, "peerService": names.headless(name)}


def _not_yet_registered(cluster: ClusterView, resolved: ResolvedCluster) -> tuple[Condition, ...]:
    """In the first word already: said a little later, it would be a status more."""
    known = find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)
    if known is not None or resolved.topo.etcd is None:
        return ()
    waiting = unregistered(names.global_topo(cluster.metadata.name))
    return (replace(waiting, observed_generation=cluster.metadata.generation),)


def _admin_cluster_of(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    if labels.get(COMPONENT) not in (multiadmin.COMPONENT, multiadmin.WEB_COMPONENT):
        return []
    return [Key(pod.metadata.namespace, labels.get(CLUSTER, ""))]
