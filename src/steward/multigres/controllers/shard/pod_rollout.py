"""Puts together what `rollout` decides on: the pools of a shard, their pods, and who leads.

A look at the topology counts only if it began after the shard's pods last changed: whoever led before may not lead any
more.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.conditions import FALSE, TRUE, UNKNOWN, Condition
from steward.kube.objects.kinds import POD, Key, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.primaries import Sighting
from steward.multigres.deletion.primary_handover import Succession, Word, succession
from steward.multigres.objects.metadata import CLUSTER, POOL
from steward.multigres.resolution.layers import given
from steward.multigres.rollout.pods import (
    UNKNOWN_YET,
    Pool,
    Scale,
    Scene,
    Verdict,
    is_ready,
    judge,
    members_of,
    scale,
)
from steward.multigres.rollout.volumes import sets_in
from steward.multigres.status.conditions import ROLLING_UPDATE, SCALE_DOWN_PENDING, Piece
from steward.multigres.views import PodView, ShardView
from steward.runtime.plan.steps import Delete, Plan, Requeue

LOOK_AGAIN_SECONDS = 1.0
READ_ONLY = "readOnly"


class Rolling(NamedTuple):
    """What the pods of a shard go through: `desired` holds as many replicas as there may be now."""

    desired: list[Manifest]
    verdict: Verdict
    scales: tuple[Scale, ...] = ()
    succession: Succession = Succession()

    @property
    def held(self) -> Scale | None:
        return next((each for each in self.scales if each.waiting), None)

    @property
    def _is_moving(self) -> bool:
        return self.verdict.is_rolling and self.verdict.reason != reasons.ROLLOUT_STOPPED

    @property
    def must_know(self) -> bool:
        """Whether it matters now who leads."""
        return self._is_moving or self.held is not None

    def steps(self, namespace: str) -> Plan:
        """One eviction at most, and another look soon while there is something to do."""
        member = self.verdict.replace
        again = (Requeue(LOOK_AGAIN_SECONDS),) if self.must_know else ()
        if member is None:
            return again
        reason = "the rolling change of its shard replaces it"
        return (Delete(Ref(POD, Key(namespace, member.name)), member.uid, reason, by="eviction"), *again)

    def pieces(self) -> list[Piece]:
        found = []
        if self.verdict.is_rolling:
            found.append(Piece("the rolling change", 1, 1, False, self.verdict.trouble, self.verdict.message))
        if self.held is not None:
            found.append(Piece("fewer pods", 1, 1, False, hint=self.held.waiting))
        return found

    def conditions(self, generation: int) -> list[Condition]:
        verdict = self.verdict
        settled = UNKNOWN if verdict is UNKNOWN_YET else FALSE
        status = TRUE if verdict.is_rolling else settled
        told = [Condition(ROLLING_UPDATE, status, verdict.reason, verdict.message, generation)]
        if self.held is not None:
            held = self.held
            told.append(Condition(SCALE_DOWN_PENDING, TRUE, held.reason, held.waiting, generation))
        return told


class RollingChanges:
    def __init__(self, context: ControllerContext) -> None:
        self.context = context
        self.sets = context.store(context.rules.stateful_set)
        self._steady: dict[Key, tuple[frozenset[object], float]] = {}
        self._forbidden: dict[Key, str] = {}

    def forget(self, shard: Key) -> None:
        self._steady.pop(shard, None)
        self._forbidden.pop(shard, None)
        self.context.primaries.forget(shard)

    def remember(self, shard: Key, steps: Iterable[object]) -> None:
        """Which eviction a budget did not let pass: the next status says so."""
        self._forbidden.pop(shard, None)
        for step in steps:
            if isinstance(step, Delete):
                self._forbidden[shard] = step.ref.key.name

    def look(self, shard: ShardView, desired: list[Manifest], pods: Sequence[PodView]) -> Rolling:
        key = key_of(shard)
        scene = self._scene(shard, desired, pods)
        scales = {pool.name: scale(pool, scene) for pool in scene.pools}
        verdict = self._told(key, judge(scene))
        after = succession(scene.pools, scene.primary)._replace(word=self._word(key, pods))
        return Rolling(_scaled(desired, scales), verdict, tuple(scales.values()), after)

    def _told(self, shard: Key, verdict: Verdict) -> Verdict:
        name = self._forbidden.get(shard)
        if name is None or verdict.replace is None or verdict.replace.name != name:
            return verdict
        told = f"waits for a disruption budget that does not let pod {name} go; a pod may have one budget, and has ours"
        return verdict._replace(reason=reasons.BUDGET_FORBIDS, message=told)

    def _scene(self, shard: ShardView, desired: list[Manifest], pods: Sequence[PodView]) -> Scene:
        now = self.context.clock.now()
        read_only = {name for name, pool in given(shard.spec.pools, {}).items() if pool.type == READ_ONLY}
        pools = []
        for manifest in sets_in(desired):
            meta = manifest["metadata"]
            name, seen = meta["name"], self.sets.get(Key(meta["namespace"], meta["name"]))
            may_lead = meta["labels"].get(POOL) not in read_only
            members = members_of(name, seen, pods, now)
            pools.append(Pool(name, manifest["spec"]["replicas"], seen, may_lead, members))
        return Scene(tuple(pools), self._primary(key_of(shard), pods))

    def ask(self, shard: ShardView, pods: Sequence[PodView]) -> None:
        """Who leads, of the topology: pods may go as soon as it is known."""
        cluster = shard.metadata.labels.get(CLUSTER, "")
        self.context.primaries.ask(key_of(shard), cluster, self._steady_since(key_of(shard), pods))

    def _sighting(self, shard: Key, pods: Sequence[PodView]) -> Sighting | None:
        return self.context.primaries.sighting_since(shard, self._steady_since(shard, pods))

    def _primary(self, shard: Key, pods: Sequence[PodView]) -> str | None:
        sighting = self._sighting(shard, pods)
        leading = None if sighting is None else sighting.primary
        if leading is None:
            return None
        return next((pod.metadata.name for pod in pods if leading.is_of_pod(pod.metadata.name)), None)

    def _word(self, shard: Key, pods: Sequence[PodView]) -> Word | None:
        """Of the topology, about the pods."""
        sighting = self._sighting(shard, pods)
        if sighting is None:
            return None
        names = (pod.metadata.name for pod in pods)
        known = frozenset(name for name in names if any(each.is_of_pod(name) for each in sighting.poolers))
        return Word(sighting.is_answered, known)

    def _steady_since(self, shard: Key, pods: Sequence[PodView]) -> float:
        now = self.context.clock.monotonic()
        looks = frozenset(
            (pod.metadata.uid, is_ready(pod), pod.metadata.deletion_timestamp is None) for pod in pods
        )
        before = self._steady.get(shard)
        if before is None or before[0] != looks:
            self._steady[shard] = (looks, now)
        return self._steady[shard][1]


def _scaled(desired: list[Manifest], scales: Mapping[str, Scale]) -> list[Manifest]:
    return [
        {**manifest, "spec": {**manifest["spec"], "replicas": scales[manifest["metadata"]["name"]].replicas}}
        if manifest["kind"] == "StatefulSet"
        else manifest
        for manifest in desired
    ]
