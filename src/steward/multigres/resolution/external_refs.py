"""What a cluster names and does not bring itself: storage classes and Secrets. Pure.

What is missing is never refused, since it may come a moment later in the same `kubectl apply`; it is told by name.
The Secret with credentials of an object store is not among them: only the kubelet ever looks at that one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.meta import HasMetadata
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import Storage
from steward.multigres.api.scalars import Unset
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import PLACEMENTS_SKIPPED, Piece

REFERENCES_FOUND = "ReferencesFound"
IS_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class Missing(NamedTuple):
    """Something that is named, or needed without a name, and not there."""

    reason: str
    message: str


def storage_classes(resolved: ResolvedCluster) -> dict[str, str]:
    """The classes asked for, each with a field that asks for it; "" stands for the default one."""
    return {given(storage.storage_class, ""): field for field, storage in reversed(list(_storages(resolved)))}


def _storages(resolved: ResolvedCluster) -> Iterator[tuple[str, Storage]]:
    etcd = resolved.topo.etcd
    if etcd is not None:
        yield "spec.globalTopoServer.etcd.storage", _storage(etcd.storage)
    for known in resolved.shards():
        for name, pool in known.pools.items():
            yield f"{known.field}.pools[{name}].storage", _storage(pool.storage)
        backup = given(known.shard.backup, defaults.BACKUP)
        if backup.type == "filesystem" and backup.filesystem is not UNSET:
            yield f"{known.field}.backup.filesystem.storage", _storage(backup.filesystem.storage)


def _storage(storage: Storage | Unset) -> Storage:
    return Storage() if storage is UNSET else storage


def secrets(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> dict[str, str]:
    """The Secrets that Steward itself needs of the user, each with the field that names it."""
    named: dict[str, str] = {}
    external = resolved.topo.external
    if external is not None:
        _name(named, external.ca_secret, "spec.globalTopoServer.external.caSecret")
        _name(named, external.client_cert_secret, "spec.globalTopoServer.external.clientCertSecret")
    if spec.postgres_password_secret_ref is not UNSET:
        named[spec.postgres_password_secret_ref.name] = "spec.postgresPasswordSecretRef.name"
    return named


def _name(named: dict[str, str], secret: str | Unset, field: str) -> None:
    if secret is not UNSET:
        named[secret] = field


def missing_classes(asked: Mapping[str, str], present: Iterable[HasMetadata]) -> list[Missing]:
    known = {seen.metadata.name: seen.metadata.annotations for seen in present}
    found = []
    for name, field in sorted(asked.items()):
        if name and name not in known:
            told = f"{field}: StorageClass {name} does not exist; create it or name another"
            found.append(Missing(reasons.STORAGE_CLASS_NOT_FOUND, told))
        elif not name and not any(each.get(IS_DEFAULT_CLASS) == "true" for each in known.values()):
            told = f"{field}: no class is given and the cluster has no default StorageClass; name one"
            found.append(Missing(reasons.STORAGE_CLASS_NOT_FOUND, told))
    return found


def missing_secrets(absent: Mapping[str, str]) -> list[Missing]:
    return [
        Missing(reasons.SECRET_NOT_FOUND, f"{field}: Secret {name} does not exist; create it")
        for name, field in sorted(absent.items())
    ]


def missing_piece(missing: Sequence[Missing]) -> list[Piece]:
    """It does not count as unready: what already runs goes on without it. It is trouble all the same."""
    return [Piece("references", 1, 1, True, "; ".join(each.message for each in missing))] if missing else []


def reference_conditions(
    resolved: ResolvedCluster, missing: Sequence[Missing], generation: int
) -> list[Condition]:
    found = references_condition(missing, generation)
    if not resolved.skipped:
        return [found]
    told = "; ".join(
        f"{skipped.field}: a template asks for cell {skipped.cell!r}, which this cluster lacks; it is left out"
        for skipped in resolved.skipped
    )
    return [found, Condition(PLACEMENTS_SKIPPED, TRUE, reasons.CELL_UNKNOWN, told, generation)]


def references_condition(missing: Sequence[Missing], generation: int) -> Condition:
    if not missing:
        told = "everything that the cluster names is there"
        return Condition(REFERENCES_FOUND, TRUE, reasons.REFERENCES_FOUND, told, generation)
    told = "; ".join(each.message for each in missing)
    return Condition(REFERENCES_FOUND, FALSE, missing[0].reason, told, generation)
