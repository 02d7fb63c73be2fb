"""Shard: manages orchestrators, pools and the objects that they share, and reports whether they serve."""

from typing import NamedTuple

from msgspec import UNSET

from steward.kube.cache.hashed_views import HashedData
from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.child_triggers import PODS, owned_triggers
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.foreign_objects import foreign_stall
from steward.multigres.controllers.common.volumes import VolumeInputs, VolumePlan, VolumePlanner
from steward.multigres.controllers.connection_counts import ConnectionCounts
from steward.multigres.controllers.postgres_access.volume_growth import Growths, VolumeGrowth
from steward.multigres.controllers.shard.deletion import ShardDeletion, WorkloadRemoval
from steward.multigres.controllers.shard.needed_settings import ServerVolumes
from steward.multigres.controllers.shard.ownerless_servers import shard_of
from steward.multigres.controllers.shard.pod_rollout import PodRollout, RolloutPlanner
from steward.multigres.controllers.shard.postgres_config import (
    NO_CONFIG,
    PostgresConfigs,
    config_components,
    config_conditions,
    config_steps,
)
from steward.multigres.controllers.shard.server_pods import RemovedPools
from steward.multigres.controllers.shard.server_states import ServerStates
from steward.multigres.controllers.shard.volume_growth import (
    filling_components,
    filling_conditions,
    with_growth,
)
from steward.multigres.deletion.annotations import DELETION_ANNOTATIONS
from steward.multigres.objects import orchestrator, pool
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    FINALIZER,
    GO_FINALIZERS,
)
from steward.multigres.objects.repository import host
from steward.multigres.objects.repository.claims import repository_claim_names
from steward.multigres.objects.shard_inputs import (
    copies_postgres_config,
    requested_restarts,
    shard_inputs,
)
from steward.multigres.objects.tree import shard_objects
from steward.multigres.objects.versions import is_of_go_operator
from steward.multigres.rollout.claim_retention import GRACE
from steward.multigres.rollout.node_drain import SWITCH_FROM
from steward.multigres.rollout.postgres_settings import ConfigDecision
from steward.multigres.rollout.restarts import FORCE_ROLLOUT, UP_TO_DATE
from steward.multigres.status.conditions import (
    ComponentStatus,
    PodProblems,
    Stall,
    StatusContext,
    assess_health,
    certificates_component,
    common_status,
    settings_component,
    workload_component,
)
from steward.multigres.status.events import condition_events
from steward.multigres.status.servers import count_ready, with_availability
from steward.multigres.status.unmanaged_servers import unmanaged_servers_stall
from steward.multigres.views import ClaimView, ClusterView, PodView, ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import annotations, own_object, selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.plan.executor import WRITES, PlanResult
from steward.runtime.plan.finalizers import add_finalizer
from steward.runtime.plan.steps import Plan, step_target
from steward.runtime.reconcile import DONE, Result

SHARD_INDEX = "shard"
CONFIG_MAP_INDEX = "postgres config map"


class ShardChange(NamedTuple):
    """The changes in progress towards the desired state: rollout, volumes and removed workloads."""

    rollout: PodRollout
    volumes: VolumePlan
    removal: WorkloadRemoval = WorkloadRemoval()
    config: ConfigDecision = NO_CONFIG
    growths: Growths = ()

    def event_conditions(self, generation: int) -> list[Condition]:
        """The conditions whose transitions are reported as events."""
        return [
            self.volumes.condition(generation),
            *self.rollout.conditions(generation),
            *config_conditions(self.config, generation),
        ]

    def conditions(self, generation: int) -> list[Condition]:
        return [
            *self.event_conditions(generation),
            *self.removal.conditions,
            *filling_conditions(self.growths, generation),
        ]

    def components(self) -> list[ComponentStatus]:
        return [
            *self.volumes.components(),
            *self.rollout.components(),
            *config_components(self.config),
            *filling_components(self.growths),
        ]


class ShardReconciler:
    """Executes two plans: the children, then the status and at most one eviction. The result of the first decides about
    the eviction: after a change of a StatefulSet its controller must name the new revision before pods are replaced.
    The status follows the first plan, so that it never reports pods as ready that the plan has just changed. Volume
    expansions are executed while the first plan is made."""

    def __init__(
        self, context: MultigresContext, growth: VolumeGrowth, counts: ConnectionCounts | None = None
    ) -> None:
        rules = context.rules
        self.context = context
        self.growth = growth
        self.deletion = ShardDeletion(context, counts)
        self.shards = context.store(rules.shard)
        self.shards.add_index(CONFIG_MAP_INDEX, _referenced_config)
        self.deployments = context.store(rules.deployment)
        self.sets = context.store(rules.stateful_set)
        self.config_maps = context.store(rules.config_map)
        self.claims = context.store(rules.claim)
        self.claims.add_index(SHARD_INDEX, lambda claim: [str(key) for key in _shard_of(claim)])
        self.pods = context.store(rules.pod)
        self.pods.add_index(SHARD_INDEX, lambda pod: [str(key) for key in _shard_of(pod)])
        self.rollouts = RolloutPlanner(context)
        self.configs = PostgresConfigs(context)
        self.volumes = VolumePlanner(context)
        self.server_states = ServerStates(context)
        # Without Secrets: those of a shard are its certificates, which the certificates controller manages.
        self.child_rules = rules.shard_object_rules()
        for rule in self.child_rules:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        steering = annotations(GRACE, FORCE_ROLLOUT, *DELETION_ANNOTATIONS)
        return Controller(
            "shard",
            self,
            (
                For(rules.shard, when=own_object(GRACE, FORCE_ROLLOUT, SWITCH_FROM, *DELETION_ANNOTATIONS)),
                *owned_triggers(self.child_rules),
                Watches(rules.pod, to=_shard_of, debounce=PODS),
                Watches(rules.claim, to=_shard_of, debounce=PODS),
                Watches(rules.cluster, to=self._shards_of, when=steering),
                Watches(rules.config_map, to=self._users_of),
                Watches(
                    rules.shard,
                    to=lambda shard: [key_of(shard)],
                    when=selected_fields(_certificates, requested_restarts),
                ),
            ),
            depth=2,
            channel=self.context.contributions.channel(KIND),
        )

    def _users_of(self, config_map: HashedData) -> list[Key]:
        users = self.shards.by_index(CONFIG_MAP_INDEX, str(key_of(config_map)))
        return [key_of(shard) for shard in users]

    def _shards_of(self, cluster: ClusterView) -> list[Key]:
        meta = cluster.metadata
        shards = self.shards.list(meta.namespace)
        return [key_of(shard) for shard in shards if shard.metadata.labels.get(CLUSTER_LABEL) == meta.name]

    async def reconcile(self, key: Key) -> Result:
        shard, ref = self.shards.get(key), Ref(KIND, key)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            self.rollouts.forget(key)
            self.configs.forget(key)
            self.context.servers.forget(key)
            return DONE if shard is None else await self._delete(ref, shard)
        if is_of_go_operator(shard.metadata, shard.spec.objects_version):
            return DONE
        servers = [pod for pod in self._pods(ref) if _is_server(pod)]
        config = await self.configs.decide(shard, ServerVolumes(servers, self._claims(ref)))
        growths = self.growth.get(key)
        shard = with_growth(shard, self._claims(ref), growths)
        desired = self._desired(ref, shard, config)
        foreign = await self.context.foreign_objects.find(desired)
        stall = foreign_stall(foreign) or unmanaged_servers_stall(shard.metadata, servers)
        if stall:
            return await self._report_stall(ref, shard, desired, stall)
        change = (await self._plan_change(shard, desired))._replace(config=config, growths=growths)
        applied = await self.context.executor.execute(self._plan(ref, shard, change), ref)
        eviction = () if _has_changed_set(applied) else change.rollout.steps(ref)
        report = (*self._report(ref, shard, change), *eviction, *config_steps(config))
        reported = await self.context.executor.execute(report, ref)
        self.rollouts.record_forbidden(key, reported.forbidden)
        return PlanResult([*applied.steps, *reported.steps]).result

    async def _delete(self, ref: Ref, shard: ShardView) -> Result:
        plan = await self.deletion.plan_deletion(shard, self._pods(ref))
        return await self.deletion.graceful_deletion.execute(plan, ref)

    def _desired(self, ref: Ref, shard: ShardView, config: ConfigDecision) -> list[Manifest]:
        claims = repository_claim_names(claim.metadata for claim in self._claims(ref))
        inputs = shard_inputs(shard, self._config_digest(shard, config), config.text, claims)
        return self.context.manifests.get_or_build(ref, inputs, lambda: shard_objects(inputs))

    async def _report_stall(
        self, ref: Ref, shard: ShardView, desired: list[Manifest], stall: Stall
    ) -> Result:
        unchanged = ShardChange(PodRollout(desired, UP_TO_DATE), VolumePlan(desired))
        status = self._status(shard, unchanged, stall)
        report = self.context.reporter.report(ref, shard, status)
        return (await self.context.executor.execute(report, ref)).result

    async def _plan_change(self, shard: ShardView, desired: list[Manifest]) -> ShardChange:
        meta, pods = shard.metadata, self._pods(Ref(KIND, key_of(shard)))
        servers = [pod for pod in pods if _is_server(pod)]
        unwanted = self.context.children.unwanted_children(meta, desired, self.child_rules)
        ownerless = self.deletion.ownerless.undesired_pools(servers, map(ref_of, desired))
        removed = RemovedPools([each.live for each in unwanted if each.ref.kind == STATEFUL_SET], ownerless)
        rollout = self.rollouts.plan_rollout(shard, desired, servers, removed)
        removal = self.deletion.plan_removal(shard, unwanted, pods, rollout.held)
        inputs = VolumeInputs(meta, self._claims(Ref(KIND, key_of(shard))), servers)
        return ShardChange(rollout, await self.volumes.plan_volumes(rollout.desired, inputs), removal)

    def _plan(self, ref: Ref, shard: ShardView, change: ShardChange) -> Plan:
        desired = change.volumes.desired
        revived = self.deletion.revive_steps(map(ref_of, desired))
        applies = self.context.children.apply_steps(desired)
        removals = (*change.rollout.removal_steps, *change.removal.steps)
        children = change.volumes.wrap((*revived, *applies, *removals))
        return (*add_finalizer(ref, shard.metadata, FINALIZER, GO_FINALIZERS), *children)

    def _report(self, ref: Ref, shard: ShardView, change: ShardChange) -> Plan:
        report = self.context.reporter.report(ref, shard, self._status(shard, change, None))
        current = change.event_conditions(shard.metadata.generation)
        return (*report, *condition_events(ref, shard.status.conditions, current))

    def _pods(self, ref: Ref) -> list[PodView]:
        return self.pods.by_index(SHARD_INDEX, str(ref.key))

    def _claims(self, ref: Ref) -> list[ClaimView]:
        return self.claims.by_index(SHARD_INDEX, str(ref.key))

    def _config_digest(self, shard: ShardView, config: ConfigDecision) -> str:
        reference = shard.spec.postgres_config_ref
        if copies_postgres_config(shard.spec):
            return config.digest
        if reference is UNSET:
            return ""
        live = self.config_maps.get(Key(shard.metadata.namespace, reference.name))
        return "" if live is None else live.data_hash

    def _status(self, shard: ShardView, change: ShardChange, stall: Stall | None) -> Manifest:
        desired, ref = change.volumes.desired, Ref(KIND, key_of(shard))
        problems = self.context.pod_problems.find(self._pods(ref), self._claims(ref))
        orchestrators = self._workloads(desired, orchestrator.COMPONENT, "orchestrators")
        pools = self._workloads(desired, pool.COMPONENT, "pool")
        hosts = self._workloads(desired, host.COMPONENT, "repository")
        servers = self.server_states.assess(shard, [pod for pod in self._pods(ref) if _is_server(pod)])
        components = [
            *self.context.children.terminating(desired),
            *_with_problems([*hosts, *pools, *orchestrators], problems),
            servers.component(),
            *change.components(),
            *certificates_component(shard.status.conditions),
            *settings_component(shard.status.conditions),
        ]
        context = StatusContext(shard.metadata, shard.status.conditions, self.context.now())
        generation = shard.metadata.generation
        health = with_availability(assess_health(components, stall), servers.servers, servers.summary)
        return {
            **common_status(context, health, [*change.conditions(generation), servers.condition(generation)]),
            "cells": pool.pool_cells(or_default(shard.spec.pools, {})),
            "orchReady": all(component.is_ready for component in orchestrators),
            "poolsReady": all(component.is_ready for component in pools),
            "replicas": sum(component.desired for component in pools),
            "readyReplicas": count_ready(servers.servers),
            "retainedClaims": list(change.volumes.retained),
            **servers.fields(),
        }

    def _workloads(self, desired: list[Manifest], component: str, role: str) -> list[ComponentStatus]:
        stores = {DEPLOYMENT.kind: self.deployments, STATEFUL_SET.kind: self.sets}
        components = []
        for manifest in desired:
            meta, store = manifest["metadata"], stores.get(manifest["kind"])
            if store is not None and meta["labels"].get(COMPONENT_LABEL) == component:
                live = store.get(ref_of(manifest).key)
                found = workload_component(f"{role} {meta['name']}", manifest["spec"]["replicas"], live)
                components.append(found)
        return components


def _certificates(shard: ShardView) -> tuple[int, list[ComponentStatus]]:
    """What the certificates controller reports that matters to the pods or to their health."""
    renewals = or_default(shard.status.backup_certificate_renewals, 0)
    return renewals, certificates_component(shard.status.conditions)


def _with_problems(components: list[ComponentStatus], problems: PodProblems) -> list[ComponentStatus]:
    """Adds the problems of the shard's pods to the first component that is not ready."""
    unready = next((component for component in components if not component.is_ready), None)
    return [
        component._replace(problem=problems.problem, hint=problems.hint)
        if component is unready
        else component
        for component in components
    ]


def _is_server(pod: PodView) -> bool:
    return pod.metadata.labels.get(COMPONENT_LABEL) == pool.COMPONENT


def _has_changed_set(applied: PlanResult) -> bool:
    written = (step_target(result.step) for result in applied.steps if result.effect in WRITES)
    return any(ref is not None and ref.kind == STATEFUL_SET for ref in written)


def _shard_of(live: HasMetadata) -> list[Key]:
    """The Shard that a pod or claim belongs to. Its name follows from the labels, so that no lookup is needed."""
    name = shard_of(live)
    return [Key(live.metadata.namespace, name)] if name else []


def _referenced_config(shard: ShardView) -> list[str]:
    reference = shard.spec.postgres_config_ref
    return [] if reference is UNSET else [str(Key(shard.metadata.namespace, reference.name))]
