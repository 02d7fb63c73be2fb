"""A shard whose StatefulSets, pods, claims and Postgres servers are simulated.

The planners decide, and their steps are executed here. A new server starts in one round, joins the cohort in the next,
and a server that has left is dropped from the cohort one round later, if the orchestrators work.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, STATEFUL_SET
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.annotations import GraceSettings
from steward.multigres.deletion.draining import DeletionTerms, DrainingWorkload, DrainStage, plan_drain
from steward.multigres.deletion.server_removal import RemovalDecision, decide_removal
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
    members_of,
)
from steward.multigres.rollout.restarts import RolloutDecision, after_removal, decide_rollout
from steward.multigres.rollout.switching import ChangeOptions, SwitchAttempt
from steward.multigres.rollout.volumes import (
    ordinal_of,
    plan_stateful_set,
    volume_expansions,
    without_shrinking,
)
from steward.multigres.servers.assessment import Server, ServerState, ShardServers
from steward.multigres.servers.durability import POLICIES
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
POLICY = POLICIES["AT_LEAST_2"]
RETAIN = ClaimRetention()


class DesiredPool(NamedTuple):
    """The spec of a pool."""

    replicas: int = 1
    size: int = 1
    image: int = 1
    policy: ClaimRetention = RETAIN


class SimulatedPod(NamedTuple):
    """A pod that is ready; its Postgres starts, is ready, or is down for good."""

    uid: str
    image: int
    state: ServerState = ServerState.STARTING


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
    cohort: set[str] = field(default_factory=set)
    topology: str = "answers"
    switching: str = "works"
    orchestrators: str = "work"
    last_switch: SwitchAttempt | None = None
    grace: float = 0.0
    now: float = 1_000_000.0
    created: int = 0

    # Simulated Kubernetes controllers and data plane

    def run_controllers(self) -> None:
        self._run_data_plane()
        for name, each in self.sets.items():
            for ordinal in range(each.desired.replicas):
                self._create_pod(f"{name}-{ordinal}", each)
            for pod in [pod for pod in self.pods if (ordinal_of(pod, name) or 0) >= each.desired.replicas]:
                if ordinal_of(pod, name) is not None:
                    del self.pods[pod]
                    if each.desired.policy.when_scaled == "Delete":
                        self._delete_claim(f"data-{pod}", name, "when_scaled")
            self._set_claim_owners(name, each)

    def _run_data_plane(self) -> None:
        ready = {pod for pod, live in self.pods.items() if live.state is ServerState.READY}
        if self.orchestrators == "work":
            self._elect(ready)
            if self.actual_primary:
                self.cohort = (self.cohort & set(self.pods)) | ready
        for name, pod in self.pods.items():
            if pod.state is ServerState.STARTING:
                self.pods[name] = pod._replace(state=ServerState.READY)

    def _elect(self, ready: set[str]) -> None:
        if not self.pods:
            self.cohort.clear()
        if not self.cohort:
            self.cohort = ready if len(ready) >= POLICY.required else set()
        if self.actual_primary not in ready:
            can_elect = bool(self.cohort) and self.has_quorum(ready)
            self.actual_primary = min(ready & self.cohort) if can_elect else ""

    def has_quorum(self, reachable: set[str]) -> bool:
        """Whether these servers could appoint a primary and acknowledge writes."""
        present = self.cohort & reachable
        away = self.cohort - reachable
        return len(present) >= POLICY.required > len(away) and len(present) > len(away)

    def ready_servers(self) -> set[str]:
        return {pod for pod, live in self.pods.items() if live.state is ServerState.READY}

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
                PodStatus(conditions=(PodCondition("Ready", "True"),)),
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

    def servers(self) -> ShardServers:
        is_answered = self.topology in ("answers", "no primary")
        states = {name: pod.state for name, pod in self.pods.items()}
        names = {
            *self.pods,
            *(f"{name}-{n}" for name, each in self.spec.items() for n in range(each.replicas)),
        }
        found = (
            Server(name, "z1", states.get(name, ServerState.MISSING) if is_answered else ServerState.UNKNOWN)
            for name in names
        )
        primary = self.actual_primary or None if self.topology == "answers" else None
        return ShardServers(
            tuple(found),
            primary,
            self.has_quorum(self.ready_servers()) if primary else None,
            frozenset(self.cohort) if is_answered and self.cohort else None,
            POLICY,
            is_current=self.topology != "unchecked",
            unknown="" if is_answered else "nothing answers",
        )

    # The Shard controller

    def reconcile(self) -> None:
        """One reconcile of the Shard controller, and the execution of its plan."""
        pods, options = self._shard_pods(), ChangeOptions(last_switch=self.last_switch)
        removal = decide_removal(pods, options)
        rollout = after_removal(decide_rollout(pods, options), removal.leaves)
        self._check_removal(pods, removal)
        for pool in pods.pools:
            if not pool.is_removed:
                self._reconcile_pool(pool, removal.replicas[pool.name])
            elif pool.live is not None:
                self._reconcile_removed_pool(pool, removal.replicas[pool.name])
            elif removal.leaves in pool.surplus or not any(each.replicas for each in self.spec.values()):
                self._delete_ownerless_pods(pool, removal)
        if rollout.replace is not None and rollout.replace.name in self.pods:
            self._check_restart(rollout)
            del self.pods[rollout.replace.name]
        if switch_from := removal.switch_from or rollout.switch_from:
            self._switch(switch_from)
        self.run_controllers()

    def _switch(self, primary: str) -> None:
        others = self.cohort & self.ready_servers() - {primary}
        if self.switching == "works" and others:
            self.actual_primary, self.last_switch = min(others), SwitchAttempt(primary)
        else:
            self.last_switch = SwitchAttempt(primary, "refused")

    def _shard_pods(self) -> ShardPods:
        pods = self.pod_views()
        desired = (self._pool_state(name, each.replicas, pods) for name, each in sorted(self.spec.items()))
        gone = sorted({*self.sets, *(pod.rpartition("-")[0] for pod in self.pods)} - set(self.spec))
        removed = (self._pool_state(name, 0, pods)._replace(is_removed=True) for name in gone)
        servers = self.servers()
        down = (server.name for server in servers.servers if server.state is ServerState.DOWN)
        broken = frozenset(down) if servers.is_current else frozenset()
        return ShardPods((*desired, *removed), servers, broken)

    def _pool_state(self, name: str, replicas: int, pods: list[PodView]) -> PoolState:
        live = self.live(name)
        return PoolState(name, "z1", replicas, live, members_of(name, live, pods, self.now))

    def _reconcile_pool(self, pool: PoolState, replicas: int) -> None:
        desired, live = self.spec[pool.name], self.live(pool.name)
        desired_manifest = _manifest(pool.name, desired._replace(replicas=replicas))
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

    def _reconcile_removed_pool(self, pool: PoolState, replicas: int) -> None:
        """Servers leave one by one; the empty set is drained and deleted."""
        live_set = self.sets[pool.name]
        policy = ClaimRetention(live_set.desired.policy.when_deleted)
        live_set.desired = live_set.desired._replace(replicas=replicas, policy=policy)
        self._set_claim_owners(pool.name, live_set)
        if pool.replicas or pool.members:
            return
        live = self.live(pool.name)
        assert live is not None
        stages = [DrainStage([DrainingWorkload(STATEFUL_SET, live, ())], PERIOD)]
        for each in plan_drain(stages, DeletionTerms({}, GraceSettings(), self.now)).steps:
            if isinstance(each, Patch | Delete):
                self._execute(each)

    def _delete_ownerless_pods(self, pool: PoolState, removal: RemovalDecision) -> None:
        for name in (removal.leaves,) if removal.leaves else tuple(pool.surplus):
            del self.pods[name]

    # What must be true of every decision

    def _check_removal(self, pods: ShardPods, removal: RemovalDecision) -> None:
        if not any(each.replicas for each in self.spec.values()):
            return
        scaled = [pool for pool in pods.pools if removal.replicas[pool.name] < pool.replicas]
        assert len(scaled) <= 1, "servers of two pools leave at once"
        for pool in scaled:
            assert removal.replicas[pool.name] == pool.replicas - 1, "two servers leave at once"
            assert pool.live is None or removal.leaves == f"{pool.name}-{pool.replicas - 1}"
            self._check_absence(removal.leaves)
            assert len(pods.server_ids) > POLICY.required, "the policy cannot hold for what stays"

    def _check_restart(self, rollout: RolloutDecision) -> None:
        assert rollout.replace is not None
        if len(self.pods) > 1:
            self._check_absence(rollout.replace.name)

    def _check_absence(self, server: str) -> None:
        """A server that serves ends: it is not the primary, and the rest goes on without it."""
        pod = self.pods.get(server)
        if pod is None or server not in self.cohort or pod.state is ServerState.DOWN:
            return
        assert self.topology == "answers", "the state of the servers was unknown"
        assert server != self.actual_primary, "the primary ends without a switch"
        others = self.ready_servers() - {server}
        could_hold = len(self.pods) > POLICY.required
        assert self.has_quorum(others) or not could_hold, "the rest has no quorum"

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
