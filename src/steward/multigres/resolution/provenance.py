"""Origin of each resolved value of a cluster: built in, from a template, or from the cluster's spec. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import DatabaseEntry, MultigresClusterSpec, ShardEntry, TableGroupEntry
from steward.multigres.api.compute import Pool, PvcDeletionPolicy
from steward.multigres.api.postgres import PostgresConfig
from steward.multigres.api.scalars import ApiStruct, Unset
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.layers import BUILT_IN, Path
from steward.multigres.resolution.postgres.conf_format import parse_settings
from steward.multigres.resolution.postgres.memory import pool_memory, pool_settings
from steward.multigres.resolution.postgres.settings import inline_settings
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster


class ValueOrigin(NamedTuple):
    """A value, its path as users write it, and the level that it comes from."""

    path: str
    value: Any
    source: str


def value_origins(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[ValueOrigin]:
    return [*_core(spec, resolved), *_cells(resolved), *_shards(spec, resolved)]


def _core(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Iterator[ValueOrigin]:
    yield from _field_origins(resolved.images, ("images",), "images", resolved.origins)
    if resolved.topo.etcd is not None:
        etcd = msgspec.structs.replace(resolved.topo.etcd, pvc_deletion_policy=UNSET)
        yield from _field_origins(
            etcd, ("globalTopoServer", "etcd"), "globalTopoServer.etcd", resolved.origins
        )
        policies = _topo_policies(spec)
        yield from _policy_origins("globalTopoServer.etcd.pvcDeletionPolicy", resolved.topo.etcd, policies)
    else:
        source = _source(resolved.origins, ("globalTopoServer",), "spec.globalTopoServer.external")
        yield ValueOrigin("globalTopoServer.external.endpoints", resolved.topo.reference.address, source)
    yield from _field_origins(resolved.multiadmin, ("multiadmin",), "multiadmin", resolved.origins)
    yield from _field_origins(resolved.multiadmin_web, ("multiadminWeb",), "multiadminWeb", resolved.origins)


def _topo_policies(spec: MultigresClusterSpec) -> list[tuple[str, PvcDeletionPolicy | Unset]]:
    server = spec.global_topo_server
    if server is UNSET:
        return [("spec", spec.pvc_deletion_policy)]
    etcd = UNSET if server.etcd is UNSET else server.etcd.pvc_deletion_policy
    return [
        ("spec.globalTopoServer.etcd", etcd),
        ("spec.globalTopoServer", server.pvc_deletion_policy),
        ("spec", spec.pvc_deletion_policy),
    ]


def _cells(resolved: ResolvedCluster) -> Iterator[ValueOrigin]:
    for cell in resolved.cells:
        path, wire = ("cells", cell.name), f"cells[{cell.name}]"
        yield from _field_origins(
            cell.gateway, (*path, "multi_gateway"), f"{wire}.multiGateway", resolved.origins
        )
        if cell.local_topo is not None:
            source = _source(resolved.origins, (*path, "local_topo_server"))
            yield ValueOrigin(f"{wire}.localTopoServer", msgspec.to_builtins(cell.local_topo), source)


def _shards(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Iterator[ValueOrigin]:
    for located in resolved.shards():
        path = ("databases", located.database.name, located.group.name, located.shard.name)
        wire = str(located.field).removeprefix("spec.")
        orchestrator = located.shard.multiorch
        if orchestrator is not UNSET:
            yield from _field_origins(
                orchestrator, (*path, "multiorch"), f"{wire}.multiorch", resolved.origins
            )
        if located.shard.postgres is not UNSET:
            yield from _field_origins(
                located.shard.postgres, (*path, "postgres"), f"{wire}.postgres", resolved.origins
            )
        for name, pool in located.pools.items():
            without_policy = msgspec.structs.replace(pool, pvc_deletion_policy=UNSET)
            yield from _field_origins(
                without_policy, (*path, "pools", name), f"{wire}.pools[{name}]", resolved.origins
            )
        levels = _levels(spec, located)
        policies = [(name, getattr(entry, "pvc_deletion_policy", UNSET)) for name, entry in levels]
        yield from _policy_origins(
            f"{wire}.pvcDeletionPolicy", located.shard, [*_policy_layers(resolved, path), *policies]
        )
        yield from _backup_origin(f"{wire}.backup", located, levels)


Level = MultigresClusterSpec | DatabaseEntry | TableGroupEntry | ShardEntry


def _levels(spec: MultigresClusterSpec, located: LocatedShard) -> list[tuple[str, Level]]:
    """The levels that the user wrote, from the shard up to the cluster."""
    field = located.field
    levels: list[tuple[str, Level]] = [("spec", spec)]
    for database in or_default(spec.databases, []):
        if database.name != located.database.name:
            continue
        levels.insert(0, (field.split(".tablegroups")[0], database))
        for group in or_default(database.tablegroups, []):
            if group.name == located.group.name:
                levels.insert(0, (field.split(".shards")[0], group))
                written = [
                    shard for shard in or_default(group.shards, []) if shard.name == located.shard.name
                ]
                levels[:0] = [(field, shard) for shard in written]
    return levels


def _policy_layers(resolved: ResolvedCluster, path: Path) -> list[tuple[str, PvcDeletionPolicy | Unset]]:
    """Policy fields of an inline spec, an override or a template, each as a level of its own."""
    below = (*path, "pvc_deletion_policy")
    return [
        (source, msgspec.structs.replace(PvcDeletionPolicy(), **{origin[-1]: "Retain"}))
        for origin, source in resolved.origins.items()
        if origin[:-1] == below
    ]


def _policy_origins(
    path: str, holder: Any, levels: list[tuple[str, PvcDeletionPolicy | Unset]]
) -> Iterator[ValueOrigin]:
    """Both fields of a policy, each from the nearest level that sets it."""
    policy = holder.pvc_deletion_policy
    if policy is UNSET:
        return
    for field, wire in (("when_deleted", "whenDeleted"), ("when_scaled", "whenScaled")):
        sources = (
            name for name, each in levels if isinstance(each, ApiStruct) and getattr(each, field) is not UNSET
        )
        yield ValueOrigin(f"{path}.{wire}", getattr(policy, field), next(sources, BUILT_IN))


def _backup_origin(
    path: str, located: LocatedShard, levels: list[tuple[str, Level]]
) -> Iterator[ValueOrigin]:
    backup: Backup | Unset = located.shard.backup
    if backup is UNSET:
        return
    sources = (name for name, each in levels if getattr(each, "backup", UNSET) is not UNSET)
    source = next(sources, BUILT_IN)
    yield ValueOrigin(path, msgspec.to_builtins(backup), source)


def memory_origins(resolved: ResolvedCluster) -> list[ValueOrigin]:
    """Postgres settings that follow from the memory of the pods, without those that the spec sets itself. Apart from
    the other values: clusters with pods of an older version do not have them."""
    return [origin for located in resolved.shards() for origin in _memory_origins(located)]


def _memory_origins(located: LocatedShard) -> Iterator[ValueOrigin]:
    shard, wire = located.shard, str(located.field).removeprefix("spec.")
    written = inline_settings(shard.postgres)
    for name, pool in located.pools.items():
        source = _memory_source(pool, shard.postgres_config_ref)
        for setting, value in pool_settings(pool, written).items():
            if setting not in parse_settings(written):
                yield ValueOrigin(f"{wire}.postgres.settings.{setting} (pool {name})", value, source)


def _memory_source(pool: Pool, reference: PostgresConfig | Unset) -> str:
    memory = pool_memory(pool)
    if memory is None:
        return BUILT_IN
    source = f"{BUILT_IN}, by postgres.{memory.field}.memory {memory.written}"
    return source if reference is UNSET else f"{source}, unless ConfigMap {reference.name} sets it"


def _field_origins(
    part: ApiStruct, path: Path, wire: str, origins: Mapping[Path, str]
) -> Iterator[ValueOrigin]:
    """Every field of a struct that is set, down to values that are replaced as a whole."""
    for field, name in zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True):
        value = getattr(part, field)
        if value is UNSET:
            continue
        here = (*path, field)
        is_divided = here not in origins and any(other[: len(here)] == here for other in origins)
        if isinstance(value, ApiStruct) and is_divided:
            yield from _field_origins(value, here, f"{wire}.{name}", origins)
        elif isinstance(value, dict) and is_divided:
            yield from _entry_origins(value, here, f"{wire}.{name}", origins)
        else:
            yield ValueOrigin(f"{wire}.{name}", msgspec.to_builtins(value), _source(origins, here))


def _entry_origins(
    entries: Mapping[str, Any], path: Path, wire: str, origins: Mapping[Path, str]
) -> Iterator[ValueOrigin]:
    """Entries that levels merge one by one, such as Postgres settings."""
    for key, entry in sorted(entries.items()):
        yield ValueOrigin(f"{wire}.{key}", msgspec.to_builtins(entry), _source(origins, (*path, key)))


def _source(origins: Mapping[Path, str], path: Path, default: str = BUILT_IN) -> str:
    for length in range(len(path), 0, -1):
        if path[:length] in origins:
            return origins[path[:length]]
    return default
