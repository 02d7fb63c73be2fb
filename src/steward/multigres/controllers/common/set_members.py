"""Puts labels back on the pods and volume claims of StatefulSets.

A set releases a pod that has lost a label of its selector, and cannot create another one: the name is taken. A pod or a
claim without the label of this operator is not cached: it would neither be replaced nor grow. Both are recognized by
their names, and by their controller or by the labels that identify the set. A claim that a user created under such a
name, without these labels, stays as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, POD, Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import ObjectMeta, controller_of
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.foreign_objects import relabel_step
from steward.multigres.objects.metadata import CLUSTER_LABEL, selector
from steward.multigres.views import StatefulSetView
from steward.runtime.plan.steps import Patch, Plan


class LabelledSet(NamedTuple):
    """A StatefulSet as desired and as it is."""

    manifest: Manifest
    live: StatefulSetView

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that pods and claims of the set need, besides that of this operator."""
        labels: Mapping[str, str] = self.manifest["spec"]["selector"]["matchLabels"]
        return labels

    @property
    def pods(self) -> list[Ref]:
        return self._refs(POD, self.live.metadata.name)

    @property
    def claims(self) -> list[Ref]:
        templates = (each["metadata"]["name"] for each in self.manifest["spec"]["volumeClaimTemplates"])
        return [
            ref
            for template in templates
            for ref in self._refs(PERSISTENT_VOLUME_CLAIM, f"{template}-{self.live.metadata.name}")
        ]

    def _refs(self, kind: Kind, stem: str) -> list[Ref]:
        namespace, replicas = self.live.metadata.namespace, self.live.spec.replicas
        return [Ref(kind, Key(namespace, f"{stem}-{ordinal}")) for ordinal in range(replicas)]

    def has_member(self, ref: Ref, meta: ObjectMeta) -> bool:
        """Whether an object with the name of a member is one."""
        controller = controller_of(meta)
        if ref.kind == POD:
            return controller is None or controller.uid == self.live.metadata.uid
        # A set of the Go operator has selected its pods by fewer labels, and its claims carry no others.
        found = selector(meta.labels)
        return CLUSTER_LABEL in found and found.items() <= self.labels.items()


class SetMembers:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self._context = context
        self._sets = context.store(rules.stateful_set)
        self._stores = {rule.kind: context.store(rule) for rule in (rules.pod, rules.claim)}

    async def relabel_steps(self, sets: Iterable[Manifest]) -> Plan:
        return tuple([step for known in self._known(sets) for step in await self._relabel(known)])

    def _known(self, sets: Iterable[Manifest]) -> list[LabelledSet]:
        """Without sets whose selector changes: they are recreated, and their pods keep the old labels until then."""
        found = ((manifest, self._sets.get(ref_of(manifest).key)) for manifest in sets)
        known = [LabelledSet(manifest, live) for manifest, live in found if live is not None]
        return [
            each
            for each in known
            if each.live.metadata.deletion_timestamp is None
            and each.live.spec.selector.match_labels == each.labels
        ]

    async def _relabel(self, known: LabelledSet) -> list[Patch]:
        cached = [step for ref in (*known.pods, *known.claims) if (step := self._cached_step(known, ref))]
        return [*cached, *await self._uncached_steps(known)]

    def _cached_step(self, known: LabelledSet, ref: Ref) -> Patch | None:
        live = self._stores[ref.kind].get(ref.key)
        if live is None or live.metadata.deletion_timestamp is not None:
            return None
        has_labels = known.labels.items() <= live.metadata.labels.items()
        is_pod_of_other = ref.kind == POD and not known.has_member(ref, live.metadata)
        return None if has_labels or is_pod_of_other else relabel_step(ref, live.metadata, known.labels)

    async def _uncached_steps(self, known: LabelledSet) -> list[Patch]:
        """Asks the API server only if the set has more pods than the cache: while pods start it does not."""
        pods, count = self._missing(known.pods), known.live.status.replicas
        missing = [*(pods if len(known.pods) - len(pods) < count else ()), *self._missing_claims(known)]
        found = [(ref, await self._context.foreign_objects.find_unlabelled(ref)) for ref in missing]
        return [
            relabel_step(ref, live.metadata, known.labels)
            for ref, live in found
            if live is not None and known.has_member(ref, live.metadata)
        ]

    def _missing_claims(self, known: LabelledSet) -> Sequence[Ref]:
        """Claims exist before their pods: those of pods that run must be cached."""
        is_running = known.live.status.ready_replicas >= known.live.spec.replicas
        return self._missing(known.claims) if is_running else ()

    def _missing(self, refs: Sequence[Ref]) -> list[Ref]:
        return [ref for ref in refs if self._stores[ref.kind].get(ref.key) is None]
