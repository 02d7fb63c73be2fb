"""MultigresCluster: resolves the spec, manages its children and reports the health of the whole cluster.

A spec that cannot be resolved changes nothing: everything that runs stays as it is, and the status names the field to
correct.
"""

import secrets as randomness
from typing import Any

import msgspec
from msgspec.structs import replace

from steward.kube.cache.rules import CacheRule
from steward.kube.objects.conditions import Condition, find_condition
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import CELL
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.cluster.deletion import ClusterDeletion
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.cluster.template_updates import (
    record_steps,
    update_condition,
    update_status,
    update_steps,
)
from steward.multigres.controllers.common.child_triggers import PODS, owned_triggers
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.foreign_objects import foreign_stall
from steward.multigres.controllers.common.resolution import (
    ResolvedSpec,
    SpecResolver,
    beside_the_loop,
    may_affect,
)
from steward.multigres.deletion.annotations import DELETION_ANNOTATIONS
from steward.multigres.deletion.topology_mark import finalizer_steps
from steward.multigres.objects import gateway, multiadmin, secrets
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL, Owner
from steward.multigres.objects.tree import cluster_objects
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import (
    TOPOLOGY_REGISTERED,
    ComponentStatus,
    Stall,
    StatusContext,
    assess_health,
    child_component,
    common_status,
    read_conditions,
    topo_server_component,
    topology_waiting_condition,
    was_available,
    workload_component,
)
from steward.multigres.status.references import missing_component, reference_conditions
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.multigres.views import CellView, ClusterView, PodView, TableGroupView, TemplateView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import own_object, selected_fields
from steward.runtime.controller.triggers import For, Owns, Watches
from steward.runtime.observability import tracing
from steward.runtime.plan.executor import PlanResult, StepEffect
from steward.runtime.plan.steps import Create, Plan
from steward.runtime.reconcile import DONE, Lane, Result

ADMIN_PODS = "admin"


class ClusterReconciler:
    """Executes up to four plans, each of which depends on the result of the one before:

    1. the template revisions in use, before anything is built from them: after a crash the next process must find them;
    2. the initial status of a new cluster, before its children: users watch a new cluster at once, and creating many
       clusters takes a while;
    3. the children;
    4. template update steps and the status. The caches hold the result of the third plan by then, so that the status
       never reports a child as ready that the plan has just changed.
    """

    def __init__(self, context: MultigresContext, deletion: ClusterDeletion) -> None:
        rules = context.rules
        self.context = context
        self.deletion = deletion
        self.clusters = context.store(rules.cluster)
        self.resolver = SpecResolver(context)
        self.references = ExternalReferences(context)
        self.servers = context.store(rules.topo_server)
        self.cells = context.store(rules.cell)
        self.groups = context.store(rules.table_group)
        self.deployments = context.store(rules.deployment)
        self.secrets = context.store(rules.secret)
        self.pods = context.store(rules.pod)
        self.pods.add_index(ADMIN_PODS, lambda pod: [str(key) for key in _admin_cluster_of(pod)])
        self.child_rules = (
            rules.topo_server,
            rules.cell,
            rules.table_group,
            rules.deployment,
            rules.service,
            rules.secret,
        )
        for rule in self.child_rules:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "multigrescluster",
            self,
            (
                For(rules.cluster, when=own_object(*DELETION_ANNOTATIONS, APPLY_NOW, ROLL_BACK)),
                *owned_triggers(self.child_rules),
                Owns(rules.revision),
                self._watch_templates(rules.core_template),
                self._watch_templates(rules.cell_template),
                self._watch_templates(rules.shard_template),
                Watches(rules.pod, to=_admin_cluster_of, debounce=PODS),
                Watches(rules.storage_class, to=self._unhealthy, lane=Lane.SLOW),
            ),
            trace_annotations=tracing.TraceAnnotations(),
            channel=self.context.contributions.channel(KIND),
        )

    def _watch_templates(self, rule: CacheRule[TemplateView]) -> Watches[TemplateView]:
        """Hundreds of clusters may use one template: they take the slow lane, and its finalizers trigger none."""
        kind = rule.kind.kind

        def clusters(template: TemplateView) -> list[Key]:
            candidates = self.clusters.list(template.metadata.namespace)
            return [key_of(cluster) for cluster in candidates if may_affect(cluster, kind, template)]

        when = selected_fields(lambda live: (live.metadata.generation, live.metadata.deletion_timestamp))
        return Watches(rule, to=clusters, when=when, lane=Lane.SLOW)

    def _unhealthy(self, _: HasMetadata) -> list[Key]:
        """Clusters that may wait for a new StorageClass; a deleted one matters only to clusters that use it later."""
        clusters = self.clusters.list()
        return [key_of(live) for live in clusters if or_default(live.status.phase, "") != "Healthy"]

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None:
            return DONE
        if cluster.metadata.deletion_timestamp is not None:
            plan = await self.deletion.plan_deletion(cluster)
            return await self.deletion.graceful_deletion.execute(plan, Ref(KIND, key))
        spec = await self.resolver.resolve(cluster)
        if spec.resolved is None:
            return await self._apply_and_report(cluster, (), spec, spec.stall)
        await self._record_revisions(cluster, spec)
        spec = spec._replace(missing=await self.references.missing(cluster, spec.spec, spec.resolved))
        desired = await self._desired(cluster, spec)
        stall = foreign_stall(await self.context.foreign_objects.find(desired))
        spec = spec._replace(terminating=tuple(self.context.children.terminating(desired)))
        cluster = await self._write_initial_status(cluster, spec, stall)
        plan = () if stall else self._plan(cluster, desired)
        return await self._apply_and_report(cluster, plan, spec, stall)

    async def _write_initial_status(
        self, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None
    ) -> ClusterView:
        """Returns the cluster with its initial status; the cluster itself if it has a status already."""
        if or_default(cluster.status.observed_generation, 0):
            return cluster
        ref = Ref(KIND, key_of(cluster))
        report = self.context.reporter.report(ref, cluster, self._status(cluster, spec, stall))
        await self.context.executor.execute(report, ref)
        return self.clusters.get(ref.key) or cluster

    async def _record_revisions(self, cluster: ClusterView, spec: ResolvedSpec) -> None:
        if spec.decision is not None and spec.decision.records:
            plan = record_steps(_owner(cluster), spec.decision)
            await self.context.executor.execute(plan, Ref(KIND, key_of(cluster)))

    async def _desired(self, cluster: ClusterView, spec: ResolvedSpec) -> list[Manifest]:
        owner, resolved = _owner(cluster), spec.resolved
        assert resolved is not None
        ref, inputs = Ref(KIND, key_of(cluster)), (owner, spec.spec, resolved)
        tree = await beside_the_loop(
            spec.spec,
            lambda: self.context.manifests.get_or_build(ref, inputs, lambda: cluster_objects(*inputs)),
        )
        return [*tree, *await self._connection_secret(owner, spec.spec)]

    async def _connection_secret(self, owner: Owner, spec: MultigresClusterSpec) -> list[Manifest]:
        """The Secret that applications mount; it needs the password."""
        password = await self.references.password(owner.namespace, owner.name, spec)
        return [] if password is None else [secrets.connection_secret(owner, password)]

    def _plan(self, cluster: ClusterView, desired: list[Manifest]) -> Plan:
        """Cells are deleted before the table groups change: in a removed cell, gateways shut down before pools."""
        meta = cluster.metadata
        unwanted = self.context.children.unwanted_children(meta, desired, self.child_rules)
        cells = [child.delete_step() for child in unwanted if child.ref.kind == CELL]
        others = [child.delete_step() for child in unwanted if child.ref.kind != CELL]
        return (
            *finalizer_steps(Ref(KIND, key_of(cluster)), meta, is_new=_was_never_registered(cluster)),
            *self._create_password(cluster),
            *cells,
            *self.context.children.apply_steps(desired),
            *others,
        )

    def _create_password(self, cluster: ClusterView) -> Plan:
        key = Key(cluster.metadata.namespace, names.password_secret(cluster.metadata.name))
        if "postgresPasswordSecretRef" in cluster.spec or self.secrets.get(key) is not None:
            return ()
        return (Create(secrets.password_secret(_owner(cluster), randomness.token_urlsafe(24))),)

    async def _restore_labels(self, applied: PlanResult) -> None:
        """The password Secret existed although the cache does not hold it: it has lost its label. A Secret that a user
        created under this name is used, and stays the user's."""
        for step, effect in applied.steps:
            if isinstance(step, Create) and effect is StepEffect.UNCHANGED:
                await self.context.foreign_objects.restore_label(step.manifest)

    async def _apply_and_report(
        self, cluster: ClusterView, plan: Plan, spec: ResolvedSpec, stall: Stall | None
    ) -> Result:
        ref = Ref(KIND, key_of(cluster))
        await self._restore_labels(await self.context.executor.execute(plan, ref))
        report = self.context.reporter.report(ref, cluster, self._status(cluster, spec, stall))
        now = self.context.clock.now()
        updates = () if spec.decision is None else update_steps(cluster, spec.decision, now)
        again = () if spec.resolved is None else self.references.requeue_steps(spec.spec, spec.resolved)
        return (await self.context.executor.execute((*updates, *report, *again), ref)).result

    def _status(self, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None) -> Manifest:
        meta, resolved, decision = cluster.metadata, spec.resolved, spec.decision
        context = StatusContext(meta, cluster.status.conditions, self.context.now())
        if resolved is None or decision is None:
            return self._unresolved_status(context, cluster, spec, stall)
        conditions = (
            update_condition(decision, meta.generation),
            *reference_conditions(resolved, spec.missing, meta.generation),
            *_not_yet_registered(cluster, resolved),
        )
        components = [
            *spec.terminating,
            *self._components(cluster, resolved),
            *missing_component(spec.missing),
        ]
        service = names.cluster_gateway(meta.name)
        return {
            **common_status(context, assess_health(components, stall), conditions),
            **update_status(decision),
            "cells": self._cell_summaries(cluster, resolved),
            "databases": self._database_summaries(cluster, resolved),
            "resolvedTemplates": _templates(resolved),
            "gatewayServiceName": service,
            "endpoint": f"{service}.{meta.namespace}.svc:{gateway.POSTGRES.number}",
            "connectionSecret": names.connection_secret(meta.name),
            **_topo_services(meta.name, resolved),
            "components": spec.components,
        }

    def _unresolved_status(
        self, context: StatusContext, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None
    ) -> Manifest:
        """Nothing was changed: the previous fields stay, and so does Available."""
        decision = spec.decision
        conditions = () if decision is None else (update_condition(decision, context.meta.generation),)
        previous = msgspec.to_builtins(cluster.status)
        health = assess_health([], stall)._replace(is_available=was_available(cluster.status.conditions))
        return {**previous, **common_status(context, health, conditions)}

    def _components(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        return [
            *self._server_components(cluster, resolved),
            *(self._cell_component(cluster, cell.name) for cell in resolved.cells),
            *(
                self._group_component(cluster, group.database, group.name)
                for database in resolved.databases
                for group in database.groups
            ),
            *self._admin_components(cluster, resolved),
        ]

    def _server_components(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        if resolved.topo.etcd is None:
            return []
        name = names.global_topo(cluster.metadata.name)
        return [topo_server_component(name, self.servers.get(Key(cluster.metadata.namespace, name)))]

    def _cell_component(self, cluster: ClusterView, cell: str) -> ComponentStatus:
        live = self.cells.get(Key(cluster.metadata.namespace, names.cell(cluster.metadata.name, cell)))
        return _child_component(f"cell {cell}", live)

    def _group_component(self, cluster: ClusterView, database: str, group: str) -> ComponentStatus:
        name = names.table_group(cluster.metadata.name, database, group)
        live = self.groups.get(Key(cluster.metadata.namespace, name))
        return _child_component(f"table group {database}/{group}", live)

    def _admin_components(self, cluster: ClusterView, resolved: ResolvedCluster) -> list[ComponentStatus]:
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        pods = self.pods.by_index(ADMIN_PODS, str(Key(namespace, name)))
        problems = self.context.pod_problems.find(pods)
        specs = {
            names.multiadmin(name): resolved.multiadmin,
            names.multiadmin_web(name): resolved.multiadmin_web,
        }
        return [
            workload_component(
                deployment,
                or_default(spec.replicas, 1),
                self.deployments.get(Key(namespace, deployment)),
                problems,
            )
            for deployment, spec in specs.items()
        ]

    def _cell_summaries(self, cluster: ClusterView, resolved: ResolvedCluster) -> dict[str, Any]:
        summaries = {}
        for cell in resolved.cells:
            live = self.cells.get(
                Key(cluster.metadata.namespace, names.cell(cluster.metadata.name, cell.name))
            )
            ready = 0 if live is None else or_default(live.status.gateway_ready_replicas, 0)
            component = self._cell_component(cluster, cell.name)
            summaries[cell.name] = {"ready": component.is_ready, "gatewayReplicas": ready}
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
        live = self.groups.get(Key(cluster.metadata.namespace, name))
        # A status of an older generation does not count.
        if live is None or or_default(live.status.observed_generation, 0) < live.metadata.generation:
            return 0
        return int(or_default(live.status.ready_shards, 0))


def _child_component(name: str, live: CellView | TableGroupView | None) -> ComponentStatus:
    if live is None:
        return child_component(name, None, [], 0)
    return child_component(name, live.metadata, live.status.conditions, live.status.observed_generation)


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
    """Includes TopologyRegistered=False in the initial status, to save a second status write."""
    registered = find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)
    if registered is not None or resolved.topo.etcd is None:
        return ()
    waiting = topology_waiting_condition(names.global_topo(cluster.metadata.name))
    return (replace(waiting, observed_generation=cluster.metadata.generation),)


def _was_never_registered(cluster: ClusterView) -> bool:
    """With an external topology server. A cluster whose server the operator runs has the condition from its initial
    status on: its records end with the server, and nothing waits for them."""
    return find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED) is None


def _admin_cluster_of(pod: PodView) -> list[Key]:
    labels = pod.metadata.labels
    if labels.get(COMPONENT_LABEL) not in (multiadmin.COMPONENT, multiadmin.WEB_COMPONENT):
        return []
    return [Key(pod.metadata.namespace, labels.get(CLUSTER_LABEL, ""))]
