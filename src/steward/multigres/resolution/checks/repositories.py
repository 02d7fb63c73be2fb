"""Backup repositories: where each database has its own, and what must not share one. Pure.

A server restores the newest backup of its repository and archives into the same one. Two databases with one repository,
of the same or of two clusters, would restore each other's data.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import Pool
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolved import ResolvedCluster, SpecProblem


class ObjectLocation(NamedTuple):
    """A repository in an object store."""

    endpoint: str
    bucket: str
    prefix: str


def object_location(backup: Backup) -> ObjectLocation | None:
    """None for a repository on a volume, which no other cluster can name."""
    if backup.type != "s3" or backup.s3 is UNSET:
        return None
    s3 = backup.s3
    return ObjectLocation(or_default(s3.endpoint, ""), s3.bucket, or_default(s3.key_prefix, "").strip("/"))


def describe_repository(backup: Backup) -> str:
    location = object_location(backup)
    if location is None:
        return f"volume at {mount_path(backup)}"
    path = "/".join(part for part in (location.bucket, location.prefix) if part)
    return f"s3://{path}" + (f" at {location.endpoint}" if location.endpoint else "")


def mount_path(backup: Backup) -> str:
    filesystem = backup.filesystem
    return "/backups" if filesystem is UNSET else or_default(filesystem.path, "/backups")


READ_WRITE_MANY = "ReadWriteMany"


def is_shared_volume(backup: Backup) -> bool:
    """Whether servers on any node, so in any cell, can mount the volume of a repository."""
    return READ_WRITE_MANY in _access_modes(backup)


def is_served_volume(backup: Backup) -> bool:
    """Whether a pod of its own mounts the volume of a repository and serves it to the servers: the pods of one cell may
    run on several nodes, and only one node can mount it. Certificates of the user exclude it: they name only the
    servers."""
    return backup.type == "filesystem" and not is_shared_volume(backup) and backup.pgbackrest_tls is UNSET


def _access_modes(backup: Backup) -> list[str]:
    if backup.type != "filesystem" or backup.filesystem is UNSET or backup.filesystem.storage is UNSET:
        return []
    return list(or_default(backup.filesystem.storage.access_modes, []))


def shard_cells(pools: Mapping[str, Pool]) -> list[str]:
    """The cells in which a shard has servers."""
    return sorted({cell for pool in pools.values() for cell in or_default(pool.cells, [])})


def object_locations(resolved: ResolvedCluster) -> dict[str, ObjectLocation]:
    """The repositories of a cluster in object stores, by database."""
    found = {database.name: object_location(database.backup) for database in resolved.databases}
    return {name: location for name, location in found.items() if location is not None}


def shared_repositories(resolved: ResolvedCluster) -> Iterator[SpecProblem]:
    """Databases that name the same repository themselves."""
    owners: dict[ObjectLocation, str] = {}
    for database, location in object_locations(resolved).items():
        if location in owners:
            message = f"database {owners[location]} has the same repository: give each its own keyPrefix"
            yield SpecProblem(f"spec.databases[{database}].backup.s3.keyPrefix", message)
        owners.setdefault(location, database)


def changed_encryption(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[SpecProblem]:
    before = {database.name: database.backup for database in old.databases}
    for database in new.databases:
        backup, previous = database.backup, before.get(database.name)
        if previous is None or describe_repository(previous) != describe_repository(backup):
            continue
        if (previous.encryption is UNSET) != (backup.encryption is UNSET):
            message = "a repository is encrypted from its first backup on, or never: name another one with this change"
            yield SpecProblem(f"spec.databases[{database.name}].backup.encryption", message)


def with_restored_repository(spec: MultigresClusterSpec) -> MultigresClusterSpec:
    """The spec with the repository of `restore` as its backup, if it names none itself."""
    backup = restored_repository(spec)
    return spec if backup is None or spec.backup is not UNSET else replace(spec, backup=backup)


def restored_repository(spec: MultigresClusterSpec) -> Backup | None:
    """The repository that `restore` describes; None if it only names a MultigresBackup."""
    source = UNSET if spec.restore is UNSET else spec.restore.source
    if source is UNSET:
        return None
    if source.s3 is not UNSET:
        return Backup(type="s3", s3=source.s3)
    if source.filesystem is not UNSET:
        return Backup(type="filesystem", filesystem=source.filesystem)
    return None


def defaulted_backup(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The default of `spec.backup` as the webhook writes it."""
    source = ((spec.get("restore") or {}).get("from")) or {}
    for kind in ("s3", "filesystem"):
        if kind in source:
            return {"type": kind, kind: source[kind]}
    built_in: dict[str, Any] = msgspec.to_builtins(defaults.BACKUP)
    return built_in


def restore_problems(spec: MultigresClusterSpec) -> Iterator[SpecProblem]:
    """A server cannot restore from another repository than the one that it archives into."""
    source = restored_repository(spec)
    if source is None or spec.backup is UNSET:
        return
    wanted, given = describe_repository(source), describe_repository(spec.backup)
    if wanted != given:
        message = (
            f"{wanted} is not the repository of spec.backup, {given}: servers restore from the repository that they"
            " archive into; give both the same, or leave spec.backup out"
        )
        yield SpecProblem("spec.restore.from", message)
