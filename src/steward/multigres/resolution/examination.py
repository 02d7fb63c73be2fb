"""Resolves a new or changed cluster beside its previous spec, and validates the change. Pure."""

from typing import NamedTuple

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.checks.cluster_size import cluster_size, least_size, size_problem
from steward.multigres.resolution.durability import lost_durability
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, SpecProblem, Templates
from steward.multigres.resolution.validation import validate, validate_update


class ClusterChange(NamedTuple):
    """`previous` is None for a new cluster; `is_forced` if a user lets servers go that the durability policy needs."""

    identity: ClusterIdentity
    previous: MultigresClusterSpec | None
    spec: MultigresClusterSpec
    is_forced: bool = False


class Examination(NamedTuple):
    """`resolved` is None if the cluster is too large to be resolved."""

    previous: ResolvedCluster | None
    resolved: ResolvedCluster | None
    problems: list[SpecProblem]


def is_too_large(change: ClusterChange, templates: Templates) -> bool:
    """Whether `examine` will find nothing but its size. Cheaper than that: no names are derived."""
    accepted = _accepted(_previous(change, templates))
    if size_problem(least_size(change.spec), accepted) is not None:
        return True
    resolved = resolve(change.identity, change.spec, templates)
    return size_problem(cluster_size(resolved), accepted) is not None


def _previous(change: ClusterChange, templates: Templates) -> ResolvedCluster | None:
    return None if change.previous is None else resolve(change.identity, change.previous, templates)


def _accepted(previous: ResolvedCluster | None) -> int:
    return 0 if previous is None else cluster_size(previous).components


def examine(change: ClusterChange, templates: Templates) -> Examination:
    """The size is checked first: the time for everything else depends on it."""
    before = _previous(change, templates)
    accepted = _accepted(before)
    too_large = size_problem(least_size(change.spec), accepted)
    if too_large is not None:
        return Examination(before, None, [too_large])
    resolved = resolve(change.identity, change.spec, templates)
    unsupported = [] if before is None or before.problems else _unsupported(change, before, resolved)
    return Examination(before, resolved, [*validate(change.spec, resolved, accepted), *unsupported])


def _unsupported(
    change: ClusterChange, before: ResolvedCluster, resolved: ResolvedCluster
) -> list[SpecProblem]:
    durability = () if change.is_forced else lost_durability(before, resolved)
    return [*validate_update(before, resolved), *durability]
