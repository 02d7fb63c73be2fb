"""MultigresCluster: resolves the spec, manages its children and reports the health of the whole cluster.

A spec that cannot be resolved changes nothing: everything that runs stays as it is, and the status names the field to
correct.
"""

import msgspec

from steward.kube.cache.rules import CacheRule
from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import SECRET, Key, Manifest, Ref
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import generation_of_status, or_default
from steward.multigres.cache_rules import CELL
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.cluster import client_tls, operator_updates
from steward.multigres.controllers.cluster.admin_pods import admin_cluster_of
from steward.multigres.controllers.cluster.components import ClusterComponents
from steward.multigres.controllers.cluster.deletion import ClusterDeletion
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.cluster.gateway_pods import GatewayPods
from steward.multigres.controllers.cluster.hibernation import Hibernation
from steward.multigres.controllers.cluster.name_fields import name_fields
from steward.multigres.controllers.cluster.operator_updates import OperatorUpdates, frees_slot
from steward.multigres.controllers.cluster.password_rotation import PasswordRotation, cluster_of_password
from steward.multigres.controllers.cluster.pod_scheduling import PodScheduling
from steward.multigres.controllers.cluster.registration_state import (
    not_yet_registered,
    was_never_registered,
)
from steward.multigres.controllers.cluster.restore import RestoreGuard, restore_conditions, restore_requeue
from steward.multigres.controllers.cluster.role_accounts import RoleAccountReader, missing_passwords
from steward.multigres.controllers.cluster.start_state import is_new, is_waiting_to_start
from steward.multigres.controllers.cluster.summaries import (
    ClusterSummaries,
    retained_claim_triggers,
)
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
from steward.multigres.controllers.postgres_access.role_states import RoleStates
from steward.multigres.deletion.annotations import DELETION_ANNOTATIONS
from steward.multigres.deletion.topology_mark import finalizer_steps
from steward.multigres.objects import secrets
from steward.multigres.objects.accounts import account_secrets
from steward.multigres.objects.built_in_images import images_in_use
from steward.multigres.objects.metadata import CLUSTER_LABEL, Owner
from steward.multigres.objects.operator_telemetry import with_telemetry
from steward.multigres.objects.tree import cluster_objects
from steward.multigres.resolution.gateway_tls import made_secrets
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import (
    Stall,
    StatusContext,
    assess_health,
    common_status,
    was_available,
)
from steward.multigres.status.events import condition_events
from steward.multigres.status.hibernation import hibernation_health
from steward.multigres.status.pause import pause_conditions, with_paused_phase
from steward.multigres.status.references import missing_component, reference_conditions
from steward.multigres.status.roles import role_components
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.multigres.views import ClusterView, TemplateView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import any_change, own_object, selected_fields
from steward.runtime.controller.start_limit import RETRY_SECONDS
from steward.runtime.controller.triggers import For, Owns, Watches
from steward.runtime.observability import tracing
from steward.runtime.plan.executor import PlanResult, StepEffect
from steward.runtime.plan.steps import Create, Plan
from steward.runtime.reconcile import DONE, Lane, RequeueAfter, Result


class ClusterReconciler:
    """Executes up to five plans, each of which depends on the result of the one before:

    1. the template revisions in use, before anything is built from them: after a crash the next process must find them;
    2. the condition of a cluster that starts to move to newer pods (`operator_updates`), for the same reason;
    3. the initial status of a new cluster, before its children: users watch a new cluster at once, and creating many
       clusters takes a while, because a few are started at a time (`runtime/controller/start_limit.py`);
    4. the children;
    5. template update steps and the status. The caches hold the result of the fourth plan by then, so that the status
       never reports a child as ready that the plan has just changed.
    """

    def __init__(
        self,
        context: MultigresContext,
        deletion: ClusterDeletion,
        updates: OperatorUpdates,
        roles: RoleStates,
    ) -> None:
        rules = context.rules
        self.context = context
        self.deletion = deletion
        self.updates = updates
        self.clusters = context.store(rules.cluster)
        self.resolver = SpecResolver(context)
        self.references = ExternalReferences(context)
        self.passwords = PasswordRotation(context, self.references)
        self.accounts = RoleAccountReader(roles, self.references)
        self.hibernation = Hibernation(context)
        self.restores = RestoreGuard(context)
        self.summaries = ClusterSummaries(context)
        self.components = ClusterComponents(context)
        self.secrets = context.store(rules.secret)
        self.gateways = GatewayPods(context)
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
        pods = context.store(rules.pod)
        pods.add_label_index(CLUSTER_LABEL)
        pods.subscribe(PodScheduling(context.store_of, context.starts).observe_pod)

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
                Watches(rules.pod, to=admin_cluster_of, debounce=PODS),
                self.gateways.trigger(),
                self.hibernation.trigger(),
                # The password Secret outlives the cluster, so it has no owner.
                Watches(rules.secret, to=cluster_of_password, when=any_change),
                Watches(rules.secret, to=client_tls.cluster_of_certificate, when=any_change),
                Watches(rules.cluster, to=self.updates.waiting, when=frees_slot, lane=Lane.SLOW),
                Watches(rules.storage_class, to=self._unhealthy, lane=Lane.SLOW),
                *retained_claim_triggers(rules),
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
            self.updates.forget(key)
            return DONE
        if cluster.metadata.deletion_timestamp is not None:
            self.updates.forget(key)
            plan = await self.deletion.plan_deletion(cluster)
            return await self.deletion.graceful_deletion.execute(plan, Ref(KIND, key))
        if is_waiting_to_start(cluster) and self.context.starts.is_closed(key):
            return RequeueAfter(RETRY_SECONDS)
        with tracing.span("MultigresCluster.PopulateDefaults"):
            spec = await self.resolver.resolve(cluster, self.updates.active_version(cluster))
        if spec.resolved is None:
            return await self._apply_and_report(cluster, (), spec, spec.stall)
        resolved = self.hibernation.apply(cluster, spec.spec, spec.resolved)
        spec = spec._replace(resolved=resolved)
        await self._record_revisions(cluster, spec)
        cluster, spec = await self._decide_version(cluster, spec)
        spec = await self._read_accounts(cluster, spec, resolved)
        desired = await self._desired(cluster, spec)
        stall = foreign_stall(await self.context.foreign_objects.find(desired))
        stall = stall or await self.restores.stall(cluster, spec.spec, resolved)
        spec = spec._replace(terminating=tuple(self.context.children.terminating(desired)))
        cluster = await self._write_initial_status(cluster, spec, stall)
        if not stall and is_new(cluster) and not self.context.starts.start(key):
            return RequeueAfter(RETRY_SECONDS)
        password = await self._create_password(cluster)
        plan = () if stall else self._plan(cluster, password, desired, spec.spec)
        result = await self._apply_and_report(cluster, plan, spec, stall)
        if not stall:
            self.accounts.request(cluster, spec.password.value, spec.accounts)
        return result

    async def _read_accounts(
        self, cluster: ClusterView, spec: ResolvedSpec, resolved: ResolvedCluster
    ) -> ResolvedSpec:
        accounts = await self.accounts.read(cluster, spec.spec, resolved)
        missing = await self.references.missing(cluster, spec.spec, resolved)
        password = await self.passwords.decide(cluster, spec.spec)
        missing = (*missing, *missing_passwords(accounts))
        return spec._replace(missing=missing, password=password, accounts=accounts)

    async def _decide_version(
        self, cluster: ClusterView, spec: ResolvedSpec
    ) -> tuple[ClusterView, ResolvedSpec]:
        resolved = spec.resolved
        if resolved is None or not self.updates.is_due(cluster):
            self.updates.forget(key_of(cluster))
            return cluster, spec
        is_ready = all(component.is_ready for component in self.components.find(cluster, resolved))
        spec = spec._replace(objects=self.updates.decide(cluster, spec, is_ready))
        return await self.updates.start(cluster, spec), spec

    async def _write_initial_status(
        self, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None
    ) -> ClusterView:
        """Returns the cluster with its initial status; the cluster itself if it has a status already."""
        if generation_of_status(cluster.status.observed_generation):
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
        version = spec.objects.version
        tls = await client_tls.read_client_tls(self.references, cluster, spec.spec)
        written = with_telemetry(spec.spec, version, self.context.telemetry)
        ref, inputs = Ref(KIND, key_of(cluster)), (owner, written, resolved, version)
        tree = await beside_the_loop(
            spec.spec,
            lambda: self.context.manifests.get_or_build(ref, inputs, lambda: cluster_objects(*inputs)),
        )
        # Accounts first: Postgres may have a new password already, and until it is published no application knows it.
        return [
            *account_secrets(owner, spec.password.value, spec.accounts, tls),
            *self.gateways.select(cluster, tree),
        ]

    def _plan(
        self,
        cluster: ClusterView,
        password: Plan,
        desired: list[Manifest],
        spec: MultigresClusterSpec,
    ) -> Plan:
        """Cells are deleted before the table groups change: in a removed cell, gateways shut down before pools. The
        Secrets of certificates are those of another controller."""
        meta, made = cluster.metadata, made_secrets(cluster.metadata.name, spec)
        children = self.context.children.unwanted_children(meta, desired, self.child_rules)
        unwanted = [child for child in children if child.ref.kind != SECRET or child.ref.key.name not in made]
        cells = [child.delete_step() for child in unwanted if child.ref.kind == CELL]
        others = [child.delete_step() for child in unwanted if child.ref.kind != CELL]
        return (
            *finalizer_steps(Ref(KIND, key_of(cluster)), meta, is_new=was_never_registered(cluster)),
            *password,
            *cells,
            *self.context.children.apply_steps(desired),
            *others,
        )

    async def _create_password(self, cluster: ClusterView) -> Plan:
        key = Key(cluster.metadata.namespace, names.password_secret(cluster.metadata.name))
        if "postgresPasswordSecretRef" in cluster.spec or self.secrets.get(key) is not None:
            return ()
        password = await self.passwords.initial_password(cluster)
        return (Create(secrets.password_secret(_owner(cluster), password)),)

    async def _restore_labels(self, applied: PlanResult) -> None:
        """The password Secret existed although the cache does not hold it: it has lost its label. A Secret that a user
        created under this name is used, and stays the user's."""
        for step, effect, _ in applied.steps:
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
        operator = operator_updates.report_steps(cluster, spec)
        notices = (
            *pause_conditions(cluster),
            *self._account_conditions(cluster, spec),
            *restore_conditions(cluster, spec.spec, stall),
        )
        events = condition_events(ref, cluster.status.conditions, notices)
        again = (*again, *spec.password.requeue_steps(), *restore_requeue(stall))
        steps = (*updates, *report, *operator, *events, *again)
        return (await self.context.executor.execute(steps, ref)).result

    def _status(self, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None) -> Manifest:
        return with_paused_phase(self._health_status(cluster, spec, stall))

    def _health_status(self, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None) -> Manifest:
        meta, resolved, decision = cluster.metadata, spec.resolved, spec.decision
        context = StatusContext(meta, cluster.status.conditions, self.context.now())
        if resolved is None or decision is None:
            return self._unresolved_status(context, cluster, spec, stall)
        conditions = (
            update_condition(decision, meta.generation),
            *operator_updates.update_conditions(cluster, spec),
            *reference_conditions(resolved, spec.missing, meta.generation),
            *self.summaries.external_conditions(cluster, spec.spec),
            *not_yet_registered(cluster, resolved),
            *pause_conditions(cluster),
            *self._account_conditions(cluster, spec),
            *restore_conditions(cluster, spec.spec, stall),
        )
        components = [
            *spec.terminating,
            *self.components.find(cluster, resolved),
            *missing_component(spec.missing),
            *spec.password.components(),
            *role_components(self._role_conditions(cluster, spec)),
        ]
        health = hibernation_health(assess_health(components, stall), spec.spec.hibernation is True)
        common = client_tls.without_ended_condition(common_status(context, health, conditions), spec.spec)
        return {
            **operator_updates.without_ended_condition(common, spec),
            **update_status(decision),
            **self.summaries.fields(cluster, resolved),
            **name_fields(meta, resolved, spec.accounts),
            "images": images_in_use(spec.spec, resolved, spec.objects.version),
            "components": spec.components,
        }

    def _account_conditions(self, cluster: ClusterView, spec: ResolvedSpec) -> tuple[Condition, ...]:
        generation = cluster.metadata.generation
        return (*spec.password.conditions(generation), *self._role_conditions(cluster, spec))

    def _role_conditions(self, cluster: ClusterView, spec: ResolvedSpec) -> tuple[Condition, ...]:
        report = self.accounts.report(cluster, spec.accounts)
        return report.conditions(cluster.status.conditions, cluster.metadata.generation)

    def _unresolved_status(
        self, context: StatusContext, cluster: ClusterView, spec: ResolvedSpec, stall: Stall | None
    ) -> Manifest:
        """Nothing was changed: the previous fields stay, and so does Available."""
        decision = spec.decision
        updates = () if decision is None else (update_condition(decision, context.meta.generation),)
        conditions = (*updates, *pause_conditions(cluster))
        previous = msgspec.to_builtins(cluster.status)
        health = assess_health([], stall)._replace(is_available=was_available(cluster.status.conditions))
        return {**previous, **common_status(context, health, conditions)}


def _owner(cluster: ClusterView) -> Owner:
    meta = cluster.metadata
    return Owner("MultigresCluster", meta.namespace, meta.name, meta.uid)
