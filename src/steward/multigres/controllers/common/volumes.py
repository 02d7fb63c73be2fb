"""Plans the volumes of StatefulSets and of claims that the operator creates, for Shards and TopoServers.

A StorageClass is read when a volume must grow and never cached: it is seldom needed, and the operator may not be
allowed to watch them. An expansion that the API server rejects is reported in the status and blocks nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from steward.kube.client.client import Client
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
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.kube.objects.options import ListQuery
from steward.multigres import reasons
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.set_members import SetMembers
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.rollout.claim_retention import (
    DELETE,
    ClaimGrace,
    RetentionInputs,
    expiry_steps,
    read_claim_grace,
    retained_claim_names,
    with_grace_policy,
)
from steward.multigres.rollout.volumes import (
    StatefulSetPlan,
    VolumeExpansion,
    changed_immutable_fields,
    desired_claim_sizes,
    expansion_problem,
    must_expand,
    plan_claim,
    plan_stateful_set,
    resize_message,
    stateful_sets_in,
    volume_expansions,
    with_live_sizes,
    without_shrinking,
)
from steward.multigres.status.conditions import VOLUMES_READY, ComponentStatus
from steward.multigres.status.retained_claims import is_collected
from steward.multigres.views import ClaimView, PodView, StatefulSetView
from steward.runtime.plan.steps import Apply, Plan, Step

ExpansionAllowed = Mapping[str, bool | None]
"""Whether each StorageClass allows volume expansion; None for a class that does not exist."""


class StorageClassView(Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta
    allow_volume_expansion: bool = False


class VolumeInputs(NamedTuple):
    """The owner of the StatefulSets, with the live claims and pods that belong to it."""

    owner: ObjectMeta
    claims: Sequence[ClaimView]
    pods: Sequence[PodView]


class VolumePlan(NamedTuple):
    """The desired objects with sizes and policies that the API server accepts, and the steps around their applies."""

    desired: list[Manifest]
    withheld: frozenset[Ref] = frozenset()
    """Sets that must not be applied in this reconcile."""
    steps_before: Plan = ()
    steps_after: Plan = ()
    waiting: str = ""
    problem: str = ""
    retained: tuple[str, ...] = ()

    def wrap(self, children: Plan) -> Plan:
        """The plan for the children without withheld sets, between the steps before and after it."""
        if self.withheld:
            children = tuple(step for step in children if not self._is_withheld(step))
        return (*self.steps_before, *children, *self.steps_after)

    def _is_withheld(self, step: Step) -> bool:
        return isinstance(step, Apply) and step.ref in self.withheld

    def components(self) -> list[ComponentStatus]:
        if not self.problem and not self.waiting:
            return []
        return [ComponentStatus("volumes", 1, 1, False, self.problem, self.waiting)]

    def condition(self, generation: int) -> Condition:
        if self.problem:
            return Condition(VOLUMES_READY, FALSE, reasons.VOLUMES_CANNOT_GROW, self.problem, generation)
        if self.waiting:
            return Condition(VOLUMES_READY, FALSE, reasons.VOLUMES_CHANGING, self.waiting, generation)
        message = "every volume has the size of the spec"
        return Condition(VOLUMES_READY, TRUE, reasons.VOLUMES_AS_ASKED, message, generation)


class PlannedManifest(NamedTuple):
    """One set or claim: the manifest to apply, its plan, and messages about its volumes."""

    manifest: Manifest
    set_plan: StatefulSetPlan
    problem: str = ""
    expanding: str = ""

    @property
    def waiting(self) -> str:
        """About a set that is recreated, else about a claim that starts to grow."""
        if not self.set_plan.waiting:
            return self.expanding
        return f"StatefulSet {self.manifest['metadata']['name']}: {self.set_plan.waiting}"


class VolumePlanner:
    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.sets = context.store(context.rules.stateful_set)
        self.claims = context.store(context.rules.claim)
        self.members = SetMembers(context)
        self.clusters = context.store(context.rules.cluster)

    async def plan_volumes(self, desired: Sequence[Manifest], inputs: VolumeInputs) -> VolumePlan:
        """Executes volume expansions on the way: their result decides whether a set keeps its live sizes."""
        grace = self._grace(inputs.owner)
        allowed = await self._expansion_allowed(desired, inputs)
        sets = stateful_sets_in(desired)
        planned = [await self._plan_set(with_grace_policy(each, grace), inputs, allowed) for each in sets]
        planned += [self._plan_claim(manifest, allowed) for manifest in desired if _is_claim(manifest)]
        plan = _combine(desired, planned, inputs.claims)
        if grace.problem and _deletes_claims(desired):
            plan = plan._replace(problem=plan.problem or grace.problem)
        retention = RetentionInputs(inputs.claims, inputs.pods, grace, self.context.deletion_time())
        relabel = await self.members.relabel_steps(sets)
        before = (*relabel, *plan.steps_before)
        return plan._replace(steps_before=before, steps_after=expiry_steps(sets, retention))

    def _grace(self, owner: ObjectMeta) -> ClaimGrace:
        cluster = self.clusters.get(Key(owner.namespace, owner.labels.get(CLUSTER_LABEL, "")))
        return read_claim_grace(owner.annotations, {} if cluster is None else cluster.metadata.annotations)

    async def _plan_set(
        self, desired: Manifest, inputs: VolumeInputs, allowed: ExpansionAllowed
    ) -> PlannedManifest:
        live: StatefulSetView | None = self.sets.get(ref_of(desired).key)
        manifest, problem = without_shrinking(desired, live)
        expansions = volume_expansions(manifest, inputs.claims)
        rejected = expansion_problem(expansions, allowed) or await self._expand(expansions)
        if rejected:
            manifest = with_live_sizes(manifest, live)
        claims = inputs.claims
        if live is not None and changed_immutable_fields(manifest, live):
            claims = await self._live_claims(inputs.owner)
        expanding = "" if rejected or not expansions else expansions[0].message()
        set_plan = plan_stateful_set(manifest, live, claims, inputs.pods)
        return PlannedManifest(manifest, set_plan, rejected or problem, expanding)

    async def _live_claims(self, owner: ObjectMeta) -> list[ClaimView]:
        """Read from the API server: the set may be deleted because of them."""
        cluster = owner.labels.get(CLUSTER_LABEL, "")
        query = ListQuery(namespace=owner.namespace, label_selector=f"{CLUSTER_LABEL}={cluster}")
        return list((await self.context.client.list(PERSISTENT_VOLUME_CLAIM, query, ClaimView)).items)

    async def _expand(self, expansions: Sequence[VolumeExpansion]) -> str:
        """Patches the claims; returns a message if the API server rejects one."""
        try:
            for expansion in expansions:
                step = expansion.patch_step()
                await self.context.executor.execute((step,), step.ref)
        except (Forbidden, Invalid) as error:
            return f"volume claim {expansion.claim.metadata.name} cannot grow to {expansion.size}: {error}"
        return ""

    def _plan_claim(self, desired: Manifest, allowed: ExpansionAllowed) -> PlannedManifest:
        manifest, problem = plan_claim(desired, self.claims.get(ref_of(desired).key), allowed)
        return PlannedManifest(manifest, StatefulSetPlan(manifest), problem)

    async def _expansion_allowed(self, desired: Sequence[Manifest], inputs: VolumeInputs) -> ExpansionAllowed:
        claims = [
            expansion.claim
            for manifest in stateful_sets_in(desired)
            for expansion in volume_expansions(manifest, inputs.claims)
        ]
        for manifest in filter(_is_claim, desired):
            live = self.claims.get(ref_of(manifest).key)
            if live is not None and must_expand(manifest, live):
                claims.append(live)
        names = sorted({claim.spec.storage_class_name for claim in claims} - {""})
        return {name: await self._allows_expansion(name) for name in names}

    async def _allows_expansion(self, name: str) -> bool | None:
        try:
            live = await self.context.client.get(STORAGE_CLASS, Key("", name), StorageClassView)
        except NotFound:
            return None
        except Forbidden:
            # Without the right to read classes, the API server decides when the claim is patched.
            return True
        return live.allow_volume_expansion


async def retained_claims(client: Client, namespace: str, labels: Mapping[str, str]) -> list[str]:
    """Names of the claims with these labels that outlive their pods.

    Read from the API server, not from the cache: whether the password Secret is deleted depends on it.
    """
    selector = ",".join(f"{label}={value}" for label, value in labels.items())
    query = ListQuery(namespace=namespace, label_selector=selector)
    claims = (await client.list(PERSISTENT_VOLUME_CLAIM, query, Metadata)).items
    return sorted(claim.metadata.name for claim in claims if not is_collected(claim.metadata))


def _combine(
    desired: Sequence[Manifest], planned: Sequence[PlannedManifest], claims: Sequence[ClaimView]
) -> VolumePlan:
    manifests = {ref_of(each.manifest): each.manifest for each in planned}
    sets = stateful_sets_in(manifests.values())
    set_claims = {name for manifest in sets for name in desired_claim_sizes(manifest)}
    backup_claims = {ref.key.name for ref in manifests if ref.kind == PERSISTENT_VOLUME_CLAIM}
    waiting = [each.waiting for each in planned if each.waiting]
    return VolumePlan(
        [manifests.get(ref_of(manifest), manifest) for manifest in desired],
        frozenset(ref_of(each.manifest) for each in planned if each.set_plan.manifest is None),
        steps_before=tuple(step for each in planned for step in each.set_plan.steps),
        waiting=waiting[0] if waiting else resize_message(set_claims | backup_claims, claims),
        problem="; ".join(each.problem for each in planned if each.problem),
        retained=tuple(retained_claim_names(claims, sets, backup_claims)),
    )


def _is_claim(manifest: Manifest) -> bool:
    return kind_of(manifest) == PERSISTENT_VOLUME_CLAIM


def _deletes_claims(desired: Sequence[Manifest]) -> bool:
    sets = stateful_sets_in(desired)
    policies = [manifest["spec"]["persistentVolumeClaimRetentionPolicy"] for manifest in sets]
    return any(policy["whenScaled"] == DELETE for policy in policies)
