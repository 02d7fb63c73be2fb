"""A shard whose StatefulSets, pods and claims are simulated: the planners decide, and their steps are executed here."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, STATEFUL_SET
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.annotations import GraceSettings
from steward.multigres.deletion.draining import DeletionTerms, DrainingWorkload, DrainStage, plan_drain
from steward.multigres.deletion.primary_handover import (
    PrimaryHandover,
    RemovedPool,
    TopologyAnswer,
    handover_wait,
    primary_handover,
)
from steward.multigres.rollout.claim_retention import (
    ClaimGrace,
    RetentionInputs,
    expiry_steps,
    with_grace_policy,
)
from steward.multigres.rollout.pods import (
    REVISION,
    PoolState,
    ShardPods,
    decide_rollout,
    decide_scale,
    members_of,
)
from steward.multigres.rollout.volumes import (
    ordinal_of,
    plan_stateful_set,
    volume_expansions,
    without_shrinking,
)
from steward.multigres.views import (
    ClaimRetention,
    ClaimSpec,
    ClaimStatus,
    ClaimTemplateSpec,
    ClaimTemplateView,
    ClaimView,
    PodCondition,
    PodStatus,
    PodView,
    SelectorView,
    StatefulSetSpec,
    StatefulSetView,
    WorkloadStatus,
)
from steward.runtime.plan.steps import Delete, Patch

LABELS = {"app": "shard"}
PERIOD = 60.0
RETAIN = ClaimRetention()


class DesiredPool(NamedTuple):
    """The spec of a pool."""

    replicas: int = 1
    size: int = 1
    image: int = 1
    policy: ClaimRetention = RETAIN


class SimulatedPod(NamedTuple):
    uid: str
    image: int
    is_ready: bool = True


@dataclass
class SimulatedSet:
    """A StatefulSet, and the state that its controller keeps."""

    uid: str
    desired: DesiredPool
    annotations: dict[str, str] = field(default_factory=dict)


@dataclass
class SimulatedShard:
    spec: dict[str, DesiredPool] = field(default_factory=dict)
    sets: dict[str, SimulatedSet] = field(default_factory=dict)
    pods: dict[str, SimulatedPod] = field(default_factory=dict)
    claims: dict[str, ClaimView] = field(default_factory=dict)
    actual_primary: str = ""
    topology: str = "answers"
    grace: float = 0.0
    now: float = 1_000_000.0
    created: int = 0

    # Simulated Kubernetes controllers

    def run_controllers(self) -> None:
        for name, each in self.sets.items():
            for ordinal in range(each.desired.replicas):
                self._create_pod(f"{name}-{ordinal}", each)
            for pod in [pod for pod in self.pods if (ordinal_of(pod, name) or 0) >= each.desired.replicas]:
                if ordinal_of(pod, name) is not None:
                    del self.pods[pod]
                    if each.desired.policy.when_scaled == "Delete":
                        self._delete_claim(f"data-{pod}", name, "when_scaled")
            self._set_claim_owners(name, each)
        if self.actual_primary not in self.pods:
            self.actual_primary = min((pod for pod, live in self.pods.items() if live.is_ready), default="")

    def _create_pod(self, pod: str, owner: SimulatedSet) -> None:
        if pod not in self.pods:
            self.created += 1
            self.pods[pod] = SimulatedPod(f"pod {self.created}", owner.desired.image)
        if f"data-{pod}" not in self.claims:
            self.created += 1
            meta = ObjectMeta(name=f"data-{pod}", namespace="n", uid=f"claim {self.created}")
            spec = ClaimSpec("standard", ("ReadWriteOnce",), _storage(owner.desired.size))
            self.claims[f"data-{pod}"] = ClaimView(meta, spec, ClaimStatus("Bound"))

    def _set_claim_owners(self, name: str, owner: SimulatedSet) -> None:
        owners = (
            () if owner.desired.policy == RETAIN else (OwnerReference(kind="StatefulSet", uid=owner.uid),)
        )
        for claim in [claim for claim in self.claims if ordinal_of(claim, f"data-{name}") is not None]:
            self._change(claim, owner_references=owners)

    def _change(self, claim: str, **metadata: Any) -> None:
        live = self.claims[claim]
        meta = live.metadata
        kept = {each: getattr(meta, each) for each in ("name", "namespace", "uid", "annotations")}
        owners = {"owner_references": meta.owner_references}
        self.claims[claim] = ClaimView(ObjectMeta(**{**kept, **owners, **metadata}), live.spec, live.status)

    def _delete_claim(self, claim: str, name: str, when: str) -> None:
        """Fails unless the policy of the pool, or its last policy if it is gone, allows to delete the data."""
        if claim in self.claims:
            desired = self.spec.get(name) or self.sets[name].desired
            assert getattr(desired.policy, when) == "Delete", f"{claim} is lost"
            del self.claims[claim]

    # Inputs of the planners

    def pod_views(self) -> list[PodView]:
        return [
            PodView(
                ObjectMeta(
                    name=name, namespace="n", uid=pod.uid, labels={REVISION: str(pod.image), **LABELS}
                ),
                PodStatus(conditions=(PodCondition("Ready", "True" if pod.is_ready else "False"),)),
            )
            for name, pod in self.pods.items()
        ]

    def live(self, name: str) -> StatefulSetView | None:
        if name not in self.sets:
            return None
        live_set = self.sets[name]
        template = ClaimTemplateView(
            ObjectMeta(name="data"), ClaimTemplateSpec(("ReadWriteOnce",), _storage(live_set.desired.size))
        )
        spec = StatefulSetSpec(
            live_set.desired.replicas,
            name,
            "Parallel",
            SelectorView(LABELS),
            (template,),
            live_set.desired.policy,
        )
        meta = ObjectMeta(name=name, namespace="n", uid=live_set.uid, annotations=dict(live_set.annotations))
        return StatefulSetView(meta, spec, WorkloadStatus(update_revision=str(live_set.desired.image)))

    @property
    def primary(self) -> str | None:
        return self.actual_primary or None if self.topology == "answers" else None

    @property
    def answer(self) -> TopologyAnswer | None:
        if self.topology == "unchecked":
            return None
        return TopologyAnswer(self.topology != "silent", frozenset(self.pods))

    # The Shard controller

    def reconcile(self) -> None:
        """One reconcile of the Shard controller, and the execution of its plan."""
        shard_pods = self._shard_pods()
        for pool in shard_pods.pools:
            self._reconcile_pool(pool, shard_pods)
        handover = primary_handover(shard_pods.pools, shard_pods.primary)._replace(answer=self.answer)
        for name in sorted(set(self.sets) - set(self.spec)):
            self._remove_pool(name, handover)
        replaced = decide_rollout(shard_pods).replace
        if replaced is not None and replaced.name in self.pods:
            self._replace(replaced.name, shard_pods)
        self.run_controllers()

    def _shard_pods(self) -> ShardPods:
        pods = self.pod_views()
        pools = (
            PoolState(
                name, desired.replicas, live := self.live(name), True, members_of(name, live, pods, self.now)
            )
            for name, desired in sorted(self.spec.items())
        )
        return ShardPods(tuple(pools), self.primary)

    def _reconcile_pool(self, pool: PoolState, shard_pods: ShardPods) -> None:
        desired, decision, live = self.spec[pool.name], decide_scale(pool, shard_pods), self.live(pool.name)
        self._check_scale(pool, decision.replicas)
        desired_manifest = _manifest(pool.name, desired._replace(replicas=decision.replicas))
        manifest, _ = without_shrinking(with_grace_policy(desired_manifest, ClaimGrace(self.grace)), live)
        for expansion in volume_expansions(manifest, list(self.claims.values())):
            self._execute(expansion.patch_step())
        planned = plan_stateful_set(manifest, live, list(self.claims.values()), self.pod_views())
        for step in planned.steps:
            self._execute(step)
        if planned.manifest is not None:
            self._apply(planned.manifest)
        retention = RetentionInputs(
            list(self.claims.values()), self.pod_views(), ClaimGrace(self.grace), self.now
        )
        for step in expiry_steps([desired_manifest], retention):
            self._execute(step)

    def _apply(self, manifest: dict[str, Any]) -> None:
        name, spec = manifest["metadata"]["name"], manifest["spec"]
        if name not in self.sets:
            self.created += 1
            self.sets[name] = SimulatedSet(f"set {self.created}", DesiredPool())
        policy = spec["persistentVolumeClaimRetentionPolicy"]
        [template] = spec["volumeClaimTemplates"]
        size = int(template["spec"]["resources"]["requests"]["storage"].removesuffix("Gi"))
        retention = ClaimRetention(policy["whenDeleted"], policy["whenScaled"])
        self.sets[name].desired = DesiredPool(spec["replicas"], size, spec["image"], retention)
        self.sets[name].annotations.clear()

    def _remove_pool(self, name: str, handover: PrimaryHandover) -> None:
        live = self.live(name)
        assert live is not None
        pods = [pod for pod in self.pod_views() if ordinal_of(pod.metadata.name, name) is not None]
        workload = DrainingWorkload(STATEFUL_SET, live, pods)
        removed = RemovedPool(workload.ref, live.metadata.annotations, [pod.metadata.name for pod in pods])
        if "multigres.com/graceful-shutdown-started" not in live.metadata.annotations:
            held = handover_wait(removed, handover, self.now, PERIOD)
            for step in held.steps if held is not None else ():
                self._execute(step)
            if held is not None:
                return
            self._check_removal(removed, handover)
        for each in plan_drain(
            [DrainStage([workload], PERIOD)], DeletionTerms({}, GraceSettings(), self.now)
        ).steps:
            if isinstance(each, Patch | Delete):
                self._execute(each)

    def _replace(self, name: str, shard_pods: ShardPods) -> None:
        others = [each for each in shard_pods.members if each.name != name]
        if self.pods[name].is_ready:
            assert all(each.is_ready for each in others), "another server is away already"
            assert self.topology == "answers" or not shard_pods.has_candidates, "the primary was unknown"
            assert name != self.actual_primary or not any(each.is_outdated for each in others), (
                "the primary is last"
            )
        del self.pods[name]

    def _check_scale(self, pool: PoolState, replicas: int) -> None:
        successors = [each for each in self.spec.values() if each.replicas]
        if not successors or replicas >= pool.replicas:
            return
        assert replicas == pool.replicas - 1
        assert self.topology == "answers" or len(self.pods) < 2, "the primary was unknown"
        assert self.actual_primary != f"{pool.name}-{replicas}", "the primary was scaled away"

    def _check_removal(self, removed: RemovedPool, handover: PrimaryHandover) -> None:
        if not removed.pods or not any(each.replicas for each in self.spec.values()):
            return
        stays = [pod for pod in self.pods if pod.rpartition("-")[0] in self.spec and self.pods[pod].is_ready]
        assert stays, "no ready server is left"
        assert self.topology in ("answers", "silent"), "the primary was unknown"

    # Execution of steps

    def _execute(self, step: object) -> None:
        if isinstance(step, Delete):
            self._delete(step)
        elif isinstance(step, Patch):
            changes: Any = step.patch.changes  # type: ignore[union-attr]
            self._patch(step.ref.kind == STATEFUL_SET, step.ref.key.name, changes)

    def _delete(self, step: Delete) -> None:
        name = step.ref.key.name
        if step.ref.kind == PERSISTENT_VOLUME_CLAIM:
            pod = name.removeprefix("data-")
            assert pod not in self.pods, f"{name} is in use"
            self._delete_claim(name, pod.rpartition("-")[0], "when_scaled")
            return
        assert (step.ref.kind, step.uid) == (STATEFUL_SET, self.sets[name].uid)
        if step.propagation == "Orphan":
            owned = [claim for claim in self.claims.values() if claim.metadata.owner_references]
            assert not any(each.metadata.owner_references[0].uid == step.uid for each in owned)
        else:
            assert name not in self.spec, f"{name} is desired"
            for pod in [pod for pod in self.pods if ordinal_of(pod, name) is not None]:
                del self.pods[pod]
            if self.sets[name].desired.policy.when_deleted == "Delete":
                for claim in [each for each in self.claims if ordinal_of(each, f"data-{name}") is not None]:
                    self._delete_claim(claim, name, "when_deleted")
        del self.sets[name]

    def _patch(self, is_set: bool, name: str, changes: dict[str, Any]) -> None:
        annotations = changes.get("metadata", {}).get("annotations", {})
        spec = changes.get("spec", {})
        if is_set:
            live_set = self.sets[name]
            live_set.annotations |= annotations
            policy = spec.get("persistentVolumeClaimRetentionPolicy", {})
            policy_ = live_set.desired.policy
            kept = ClaimRetention(
                policy.get("whenDeleted", policy_.when_deleted),
                policy.get("whenScaled", policy_.when_scaled),
            )
            live_set.desired = live_set.desired._replace(
                replicas=spec.get("replicas", live_set.desired.replicas), policy=kept
            )
            self._set_claim_owners(name, live_set)
        elif name in self.claims:
            known = {**self.claims[name].metadata.annotations, **annotations}
            self._change(name, annotations={key: value for key, value in known.items() if value is not None})
            if "resources" in spec:
                live = self.claims[name]
                larger = ClaimSpec("standard", ("ReadWriteOnce",), spec["resources"])
                self.claims[name] = ClaimView(live.metadata, larger, live.status)


def _storage(size: int) -> dict[str, Any]:
    return {"requests": {"storage": f"{size}Gi"}}


def _manifest(name: str, desired: DesiredPool) -> dict[str, Any]:
    template = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": _storage(desired.size)},
    }
    policy = {"whenDeleted": desired.policy.when_deleted, "whenScaled": desired.policy.when_scaled}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": "n"},
        "spec": {
            "serviceName": name,
            "replicas": desired.replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": LABELS},
            "persistentVolumeClaimRetentionPolicy": policy,
            "volumeClaimTemplates": [template],
            "image": desired.image,
        },
    }
