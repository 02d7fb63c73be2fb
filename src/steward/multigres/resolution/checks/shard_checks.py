"""What can be wrong with one shard on its own, and the names of its objects. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.compute import Resources, Storage
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.autogrow import growth_problem
from steward.multigres.resolution.checks.name_collisions import PlannedName, planned_shard_names
from steward.multigres.resolution.checks.per_shard import ShardValue, shard_values
from steward.multigres.resolution.checks.quantities import resource_problems, volume_problems
from steward.multigres.resolution.postgres.settings import setting_problems
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster, SpecProblem


class ShardCheck(NamedTuple):
    resources: tuple[SpecProblem, ...]
    volumes: tuple[SpecProblem, ...]
    growth: tuple[SpecProblem, ...]
    settings: tuple[SpecProblem, ...]
    names: tuple[PlannedName, ...]


def check_shards(
    resolved: ResolvedCluster, known: Iterable[ShardValue[ShardCheck]] = ()
) -> list[ShardValue[ShardCheck]]:
    cluster = resolved.identity.name
    return shard_values(resolved, lambda located: _check(cluster, located), known)


def _check(cluster: str, located: LocatedShard) -> ShardCheck:
    return ShardCheck(
        tuple(
            problem
            for field, resources in _resources(located)
            for problem in resource_problems(field, resources)
        ),
        tuple(
            problem
            for _, field, storage in shard_storages(located)
            for problem in volume_problems(field, storage)
        ),
        tuple(_invalid_growth(located)),
        tuple(_invalid_settings(located)),
        tuple(planned_shard_names(cluster, located)),
    )


def _resources(located: LocatedShard) -> Iterator[tuple[str, Resources | Unset]]:
    if located.shard.multiorch is not UNSET:
        yield f"{located.field}.multiorch.resources", located.shard.multiorch.resources
    for name, pool in located.pools.items():
        yield f"{located.field}.pools[{name}].postgres", pool.postgres
        yield f"{located.field}.pools[{name}].multipooler", pool.multipooler


def _invalid_growth(located: LocatedShard) -> Iterator[SpecProblem]:
    for name, pool in located.pools.items():
        problem = "" if pool.storage is UNSET else growth_problem(pool.storage)
        if problem:
            yield SpecProblem(f"{located.field}.pools[{name}].storage.autogrow", problem)


def _invalid_settings(located: LocatedShard) -> Iterator[SpecProblem]:
    for name, problem in setting_problems(located.shard.postgres):
        yield SpecProblem(f"{located.field}.postgres.settings[{name}]", problem)


def shard_storages(located: LocatedShard) -> Iterator[tuple[tuple[str, ...], str, Storage | Unset]]:
    """The owner of each volume, as in `validation`, its field and its storage."""
    path = (located.database.name, located.group.name, located.shard.name)
    for name, pool in located.pools.items():
        yield (*path, "pool", name), f"{located.field}.pools[{name}]", pool.storage
    backup = or_default(located.shard.backup, defaults.BACKUP)
    if backup.type == "filesystem" and backup.filesystem is not UNSET:
        yield (*path, "backup"), f"{located.field}.backup.filesystem", backup.filesystem.storage
