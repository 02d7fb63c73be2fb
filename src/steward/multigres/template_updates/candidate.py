"""Resolves and validates a cluster on given contents of its templates. Pure."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.api.unset import or_default
from steward.multigres.api.updates import UpdatePolicy
from steward.multigres.objects.versions import NEWEST
from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.resolution.checks.cluster_size import (
    ShardSize,
    cluster_size,
    shard_sizes,
    size_problem,
)
from steward.multigres.resolution.checks.per_shard import ShardValue
from steward.multigres.resolution.checks.shard_checks import ShardCheck, check_shards
from steward.multigres.resolution.maintenance_window import is_open, next_opening, window_problem
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, SpecProblem, Templates
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.resolution.validation import cluster_problems
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision

AUTO, MANUAL, WINDOW = "Auto", "Manual", "Window"
BEING_DELETED = "is being deleted; name another"

TEMPLATE_SPECS: Mapping[str, type[Any]] = {
    "CoreTemplate": CoreTemplateSpec,
    "CellTemplate": CellTemplateSpec,
    "ShardTemplate": ShardTemplateSpec,
}
TemplateContents = Mapping[TemplateKey, TemplateContent]


class UpdateInputs(NamedTuple):
    """Inputs of a decision. `reported_generations` are those of the previous status, None before the first."""

    identity: ClusterIdentity
    spec: MultigresClusterSpec
    live: TemplateContents
    terminating: frozenset[TemplateKey]
    revisions: tuple[TemplateRevision, ...]
    reported_generations: Mapping[str, int] | None
    annotations: Mapping[str, str]
    now: datetime.datetime
    accepted_components: int = 0
    """The size up to which the cluster was accepted before."""
    objects_version: int = NEWEST
    """The version of the pods of the cluster."""

    @property
    def pending_objects_version(self) -> int:
        """The version of the pods that the cluster may move to; 0 if it has the newest."""
        return NEWEST if self.objects_version < NEWEST else 0

    @property
    def policy(self) -> UpdatePolicy:
        return or_default(self.spec.update_policy, UpdatePolicy())

    @property
    def mode(self) -> str:
        return or_default(self.policy.template_changes, AUTO)

    @property
    def window_is_open(self) -> bool:
        window = self.policy.window
        return window is not UNSET and not window_problem(window) and is_open(window, self.now)

    @property
    def next_window(self) -> datetime.datetime | None:
        """When the next window opens; None without a valid window."""
        window = self.policy.window
        if self.mode != WINDOW or window is UNSET or window_problem(window):
            return None
        return next_opening(window, self.now)


class Candidate(NamedTuple):
    """A cluster resolved on given contents, its problems and its size, and what was found about each of its shards."""

    resolved: ResolvedCluster
    problems: list[SpecProblem]
    components: int
    sizes: Sequence[ShardValue[ShardSize]] = ()
    checks: Sequence[ShardValue[ShardCheck]] = ()


def resolve_candidate(
    inputs: UpdateInputs, contents: TemplateContents, previous: Candidate | None = None
) -> Candidate:
    """A template that cannot be decoded is only a problem if the cluster uses it. `previous` is an earlier candidate of
    this cluster: what is known about its unchanged shards is not computed again."""
    typed: dict[str, dict[str, Any]] = {kind: {} for kind in TEMPLATE_SPECS}
    unusable = {(key.kind, key.name): BEING_DELETED for key in inputs.terminating if key not in contents}
    for key, content in contents.items():
        try:
            typed[key.kind][key.name] = msgspec.convert(content.spec, TEMPLATE_SPECS[key.kind])
        except msgspec.ValidationError as error:
            unusable[key.kind, key.name] = f"cannot be read: {error}"
    templates = Templates(typed["CoreTemplate"], typed["CellTemplate"], typed["ShardTemplate"], unusable)
    before = None if previous is None else previous.resolved
    resolved = resolve(inputs.identity, inputs.spec, templates, before)
    return examine(inputs.spec, resolved, inputs.accepted_components, previous)


def examine(
    spec: MultigresClusterSpec,
    resolved: ResolvedCluster,
    accepted: int = 0,
    previous: Candidate | None = None,
) -> Candidate:
    sizes = shard_sizes(resolved, () if previous is None else previous.sizes)
    size = cluster_size(resolved, sizes)
    too_large = size_problem(size, accepted)
    if too_large is not None:
        return Candidate(resolved, [too_large], size.components, sizes)
    checks = check_shards(resolved, () if previous is None else previous.checks)
    problems = cluster_problems(spec, resolved, checks)
    return Candidate(resolved, problems, size.components, sizes, checks)


def used_templates(resolved: ResolvedCluster) -> list[TemplateKey]:
    return [TemplateKey(kind, name) for kind, names in resolved.templates.items() for name in names]


def describe_problems(problems: Sequence[SpecProblem]) -> str:
    return "; ".join(first_texts([f"{problem.field}: {problem.message}" for problem in problems], "problems"))
