"""Whatever a user does, and in whatever order: what decides over a shard's pods and volumes loses nothing it must keep.

A small world stands in for the server: sets make pods and claims, and collect them as Kubernetes would. After each act
the pure planners look, and what they ask for is done, until they ask for nothing more.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, STATEFUL_SET
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.annotations import Grace as Periods
from steward.multigres.deletion.draining import Going, Stage, Terms, drain
from steward.multigres.deletion.primary_handover import Leaver, Succession, Word, holds_back, succession
from steward.multigres.rollout.claim_retention import Grace, Unused, expiry, kept_by_set
from steward.multigres.rollout.pods import REVISION, Pool, Scene, judge, members_of, scale
from steward.multigres.rollout.volumes import growths, ordinal_of, settle, without_shrinking
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

NAMES = ("a", "b")
LABELS = {"app": "shard"}
PERIOD = 60.0
ROUNDS = 25
KEPT = ClaimRetention()


class Asked(NamedTuple):
    """A pool as its user wants it."""

    replicas: int = 1
    size: int = 1
    image: int = 1
    policy: ClaimRetention = KEPT


class Pod(NamedTuple):
    uid: str
    image: int
    is_ready: bool = True


@dataclass
class Set:
    """A StatefulSet, and what its own controller would know."""

    uid: str
    asked: Asked
    annotations: dict[str, str] = field(default_factory=dict)


@dataclass
class World:
    spec: dict[str, Asked] = field(default_factory=dict)
    sets: dict[str, Set] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    claims: dict[str, ClaimView] = field(default_factory=dict)
    leader: str = ""
    mood: str = "tells"
    grace: float = 0.0
    now: float = 1_000_000.0
    made: int = 0

    # What the server does by itself

    def settle(self) -> None:
        for name, each in self.sets.items():
            for ordinal in range(each.asked.replicas):
                self._make(f"{name}-{ordinal}", each)
            for pod in [pod for pod in self.pods if (ordinal_of(pod, name) or 0) >= each.asked.replicas]:
                if ordinal_of(pod, name) is not None:
                    del self.pods[pod]
                    if each.asked.policy.when_scaled == "Delete":
                        self._collect(f"data-{pod}", name, "when_scaled")
            self._own(name, each)
        if self.leader not in self.pods:
            self.leader = min((pod for pod, seen in self.pods.items() if seen.is_ready), default="")

    def _make(self, pod: str, owner: Set) -> None:
        if pod not in self.pods:
            self.made += 1
            self.pods[pod] = Pod(f"pod {self.made}", owner.asked.image)
        if f"data-{pod}" not in self.claims:
            self.made += 1
            meta = ObjectMeta(name=f"data-{pod}", namespace="n", uid=f"claim {self.made}")
            spec = ClaimSpec("standard", ("ReadWriteOnce",), _storage(owner.asked.size))
            self.claims[f"data-{pod}"] = ClaimView(meta, spec, ClaimStatus("Bound"))

    def _own(self, name: str, owner: Set) -> None:
        owners = () if owner.asked.policy == KEPT else (OwnerReference(kind="StatefulSet", uid=owner.uid),)
        for claim in [claim for claim in self.claims if ordinal_of(claim, f"data-{name}") is not None]:
            self._change(claim, owner_references=owners)

    def _change(self, claim: str, **metadata: Any) -> None:
        seen = self.claims[claim]
        meta = seen.metadata
        kept = {each: getattr(meta, each) for each in ("name", "namespace", "uid", "annotations")}
        owners = {"owner_references": meta.owner_references}
        self.claims[claim] = ClaimView(ObjectMeta(**{**kept, **owners, **metadata}), seen.spec, seen.status)

    def _collect(self, claim: str, name: str, when: str) -> None:
        """Data goes: the user must have said so, of this pool or, when it is gone, of what it was last."""
        if claim in self.claims:
            asked = self.spec.get(name) or self.sets[name].asked
            assert getattr(asked.policy, when) == "Delete", f"{claim} is lost"
            del self.claims[claim]

    # What the planners see

    def views(self) -> list[PodView]:
        return [
            PodView(
                ObjectMeta(
                    name=name, namespace="n", uid=pod.uid, labels={REVISION: str(pod.image), **LABELS}
                ),
                PodStatus(conditions=(PodCondition("Ready", "True" if pod.is_ready else "False"),)),
            )
            for name, pod in self.pods.items()
        ]

    def seen(self, name: str) -> StatefulSetView | None:
        if name not in self.sets:
            return None
        found = self.sets[name]
        template = ClaimTemplateView(
            ObjectMeta(name="data"), ClaimTemplateSpec(("ReadWriteOnce",), _storage(found.asked.size))
        )
        spec = StatefulSetSpec(
            found.asked.replicas, name, "Parallel", SelectorView(LABELS), (template,), found.asked.policy
        )
        meta = ObjectMeta(name=name, namespace="n", uid=found.uid, annotations=dict(found.annotations))
        return StatefulSetView(meta, spec, WorkloadStatus(update_revision=str(found.asked.image)))

    @property
    def primary(self) -> str | None:
        return self.leader or None if self.mood == "tells" else None

    @property
    def word(self) -> Word | None:
        if self.mood == "unasked":
            return None
        return Word(self.mood != "silent", frozenset(self.pods))

    # What the planners ask for

    def look(self) -> None:
        """One look of the shard's controller, and what comes of it."""
        scene = self._scene()
        for pool in scene.pools:
            self._keep(pool, scene)
        after = succession(scene.pools, scene.primary)._replace(word=self.word)
        for name in sorted(set(self.sets) - set(self.spec)):
            self._retire(name, after)
        replaced = judge(scene).replace
        if replaced is not None and replaced.name in self.pods:
            self._replace(replaced.name, scene)
        self.settle()

    def _scene(self) -> Scene:
        pods = self.views()
        pools = (
            Pool(name, asked.replicas, seen := self.seen(name), True, members_of(name, seen, pods, self.now))
            for name, asked in sorted(self.spec.items())
        )
        return Scene(tuple(pools), self.primary)

    def _keep(self, pool: Pool, scene: Scene) -> None:
        asked, verdict, seen = self.spec[pool.name], scale(pool, scene), self.seen(pool.name)
        self._check_scale(pool, verdict.replicas)
        wanted = _manifest(pool.name, asked._replace(replicas=verdict.replicas))
        manifest, _ = without_shrinking(kept_by_set(wanted, Grace(self.grace)), seen)
        for growth in growths(manifest, list(self.claims.values())):
            self._do(growth.step())
        settled = settle(manifest, seen, list(self.claims.values()), self.views())
        for step in settled.before:
            self._do(step)
        if settled.manifest is not None:
            self._apply(settled.manifest)
        unused = Unused(list(self.claims.values()), self.views(), Grace(self.grace), self.now)
        for step in expiry([wanted], unused):
            self._do(step)

    def _apply(self, manifest: dict[str, Any]) -> None:
        name, spec = manifest["metadata"]["name"], manifest["spec"]
        if name not in self.sets:
            self.made += 1
            self.sets[name] = Set(f"set {self.made}", Asked())
        policy = spec["persistentVolumeClaimRetentionPolicy"]
        [template] = spec["volumeClaimTemplates"]
        size = int(template["spec"]["resources"]["requests"]["storage"].removesuffix("Gi"))
        retention = ClaimRetention(policy["whenDeleted"], policy["whenScaled"])
        self.sets[name].asked = Asked(spec["replicas"], size, spec["image"], retention)
        self.sets[name].annotations.clear()

    def _retire(self, name: str, after: Succession) -> None:
        seen = self.seen(name)
        assert seen is not None
        pods = [pod for pod in self.views() if ordinal_of(pod.metadata.name, name) is not None]
        going = Going(STATEFUL_SET, seen, pods)
        leaver = Leaver(going.ref, seen.metadata.annotations, [pod.metadata.name for pod in pods])
        if "multigres.com/graceful-shutdown-started" not in seen.metadata.annotations:
            held = holds_back(leaver, after, self.now, PERIOD)
            for step in held.steps if held is not None else ():
                self._do(step)
            if held is not None:
                return
            self._check_retire(leaver, after)
        for each in drain([Stage([going], PERIOD)], Terms({}, Periods(), self.now)).steps:
            if isinstance(each, Patch | Delete):
                self._do(each)

    def _replace(self, name: str, scene: Scene) -> None:
        others = [each for each in scene.members if each.name != name]
        if self.pods[name].is_ready:
            assert all(each.is_ready for each in others), "one is away already"
            assert self.mood == "tells" or not scene.has_choice, "nobody knew who leads"
            assert name != self.leader or not any(each.is_outdated for each in others), "the primary is last"
        del self.pods[name]

    def _check_scale(self, pool: Pool, replicas: int) -> None:
        heirs = [each for each in self.spec.values() if each.replicas]
        if not heirs or replicas >= pool.replicas:
            return
        assert replicas == pool.replicas - 1
        assert self.mood == "tells" or len(self.pods) < 2, "nobody knew who leads"
        assert self.leader != f"{pool.name}-{replicas}", "the primary was scaled away"

    def _check_retire(self, leaver: Leaver, after: Succession) -> None:
        if not leaver.pods or not any(each.replicas for each in self.spec.values()):
            return
        stays = [pod for pod in self.pods if pod.rpartition("-")[0] in self.spec and self.pods[pod].is_ready]
        assert stays, "nobody is left"
        assert self.mood in ("tells", "silent"), "nobody knew who leads"

    # What is done

    def _do(self, step: object) -> None:
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
            self._collect(name, pod.rpartition("-")[0], "when_scaled")
            return
        assert (step.ref.kind, step.uid) == (STATEFUL_SET, self.sets[name].uid)
        if step.propagation == "Orphan":
            owned = [claim for claim in self.claims.values() if claim.metadata.owner_references]
            assert not any(each.metadata.owner_references[0].uid == step.uid for each in owned)
        else:
            assert name not in self.spec, f"{name} is asked for"
            for pod in [pod for pod in self.pods if ordinal_of(pod, name) is not None]:
                del self.pods[pod]
            if self.sets[name].asked.policy.when_deleted == "Delete":
                for claim in [each for each in self.claims if ordinal_of(each, f"data-{name}") is not None]:
                    self._collect(claim, name, "when_deleted")
        del self.sets[name]

    def _patch(self, is_set: bool, name: str, changes: dict[str, Any]) -> None:
        annotations = changes.get("metadata", {}).get("annotations", {})
        spec = changes.get("spec", {})
        if is_set:
            found = self.sets[name]
            found.annotations |= annotations
            policy = spec.get("persistentVolumeClaimRetentionPolicy", {})
            then = found.asked.policy
            kept = ClaimRetention(
                policy.get("whenDeleted", then.when_deleted), policy.get("whenScaled", then.when_scaled)
            )
            found.asked = found.asked._replace(
                replicas=spec.get("replicas", found.asked.replicas), policy=kept
            )
            self._own(name, found)
        elif name in self.claims:
            known = {**self.claims[name].metadata.annotations, **annotations}
            self._change(name, annotations={key: value for key, value in known.items() if value is not None})
            if "resources" in spec:
                seen = self.claims[name]
                larger = ClaimSpec("standard", ("ReadWriteOnce",), spec["resources"])
                self.claims[name] = ClaimView(seen.metadata, larger, seen.status)


def _storage(size: int) -> dict[str, Any]:
    return {"requests": {"storage": f"{size}Gi"}}


def _manifest(name: str, asked: Asked) -> dict[str, Any]:
    template = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": _storage(asked.size)},
    }
    policy = {"whenDeleted": asked.policy.when_deleted, "whenScaled": asked.policy.when_scaled}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": "n"},
        "spec": {
            "serviceName": name,
            "replicas": asked.replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": LABELS},
            "persistentVolumeClaimRetentionPolicy": policy,
            "volumeClaimTemplates": [template],
            "image": asked.image,
        },
    }


class Act(NamedTuple):
    """What somebody does, or what happens, and how many looks follow before the next act."""

    what: str
    value: Any
    looks: int

    def on(self, world: World) -> None:
        if self.what == "pool":
            name, asked = self.value
            size = max(asked.size, world.spec[name].size if name in world.spec else 0)
            world.spec[name] = asked._replace(size=size)
        elif self.what == "gone":
            world.spec.pop(self.value, None)
        elif self.what == "pod" and world.pods:
            name = sorted(world.pods)[self.value % len(world.pods)]
            world.pods[name] = world.pods[name]._replace(is_ready=not world.pods[name].is_ready)
        elif self.what == "leader" and world.pods:
            world.leader = sorted(world.pods)[self.value % len(world.pods)]
        elif self.what in ("mood", "grace"):
            setattr(world, self.what, self.value)
        elif self.what == "time":
            world.now += self.value


WHEN = st.sampled_from(["Retain", "Delete"])
ASKED = st.builds(
    Asked, st.integers(0, 3), st.integers(1, 3), st.integers(1, 3), st.builds(ClaimRetention, WHEN, WHEN)
)
VALUES = {
    "pool": st.tuples(st.sampled_from(NAMES), ASKED),
    "gone": st.sampled_from(NAMES),
    "pod": st.integers(0, 9),
    "leader": st.integers(0, 9),
    "mood": st.sampled_from(["tells", "nobody", "silent", "unasked"]),
    "grace": st.sampled_from([0.0, 30.0]),
    "time": st.sampled_from([1.0, 31.0, 61.0]),
}
ACTS = st.one_of(*(st.builds(Act, st.just(what), value, st.integers(0, 4)) for what, value in VALUES.items()))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 2), st.lists(ACTS, max_size=12))
def test_no_order_of_acts_loses_data_or_the_primary(replicas: int, acts: list[Act]) -> None:
    world = World({"a": Asked(replicas)})
    world.look()
    for act in acts:
        act.on(world)
        for _ in range(act.looks):
            world.look()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(ACTS, max_size=10))
def test_once_all_is_well_it_ends_as_asked_and_rests(acts: list[Act]) -> None:
    world = World({"a": Asked(2)})
    for act in acts:
        act.on(world)
        world.look()
    world.mood = "tells"
    for _ in range(ROUNDS):
        # Somebody switches the primary to wherever it may stay, and whatever was not ready becomes so.
        staying = [pod for pod in world.pods if _stays(world, pod)]
        world.leader = min(staying, default=world.leader)
        world.pods = {name: pod._replace(is_ready=True) for name, pod in world.pods.items()}
        world.now += PERIOD + 1
        world.look()
    assert set(world.sets) == set(world.spec)
    assert {name: each.asked.replicas for name, each in world.sets.items()} == {
        name: each.replicas for name, each in world.spec.items()
    }
    before = world.made, dict(world.pods), dict(world.claims)
    world.look()
    assert (world.made, world.pods, world.claims) == before


def _stays(world: World, pod: str) -> bool:
    name, _, ordinal = pod.rpartition("-")
    return name in world.spec and int(ordinal) < world.spec[name].replicas
