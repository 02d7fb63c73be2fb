"""Puts together what `volumes` and `retention` decide on, for whatever has StatefulSets: Shards and TopoServers.

A StorageClass is read when a volume must grow and never kept: it is seldom needed, and not everybody may watch them.
What the server refuses to grow is told in the status and holds up nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from steward.kube.errors import Forbidden, Invalid, NotFound
from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import (
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    Key,
    Manifest,
    Ref,
    kind_of,
    ref_of,
)
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.options import ListQuery
from steward.multigres import reasons
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.objects.metadata import CLUSTER
from steward.multigres.rollout.claim_retention import (
    DELETE,
    Grace,
    Unused,
    expiry,
    kept_by_set,
    read_grace,
    retained,
)
from steward.multigres.rollout.volumes import (
    Growth,
    Settled,
    as_it_is,
    growths,
    is_larger,
    must_be_rebuilt,
    refusal,
    resizing,
    sets_in,
    settle,
    settled_claim,
    wanted_claims,
    without_shrinking,
)
from steward.multigres.status.conditions import VOLUMES_READY, Piece
from steward.multigres.views import ClaimView, PodView, StatefulSetView
from steward.runtime.plan.steps import Apply, Plan, Step

Allows = Mapping[str, bool | None]


class StorageClassView(Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta
    allow_volume_expansion: bool = False


class Around(NamedTuple):
    """What stands around the sets of one parent."""

    owner: ObjectMeta
    claims: Sequence[ClaimView]
    pods: Sequence[PodView]


class Volumes(NamedTuple):
    """What becomes of the sets and claims among `desired` in this round."""

    desired: list[Manifest]
    withheld: frozenset[Ref] = frozenset()
    before: Plan = ()
    after: Plan = ()
    waiting: str = ""
    problem: str = ""
    retained: tuple[str, ...] = ()

    def around(self, kept: Plan) -> Plan:
        """The plan that keeps the children, with what must happen before and after, and without what must wait."""
        if self.withheld:
            kept = tuple(step for step in kept if not self._is_withheld(step))
        return (*self.before, *kept, *self.after)

    def _is_withheld(self, step: Step) -> bool:
        return isinstance(step, Apply) and step.ref in self.withheld

    def pieces(self) -> list[Piece]:
        if not self.problem and not self.waiting:
            return []
        return [Piece("volumes", 1, 1, False, self.problem, self.waiting)]

    def condition(self, generation: int) -> Condition:
        if self.problem:
            return Condition(VOLUMES_READY, FALSE, reasons.VOLUMES_CANNOT_GROW, self.problem, generation)
        if self.waiting:
            return Condition(VOLUMES_READY, FALSE, reasons.VOLUMES_CHANGING, self.waiting, generation)
        told = "every volume is as large as asked for"
        return Condition(VOLUMES_READY, TRUE, reasons.VOLUMES_AS_ASKED, told, generation)


class Round(NamedTuple):
    """One set or claim in this round: what is applied of it, and what was found about its volumes."""

    manifest: Manifest
    settled: Settled
    problem: str = ""
    growing: str = ""

    @property
    def waiting(self) -> str:
        """A set that is made again, else a claim that was asked to grow a moment ago."""
        if not self.settled.waiting:
            return self.growing
        return f"StatefulSet {self.manifest['metadata']['name']}: {self.settled.waiting}"


class VolumeKeeper:
    def __init__(self, context: ControllerContext) -> None:
        self.context = context
        self.sets = context.store(context.rules.stateful_set)
        self.claims = context.store(context.rules.claim)
        self.clusters = context.store(context.rules.cluster)

    async def settle(self, desired: Sequence[Manifest], around: Around) -> Volumes:
        grace = self._grace(around.owner)
        allows = await self._allowed(desired, around)
        rounds = [await self._of_set(kept_by_set(each, grace), around, allows) for each in sets_in(desired)]
        rounds += [self._of_claim(each, allows) for each in desired if _is_claim(each)]
        unused = Unused(around.claims, around.pods, grace, self.context.clock.now())
        gathered = _gathered(desired, rounds, around.claims)
        if grace.problem and _deletes(desired):
            gathered = gathered._replace(problem=gathered.problem or grace.problem)
        return gathered._replace(after=expiry(sets_in(desired), unused))

    def _grace(self, owner: ObjectMeta) -> Grace:
        cluster = self.clusters.get(Key(owner.namespace, owner.labels.get(CLUSTER, "")))
        return read_grace(owner.annotations, {} if cluster is None else cluster.metadata.annotations)

    def _seen(self, manifest: Manifest) -> StatefulSetView | None:
        found: StatefulSetView | None = self.sets.get(ref_of(manifest).key)
        return found

    async def _of_set(self, wanted: Manifest, around: Around, allows: Allows) -> Round:
        seen = self._seen(wanted)
        manifest, problem = without_shrinking(wanted, seen)
        growing = growths(manifest, around.claims)
        refused = refusal(growing, allows) or await self._grow(growing)
        if refused:
            manifest = as_it_is(manifest, seen)
        claims = around.claims
        if seen is not None and must_be_rebuilt(manifest, seen):
            claims = await self._live_claims(around.owner)
        told = "" if refused or not growing else growing[0].told()
        return Round(manifest, settle(manifest, seen, claims, around.pods), refused or problem, told)

    async def _live_claims(self, owner: ObjectMeta) -> list[ClaimView]:
        """From the server: the set may be deleted on the strength of them."""
        query = ListQuery(
            namespace=owner.namespace, label_selector=f"{CLUSTER}={owner.labels.get(CLUSTER, '')}"
        )
        return list((await self.context.client.list(PERSISTENT_VOLUME_CLAIM, query, ClaimView)).items)

    async def _grow(self, growing: Sequence[Growth]) -> str:
        """What the server has against it, if anything."""
        try:
            for growth in growing:
                step = growth.step()
                await self.context.executor.execute((step,), step.ref)
        except (Forbidden, Invalid) as error:
            return f"volume claim {growth.claim.metadata.name} cannot grow to {growth.size}: {error}"
        return ""

    def _of_claim(self, wanted: Manifest, allows: Allows) -> Round:
        manifest, problem = settled_claim(wanted, self.claims.get(ref_of(wanted).key), allows)
        return Round(manifest, Settled(manifest), problem)

    async def _allowed(self, desired: Sequence[Manifest], around: Around) -> Allows:
        """Which of the StorageClasses whose volumes must grow let them; None for one that does not exist."""
        growing = [growth.claim for each in sets_in(desired) for growth in growths(each, around.claims)]
        for manifest in filter(_is_claim, desired):
            seen = self.claims.get(ref_of(manifest).key)
            if seen is not None and is_larger(manifest, seen):
                growing.append(seen)
        names = sorted({claim.spec.storage_class_name for claim in growing} - {""})
        return {name: await self._allows(name) for name in names}

    async def _allows(self, name: str) -> bool | None:
        try:
            found = await self.context.client.get(STORAGE_CLASS, Key("", name), StorageClassView)
        except NotFound:
            return None
        except Forbidden:
            # Whoever may not read classes lets the server say whether a volume can grow.
            return True
        return found.allow_volume_expansion


def _gathered(desired: Sequence[Manifest], rounds: Sequence[Round], claims: Sequence[ClaimView]) -> Volumes:
    applied = {ref_of(each.manifest): each.manifest for each in rounds}
    sets = sets_in(applied.values())
    names = {name for manifest in sets for name in wanted_claims(manifest)}
    own = {ref.key.name for ref in applied if ref.kind == PERSISTENT_VOLUME_CLAIM}
    waiting = [each.waiting for each in rounds if each.waiting]
    return Volumes(
        [applied.get(ref_of(manifest), manifest) for manifest in desired],
        frozenset(ref_of(each.manifest) for each in rounds if each.settled.manifest is None),
        before=tuple(step for each in rounds for step in each.settled.before),
        waiting=waiting[0] if waiting else resizing(names | own, claims),
        problem="; ".join(each.problem for each in rounds if each.problem),
        retained=tuple(retained(claims, sets, own)),
    )


def _is_claim(manifest: Manifest) -> bool:
    return kind_of(manifest) == PERSISTENT_VOLUME_CLAIM


def _deletes(desired: Sequence[Manifest]) -> bool:
    policies = [each["spec"]["persistentVolumeClaimRetentionPolicy"] for each in sets_in(desired)]
    return any(policy["whenScaled"] == DELETE for policy in policies)
