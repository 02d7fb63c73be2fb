"""Validates a resolved cluster: reports all problems at once, each with its field and what to do. Pure.

The webhook and the reconcile use the same rules: the reconcile finds problems of objects that bypassed the webhook.
Resolved values are checked, so that a limit in a template and a request in an override are compared with each other;
single fields are checked by the schema.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.kube.objects.quantity import parse_quantity
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import Resources, Storage
from steward.multigres.api.scalars import Unset, is_cell_name
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.backup_schedule import schedule_problems
from steward.multigres.resolution.buffering import buffering_problem
from steward.multigres.resolution.checks.cluster_size import cluster_size, size_problem
from steward.multigres.resolution.checks.name_collisions import name_collisions
from steward.multigres.resolution.checks.per_shard import ShardValue
from steward.multigres.resolution.checks.quantities import resource_problems, volume_problems
from steward.multigres.resolution.checks.repositories import (
    changed_encryption,
    restore_problems,
    shared_repositories,
)
from steward.multigres.resolution.checks.shard_checks import ShardCheck, check_shards, shard_storages
from steward.multigres.resolution.maintenance_window import window_problem
from steward.multigres.resolution.postgres.roles import role_problems
from steward.multigres.resolution.resolve import cell_name
from steward.multigres.resolution.resolved import ResolvedCluster, SpecProblem, managed_etcds

DEFAULT_CLASS = "the default class"


def validate(spec: MultigresClusterSpec, resolved: ResolvedCluster, accepted: int = 0) -> list[SpecProblem]:
    """All problems that keep the operator from applying the cluster. `accepted` is its size before the change.

    A cluster that is too large has no other problem: looking for them would take the time that the limit saves.
    """
    too_large = size_problem(cluster_size(resolved), accepted)
    return cluster_problems(spec, resolved, check_shards(resolved)) if too_large is None else [too_large]


def cluster_problems(
    spec: MultigresClusterSpec, resolved: ResolvedCluster, shards: Sequence[ShardValue[ShardCheck]]
) -> list[SpecProblem]:
    """All problems of a cluster that is not too large; `shards` are the checks of its shards."""
    checks = [each.value for each in shards]
    return [
        *resolved.problems,
        *_invalid_cell_names(spec),
        *_duplicate_cell_names(spec),
        *name_collisions(resolved, (name for check in checks for name in check.names)),
        *_invalid_resources(resolved),
        *(problem for check in checks for problem in check.resources),
        *_empty_volumes(resolved),
        *(problem for check in checks for problem in check.volumes),
        *(problem for check in checks for problem in check.growth),
        *_invalid_buffering(resolved),
        *_invalid_windows(spec),
        *_invalid_schedules(spec),
        *shared_repositories(resolved),
        *restore_problems(spec),
        *role_problems(spec),
        *(problem for check in checks for problem in check.settings),
    ]


def _invalid_cell_names(spec: MultigresClusterSpec) -> Iterator[SpecProblem]:
    """A cell may have the name of its zone, which the schema does not check as a name."""
    for index, entry in enumerate(or_default(spec.cells, [])):
        name = cell_name(entry)
        if not name:
            yield SpecProblem(f"spec.cells[{index}]", "give it a name, a zone or a region")
        elif not is_cell_name(name):
            message = f"{name!r} cannot be a cell's name (lower-case letters, digits, - and _, up to 30); give it one"
            yield SpecProblem(f"spec.cells[{index}].name", message)


def _duplicate_cell_names(spec: MultigresClusterSpec) -> Iterator[SpecProblem]:
    counts = Counter(cell_name(entry) for entry in or_default(spec.cells, []))
    for index, entry in enumerate(or_default(spec.cells, [])):
        name = cell_name(entry)
        if counts[name] > 1:
            yield SpecProblem(
                f"spec.cells[{index}].name",
                f"{name!r} is the name of {counts[name]} cells; give each its own",
            )


def _invalid_resources(resolved: ResolvedCluster) -> Iterator[SpecProblem]:
    for field, resources in _cluster_resources(resolved):
        yield from resource_problems(field, resources)


def _cluster_resources(resolved: ResolvedCluster) -> Iterator[tuple[str, Resources | Unset]]:
    for field, etcd in managed_etcds(resolved):
        yield f"{field}.resources", etcd.resources
    yield "spec.multiadmin.spec.resources", resolved.multiadmin.resources
    yield "spec.multiadminWeb.spec.resources", resolved.multiadmin_web.resources
    for index, cell in enumerate(resolved.cells):
        yield f"spec.cells[{index}].spec.multiGateway.resources", cell.gateway.resources


def _empty_volumes(resolved: ResolvedCluster) -> Iterator[SpecProblem]:
    for _, field, storage in _server_storages(resolved):
        yield from volume_problems(field, storage)


def _invalid_buffering(resolved: ResolvedCluster) -> Iterator[SpecProblem]:
    for index, cell in enumerate(resolved.cells):
        if message := buffering_problem(cell.gateway.buffering):
            yield SpecProblem(f"spec.cells[{index}].spec.multiGateway.buffering", message)


def _invalid_windows(spec: MultigresClusterSpec) -> Iterator[SpecProblem]:
    policy = spec.update_policy
    if policy is not UNSET and policy.window is not UNSET and (message := window_problem(policy.window)):
        yield SpecProblem("spec.updatePolicy.window", message)


def _invalid_schedules(spec: MultigresClusterSpec) -> Iterator[SpecProblem]:
    """At the level that sets a field: what many shards inherit is one problem."""
    for path, backup in _declared_backups(spec):
        if backup is not UNSET:
            for field, message in schedule_problems(backup):
                yield SpecProblem(f"{path}.backup.{field}", message)


def _declared_backups(spec: MultigresClusterSpec) -> Iterator[tuple[str, Backup | Unset]]:
    yield "spec", spec.backup
    for database_index, database in enumerate(or_default(spec.databases, [])):
        in_database = f"spec.databases[{database_index}]"
        yield in_database, database.backup
        for group_index, group in enumerate(or_default(database.tablegroups, [])):
            in_group = f"{in_database}.tablegroups[{group_index}]"
            yield in_group, group.backup
            for shard_index, shard in enumerate(or_default(group.shards, [])):
                yield f"{in_group}.shards[{shard_index}]", shard.backup


def validate_update(old: ResolvedCluster, new: ResolvedCluster) -> list[SpecProblem]:
    """Changes that a running cluster does not support, at whatever level they are made."""
    return [
        *_changed_etcd_replicas(old, new),
        *_shrunk_volumes(old, new),
        *_changed_storage_classes(old, new),
        *changed_encryption(old, new),
    ]


def _changed_etcd_replicas(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[SpecProblem]:
    before = {server.owner: server.replicas for server in _etcd_servers(old)}
    for owner, field, replicas in _etcd_servers(new):
        if owner in before and before[owner] != replicas:
            message = (
                f"cannot change from {before[owner]} to {replicas}: the members of a running etcd are fixed"
            )
            yield SpecProblem(f"{field}.replicas", message)


class EtcdServer(NamedTuple):
    """A topology server that the operator runs; its owner is "" or a cell: positions in lists may change."""

    owner: str
    field: str
    replicas: int


def _etcd_servers(resolved: ResolvedCluster) -> Iterator[EtcdServer]:
    built_in = or_default(defaults.ETCD.replicas, 0)
    if resolved.topo.etcd is not None:
        field = "spec.globalTopoServer.etcd"
        yield EtcdServer("", field, or_default(resolved.topo.etcd.replicas, built_in))
    for index, cell in enumerate(resolved.cells):
        if cell.local_topo is not None and cell.local_topo.etcd is not UNSET:
            field = f"spec.cells[{index}].spec.localTopoServer.etcd"
            yield EtcdServer(cell.name, field, or_default(cell.local_topo.etcd.replicas, built_in))


class VolumeSize(NamedTuple):
    """Size of a volume, identified by its owner: positions in lists may change."""

    owner: tuple[str, ...]
    field: str
    size: str | int


def _shrunk_volumes(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[SpecProblem]:
    before = {each.owner: each.size for each in _sizes(old)}
    for owner, field, size in _sizes(new):
        if owner in before and parse_quantity(size) < parse_quantity(before[owner]):
            message = f"cannot shrink from {before[owner]} to {size}: a volume only grows"
            yield SpecProblem(field, message)


def _changed_storage_classes(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[SpecProblem]:
    """Existing volumes would stay in the old class for ever, and no status would say so."""
    before = {owner: _class_of(storage) for owner, _, storage in _storages(old)}
    for owner, field, storage in _storages(new):
        if owner in before and before[owner] != _class_of(storage):
            change = f"from {before[owner] or DEFAULT_CLASS} to {_class_of(storage) or DEFAULT_CLASS}"
            message = f"cannot change {change}: the volumes exist already; {_class_cure(owner)}"
            yield SpecProblem(f"{field}.storage.class", message)


def _class_of(storage: Storage | Unset) -> str:
    return "" if storage is UNSET else or_default(storage.storage_class, "")


def _class_cure(owner: tuple[str, ...]) -> str:
    is_pool = owner[3:4] == ("pool",)
    return "add a pool with the other class and remove this one" if is_pool else "keep the class"


def _sizes(resolved: ResolvedCluster) -> Iterator[VolumeSize]:
    for owner, field, storage in _storages(resolved):
        if storage is not UNSET and storage.size is not UNSET:
            yield VolumeSize(owner, f"{field}.storage.size", storage.size)


def _storages(resolved: ResolvedCluster) -> Iterator[tuple[tuple[str, ...], str, Storage | Unset]]:
    yield from _server_storages(resolved)
    for located in resolved.shards():
        yield from shard_storages(located)


def _server_storages(resolved: ResolvedCluster) -> Iterator[tuple[tuple[str, ...], str, Storage | Unset]]:
    """Those of topology servers."""
    if resolved.topo.etcd is not None:
        yield ("global topology server",), "spec.globalTopoServer.etcd", resolved.topo.etcd.storage
    for index, cell in enumerate(resolved.cells):
        if cell.local_topo is not None and cell.local_topo.etcd is not UNSET:
            field = f"spec.cells[{index}].spec.localTopoServer.etcd"
            yield ("cell", cell.name), field, cell.local_topo.etcd.storage
