"""Where each resolved value of a cluster came from: built in, from a template, or from the cluster itself. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import DatabaseEntry, MultigresClusterSpec, ShardEntry, TableGroupEntry
from steward.multigres.api.compute import PvcDeletionPolicy
from steward.multigres.api.scalars import Part, Unset
from steward.multigres.resolution.layers import Path, given
from steward.multigres.resolution.resolve import BUILT_IN
from steward.multigres.resolution.resolved import ResolvedCluster, ShardInPlace


class Explained(NamedTuple):
    """One value, by the path that a user would write, and who said so."""

    path: str
    value: Any
    source: str


def explain(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[Explained]:
    return [*_core(spec, resolved), *_cells(resolved), *_shards(spec, resolved)]


def _core(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Iterator[Explained]:
    yield from _walk(resolved.images, ("images",), "images", resolved.origins)
    if resolved.topo.etcd is not None:
        etcd = msgspec.structs.replace(resolved.topo.etcd, pvc_deletion_policy=UNSET)
        yield from _walk(etcd, ("globalTopoServer", "etcd"), "globalTopoServer.etcd", resolved.origins)
        policies = _own_policies(spec)
        yield from _inherited("globalTopoServer.etcd.pvcDeletionPolicy", resolved.topo.etcd, policies)
    else:
        source = _source(resolved.origins, ("globalTopoServer",), "spec.globalTopoServer.external")
        yield Explained("globalTopoServer.external.endpoints", resolved.topo.reference.address, source)
    yield from _walk(resolved.multiadmin, ("multiadmin",), "multiadmin", resolved.origins)
    yield from _walk(resolved.multiadmin_web, ("multiadminWeb",), "multiadminWeb", resolved.origins)


def _own_policies(spec: MultigresClusterSpec) -> list[tuple[str, PvcDeletionPolicy | Unset]]:
    own = spec.global_topo_server
    if own is UNSET:
        return [("spec", spec.pvc_deletion_policy)]
    etcd = UNSET if own.etcd is UNSET else own.etcd.pvc_deletion_policy
    return [
        ("spec.globalTopoServer.etcd", etcd),
        ("spec.globalTopoServer", own.pvc_deletion_policy),
        ("spec", spec.pvc_deletion_policy),
    ]


def _cells(resolved: ResolvedCluster) -> Iterator[Explained]:
    for cell in resolved.cells:
        path, wire = ("cells", cell.name), f"cells[{cell.name}]"
        yield from _walk(cell.gateway, (*path, "multi_gateway"), f"{wire}.multiGateway", resolved.origins)
        if cell.local_topo is not None:
            source = _source(resolved.origins, (*path, "local_topo_server"))
            yield Explained(f"{wire}.localTopoServer", msgspec.to_builtins(cell.local_topo), source)


def _shards(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Iterator[Explained]:
    for known in resolved.shards():
        path = ("databases", known.database.name, known.group.name, known.shard.name)
        wire = str(known.field).removeprefix("spec.")
        orchestrator = known.shard.multiorch
        if orchestrator is not UNSET:
            yield from _walk(orchestrator, (*path, "multiorch"), f"{wire}.multiorch", resolved.origins)
        for name, pool in known.pools.items():
            plain = msgspec.structs.replace(pool, pvc_deletion_policy=UNSET)
            yield from _walk(plain, (*path, "pools", name), f"{wire}.pools[{name}]", resolved.origins)
        levels = _levels(spec, known)
        policies = [(name, getattr(entry, "pvc_deletion_policy", UNSET)) for name, entry in levels]
        yield from _inherited(f"{wire}.pvcDeletionPolicy", known.shard, [*_laid(resolved, path), *policies])
        yield from _backup(f"{wire}.backup", known, levels)


Level = MultigresClusterSpec | DatabaseEntry | TableGroupEntry | ShardEntry


def _levels(spec: MultigresClusterSpec, known: ShardInPlace) -> list[tuple[str, Level]]:
    """From the shard up to the cluster, as far as the user wrote them."""
    field = known.field
    levels: list[tuple[str, Level]] = [("spec", spec)]
    for database in given(spec.databases, []):
        if database.name != known.database.name:
            continue
        levels.insert(0, (field.split(".tablegroups")[0], database))
        for group in given(database.tablegroups, []):
            if group.name == known.group.name:
                levels.insert(0, (field.split(".shards")[0], group))
                own = [shard for shard in given(group.shards, []) if shard.name == known.shard.name]
                levels[:0] = [(field, shard) for shard in own]
    return levels


def _laid(resolved: ResolvedCluster, path: Path) -> list[tuple[str, PvcDeletionPolicy | Unset]]:
    """What an inline spec, an override or a template says of the policy, as if each field were a level."""
    below = (*path, "pvc_deletion_policy")
    return [
        (source, msgspec.structs.replace(PvcDeletionPolicy(), **{known[-1]: "Retain"}))
        for known, source in resolved.origins.items()
        if known[:-1] == below
    ]


def _inherited(
    path: str, holder: Any, levels: list[tuple[str, PvcDeletionPolicy | Unset]]
) -> Iterator[Explained]:
    """A policy's two fields, each from the nearest level that sets it."""
    policy = holder.pvc_deletion_policy
    if policy is UNSET:
        return
    for field, wire in (("when_deleted", "whenDeleted"), ("when_scaled", "whenScaled")):
        sources = (
            name for name, each in levels if isinstance(each, Part) and getattr(each, field) is not UNSET
        )
        yield Explained(f"{path}.{wire}", getattr(policy, field), next(sources, BUILT_IN))


def _backup(path: str, known: ShardInPlace, levels: list[tuple[str, Level]]) -> Iterator[Explained]:
    backup: Backup | Unset = known.shard.backup
    if backup is UNSET:
        return
    sources = (name for name, each in levels if getattr(each, "backup", UNSET) is not UNSET)
    source = next(sources, BUILT_IN)
    yield Explained(path, msgspec.to_builtins(backup), source)


def _walk(part: Part, path: Path, wire: str, origins: Mapping[Path, str]) -> Iterator[Explained]:
    """Every value of a part that is set, down to what is replaced as a whole."""
    for field, name in zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True):
        value = getattr(part, field)
        if value is UNSET:
            continue
        here = (*path, field)
        is_divided = here not in origins and any(known[: len(here)] == here for known in origins)
        if isinstance(value, Part) and is_divided:
            yield from _walk(value, here, f"{wire}.{name}", origins)
        else:
            yield Explained(f"{wire}.{name}", msgspec.to_builtins(value), _source(origins, here))


def _source(origins: Mapping[Path, str], path: Path, otherwise: str = BUILT_IN) -> str:
    for length in range(len(path), 0, -1):
        if path[:length] in origins:
            return origins[path[:length]]
    return otherwise
