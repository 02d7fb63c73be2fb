"""StorageClasses and Secrets of the user that a cluster references. Pure.

Missing ones are reported and never rejected, because the same `kubectl apply` may create them a moment later. The
Secret with credentials of an object store is not checked: only the kubelet reads it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import UNSET

from steward.kube.objects.meta import HasMetadata
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import Storage
from steward.multigres.api.scalars import Unset
from steward.multigres.api.topo import ExternalTopoServer
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolved import ResolvedCluster, managed_etcds

IS_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class MissingReference(NamedTuple):
    """An object that is referenced, or needed by default, and does not exist."""

    reason: str
    message: str


def referenced_storage_classes(resolved: ResolvedCluster) -> dict[str, str]:
    """StorageClasses by name, each with a field that references it; "" is the default class."""
    return {
        or_default(storage.storage_class, ""): field for field, storage in reversed(list(_storages(resolved)))
    }


def _storages(resolved: ResolvedCluster) -> Iterator[tuple[str, Storage]]:
    for field, etcd in managed_etcds(resolved):
        yield f"{field}.storage", _storage(etcd.storage)
    for located in resolved.shards():
        for name, pool in located.pools.items():
            yield f"{located.field}.pools[{name}].storage", _storage(pool.storage)
        backup = or_default(located.shard.backup, defaults.BACKUP)
        if backup.type == "filesystem" and backup.filesystem is not UNSET:
            yield f"{located.field}.backup.filesystem.storage", _storage(backup.filesystem.storage)


def _storage(storage: Storage | Unset) -> Storage:
    return Storage() if storage is UNSET else storage


def referenced_secrets(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> dict[str, str]:
    """Secrets that the operator reads, each with the field that references it."""
    secrets: dict[str, str] = {}
    for field, external in _external_servers(resolved):
        _add_secret(secrets, external.ca_secret, f"{field}.caSecret")
        _add_secret(secrets, external.client_cert_secret, f"{field}.clientCertSecret")
    if spec.postgres_password_secret_ref is not UNSET:
        secrets[spec.postgres_password_secret_ref.name] = "spec.postgresPasswordSecretRef.name"
    if spec.gateway_tls is not UNSET and spec.gateway_tls.enabled:
        _add_secret(secrets, spec.gateway_tls.secret_name, "spec.gatewayTls.secretName")
    return secrets


def _external_servers(resolved: ResolvedCluster) -> Iterator[tuple[str, ExternalTopoServer]]:
    if resolved.topo.external is not None:
        yield "spec.globalTopoServer.external", resolved.topo.external
    for index, cell in enumerate(resolved.cells):
        if cell.local_topo is not None and cell.local_topo.external is not UNSET:
            yield f"spec.cells[{index}].spec.localTopoServer.external", cell.local_topo.external


def _add_secret(secrets: dict[str, str], secret: str | Unset, field: str) -> None:
    if secret is not UNSET:
        secrets[secret] = field


def missing_storage_classes(
    referenced: Mapping[str, str], existing: Iterable[HasMetadata]
) -> list[MissingReference]:
    annotations = {each.metadata.name: each.metadata.annotations for each in existing}
    has_default = any(each.get(IS_DEFAULT_CLASS) == "true" for each in annotations.values())
    missing = []
    for name, field in sorted(referenced.items()):
        if name and name not in annotations:
            message = f"{field}: StorageClass {name} does not exist; create it or name another"
            missing.append(MissingReference(reasons.STORAGE_CLASS_NOT_FOUND, message))
        elif not name and not has_default:
            message = f"{field}: no class is given and the cluster has no default StorageClass; name one"
            missing.append(MissingReference(reasons.STORAGE_CLASS_NOT_FOUND, message))
    return missing


def missing_secrets(absent: Mapping[str, str]) -> list[MissingReference]:
    return [
        MissingReference(reasons.SECRET_NOT_FOUND, f"{field}: Secret {name} does not exist; create it")
        for name, field in sorted(absent.items())
    ]
