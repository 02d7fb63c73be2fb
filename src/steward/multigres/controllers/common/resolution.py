"""Resolves the spec of a cluster with the active revisions of its templates.

A large cluster is resolved in a thread: the event loop has to answer probes and renew the lease meanwhile.
"""

import datetime
import sys
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from steward.kube.bounded_cache import LruCache
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects.accounts import RoleAccounts
from steward.multigres.objects.versions import NEWEST
from steward.multigres.resolution.checks.cluster_size import (
    MAX_COMPONENTS,
    is_large,
    least_size,
    size_problem,
)
from steward.multigres.resolution.defaults import DEFAULT_TEMPLATE
from steward.multigres.resolution.external_refs import MissingReference
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster
from steward.multigres.resolution.template_refs import TemplateKey, referenced_templates
from steward.multigres.status.conditions import ComponentStatus, Stall
from steward.multigres.status.password import PublishedPassword
from steward.multigres.template_updates.candidate import (
    TEMPLATE_SPECS,
    WINDOW,
    Candidate,
    UpdateInputs,
    describe_problems,
)
from steward.multigres.template_updates.objects_version import UP_TO_DATE, VersionDecision
from steward.multigres.template_updates.policy import UpdateDecision, decide_update
from steward.multigres.template_updates.revisions import TemplateContent, read_revision
from steward.multigres.views import ClusterView, TemplateView
from steward.runtime.compute_thread import compute

T = TypeVar("T")


class ResolvedSpec(NamedTuple):
    """A spec with everything resolved, or the reason why it cannot be."""

    spec: MultigresClusterSpec
    resolved: ResolvedCluster | None
    stall: Stall | None
    decision: UpdateDecision | None = None
    missing: tuple[MissingReference, ...] = ()
    terminating: tuple[ComponentStatus, ...] = ()
    """Desired objects that are being deleted."""
    components: int = 0
    """The size of the cluster, for its status."""
    objects: VersionDecision = UP_TO_DATE
    """The version of the pods to build."""
    password: PublishedPassword = PublishedPassword()
    accounts: RoleAccounts = RoleAccounts()


class SpecResolver:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self._templates = {
            "CoreTemplate": context.store(rules.core_template),
            "CellTemplate": context.store(rules.cell_template),
            "ShardTemplate": context.store(rules.shard_template),
        }
        self._revisions = context.store(rules.revision)
        self._clock = context.clock
        self._specs = context.cluster_specs
        # Shared by all controllers: each of them resolves an edited cluster, and one has to compute it.
        self._cache: LruCache[tuple[Key, int], tuple[UpdateInputs, ResolvedSpec]] = context.resolved_specs
        self._large = context.large_resolutions

    async def resolve(self, cluster: ClusterView, objects_version: int = NEWEST) -> ResolvedSpec:
        try:
            spec = self._specs.decode(cluster)
        except msgspec.ValidationError as error:
            return ResolvedSpec(MultigresClusterSpec(), None, Stall(reasons.INVALID_SPEC, str(error)))
        too_large = size_problem(least_size(spec), accepted_components(cluster))
        if too_large is not None:
            stall = Stall(reasons.INVALID_SPEC, describe_problems([too_large]))
            return ResolvedSpec(MultigresClusterSpec(), None, stall)
        return await self._decide(key_of(cluster), self._update_inputs(cluster, spec, objects_version))

    async def _decide(self, key: Key, inputs: UpdateInputs) -> ResolvedSpec:
        """Decided once for equal inputs: most reconciles are caused by pods, and nothing here depends on those."""
        known = self._known(key, inputs)
        if known is not None:
            return known
        if not is_large(inputs.spec):
            return self._remember(key, inputs, _resolved_spec(inputs, self._previous(key, inputs)))
        async with self._large:
            known, previous = self._known(key, inputs), self._previous(key, inputs)
            return known or self._remember(
                key, inputs, await compute(lambda: _resolved_spec(inputs, previous))
            )

    def _known(self, key: Key, inputs: UpdateInputs) -> ResolvedSpec | None:
        cached = self._cache.get((key, inputs.objects_version))
        if cached is None or inputs.mode == WINDOW:
            return None
        previous, resolved = cached
        return resolved if previous == inputs._replace(now=previous.now) else None

    def _previous(self, key: Key, inputs: UpdateInputs) -> Candidate | None:
        """The candidate before an edit: its unchanged shards are not resolved and validated again."""
        cached = self._cache.get((key, inputs.objects_version))
        decision = None if cached is None else cached[1].decision
        return None if decision is None else decision.candidate

    def _remember(self, key: Key, inputs: UpdateInputs, resolved: ResolvedSpec) -> ResolvedSpec:
        self._cache.set((key, inputs.objects_version), (inputs, resolved))
        return resolved

    def _update_inputs(
        self, cluster: ClusterView, spec: MultigresClusterSpec, objects_version: int
    ) -> UpdateInputs:
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        owned = self._revisions.by_owner(cluster.metadata.uid)
        revisions = tuple(read_revision(live) for live in owned)
        used_before = (revision.template for revision in revisions)
        templates = self._relevant_templates(namespace, {*referenced_templates(spec), *used_before})
        reported = cluster.status.applied_template_generations
        return UpdateInputs(
            identity=ClusterIdentity(namespace, name),
            spec=spec,
            live={key: _content(live) for key, live in templates.items() if not _is_terminating(live)},
            terminating=frozenset(key for key, live in templates.items() if _is_terminating(live)),
            revisions=revisions,
            reported_generations=None if reported is UNSET else reported,
            annotations=cluster.metadata.annotations,
            now=datetime.datetime.fromtimestamp(self._clock.now(), datetime.UTC),
            accepted_components=accepted_components(cluster),
            objects_version=objects_version,
        )

    def _relevant_templates(
        self, namespace: str, referenced: set[TemplateKey]
    ) -> dict[TemplateKey, TemplateView]:
        """Templates that the spec references or referenced before, and those named `default`."""
        keys = {*referenced, *(TemplateKey(kind, DEFAULT_TEMPLATE) for kind in TEMPLATE_SPECS)}
        found = {key: self._templates[key.kind].get(Key(namespace, key.name)) for key in sorted(keys)}
        return {key: live for key, live in found.items() if live is not None}


def may_affect(cluster: ClusterView, kind: str, template: TemplateView) -> bool:
    """Whether a change of the template may affect the cluster. For a spec that cannot be decoded the answer is yes."""
    name = template.metadata.name
    if name == DEFAULT_TEMPLATE:
        return True
    try:
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return True
    return TemplateKey(kind, name) in referenced_templates(spec)


def _content(live: TemplateView) -> TemplateContent:
    return TemplateContent(live.metadata.uid, live.metadata.generation, live.spec)


def _is_terminating(live: TemplateView) -> bool:
    return live.metadata.deletion_timestamp is not None


def accepted_components(cluster: ClusterView) -> int:
    """The size that the cluster may have: the limit, or more if it was accepted at that size before.

    An older version of the operator accepted any size and did not report it.
    """
    reported = cluster.status.components
    if reported is UNSET:
        return MAX_COMPONENTS if cluster.status.databases is UNSET else sys.maxsize
    return max(MAX_COMPONENTS, reported)


async def beside_the_loop(spec: MultigresClusterSpec, work: Callable[[], T]) -> T:
    """In a thread if the cluster is large. The change of threads would cost a small one more than the work itself."""
    return await compute(work) if is_large(spec) else work()


def _resolved_spec(inputs: UpdateInputs, previous: Candidate | None) -> ResolvedSpec:
    decision = decide_update(inputs, previous)
    stall, resolved = _stall(decision), decision.candidate.resolved
    if stall is not None:
        return ResolvedSpec(inputs.spec, None, stall, decision)
    return ResolvedSpec(inputs.spec, resolved, None, decision, components=decision.candidate.components)


def _stall(decision: UpdateDecision) -> Stall | None:
    problems = decision.candidate.problems
    if problems:
        return Stall(reasons.INVALID_SPEC, describe_problems(problems))
    if decision.lost:
        lost = ", ".join(key.describe() for key in decision.lost)
        message = f"the active revision of {lost} was deleted, and the template has changed since"
        cure = (
            "annotate the cluster with multigres.com/apply-template-update=true to apply its current content"
        )
        return Stall(reasons.CONTENT_LOST, f"{message}; {cure}")
    return None
