"""Volume claims of backup repositories: one for each shard.

Servers of a shard start from their repository, so all of them must see the same one. A volume that many nodes can mount
(ReadWriteMany) is mounted by the servers of all cells. Any other is mounted by the pod that serves it to them
(`host.py`). A claim that exists already stays the shard's, whatever cells it has now: another one would be an empty
repository. Earlier releases made a claim for each cell, and shards that have several of these keep them.
"""

from collections.abc import Iterable

from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names
from steward.multigres.api.backup import Backup
from steward.multigres.api.compute import Storage
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import COMPONENT_LABEL, Manifest, metadata
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.versions import REPOSITORY_HOST
from steward.multigres.objects.volumes import claim_spec
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.repositories import is_served_volume, is_shared_volume, shard_cells
from steward.multigres.resolution.inheritance import RETAIN

COMPONENT = "shard-backup"


def has_repository_host(shard: ShardInputs) -> bool:
    """Whether a pod of its own mounts the volume and serves it to all servers."""
    existing = shard.repository_claims
    has_claim_per_cell = len(existing) > 1 and names.shared_backup_claim(shard.path) not in existing
    if shard.version < REPOSITORY_HOST or has_claim_per_cell:
        return False
    return bool(_cells(shard)) and is_served_volume(_backup(shard))


def repository_claim(shard: ShardInputs, cell: str) -> str:
    """The claim with the repository of the servers of a cell."""
    own, is_served = names.backup_claim(shard.path, cell), has_repository_host(shard)
    if not is_shared_volume(_backup(shard)) and not is_served:
        return own
    shared, existing = names.shared_backup_claim(shard.path), shard.repository_claims
    if shared in existing or (not existing and (is_served or len(_cells(shard)) > 1)):
        return shared
    return next(iter(existing)) if len(existing) == 1 else own


def has_one_repository(shard: ShardInputs) -> bool:
    """Whether all servers start from the same data."""
    return _backup(shard).type == "s3" or len({repository_claim(shard, cell) for cell in _cells(shard)}) < 2


def repository_claims(shard: ShardInputs, cells: list[str]) -> list[Manifest]:
    """None for repositories in object stores."""
    if _backup(shard).type == "s3":
        return []
    return [_claim(shard, name) for name in sorted({repository_claim(shard, cell) for cell in cells})]


def repository_claim_names(claims: Iterable[ObjectMeta]) -> frozenset[str]:
    """Of all claims of a shard, those of its repository; without those that are being deleted."""
    return frozenset(
        claim.name
        for claim in claims
        if claim.labels.get(COMPONENT_LABEL) == COMPONENT and claim.deletion_timestamp is None
    )


def _claim(shard: ShardInputs, name: str) -> Manifest:
    cells = [cell for cell in _cells(shard) if names.backup_claim(shard.path, cell) == name]
    labels = shard.cell_labels(COMPONENT, cells[0]) if cells else shard.component_labels(COMPONENT)
    meta = metadata(shard.owner, name, labels)
    if or_default(shard.spec.pvc_deletion_policy, RETAIN).when_deleted != "Delete":
        # With an owner, the garbage collector would delete the backups with the shard.
        del meta["ownerReferences"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta,
        "spec": claim_spec(_storage(_backup(shard)), "10Gi"),
    }


def _storage(backup: Backup) -> Storage:
    declared = [each.filesystem.storage for each in (backup, defaults.BACKUP) if each.filesystem is not UNSET]
    return next((storage for storage in declared if storage is not UNSET), Storage())


def _backup(shard: ShardInputs) -> Backup:
    return or_default(shard.spec.backup, defaults.BACKUP)


def _cells(shard: ShardInputs) -> list[str]:
    return shard_cells(or_default(shard.spec.pools, {}))
