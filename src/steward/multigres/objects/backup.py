"""How the containers of a pool reach the backup repository: a shared volume, or S3 by environment.

S3 credentials are passed by name: only the kubelet ever reads them.
"""

from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.backup import Backup
from steward.multigres.objects.metadata import Manifest, metadata
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.objects.volumes import claim_spec
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.resolution.layers import given

COMPONENT = "shard-backup"
VOLUME = "backup-data"
CERTIFICATE_DIRECTORY = "/certs/pgbackrest"
PORT = 8432


class BackupAccess(NamedTuple):
    """What a pool's pod needs for backups."""

    volumes: list[Manifest]
    mounts: list[Manifest]
    env: list[Manifest]
    service_account: str


def backup_access(shard: ShardBuild, cell: str) -> BackupAccess:
    backup = given(shard.spec.backup, defaults.BACKUP)
    path = _mount_path(backup)
    volumes = [_repository(shard, backup, cell), _certificates(shard.certificates)]
    mounts: list[Manifest] = [
        {"name": VOLUME, "mountPath": path},
        {"name": "pgbackrest-certs", "mountPath": CERTIFICATE_DIRECTORY, "readOnly": True},
    ]
    account = "" if backup.s3 is UNSET else given(backup.s3.service_account_name, "")
    return BackupAccess(volumes, mounts, _environment(backup), account)


def _mount_path(backup: Backup) -> str:
    filesystem = backup.filesystem
    return "/backups" if filesystem is UNSET else given(filesystem.path, "/backups")


def _repository(shard: ShardBuild, backup: Backup, cell: str) -> Manifest:
    if backup.type == "s3":
        return {"name": VOLUME, "emptyDir": {}}
    claim = names.backup_claim(shard.path, cell)
    return {"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}}


def _certificates(secret: str) -> Manifest:
    """The data plane asks for other file names than those that every certificate tool writes."""
    items = [
        {"key": "ca.crt", "path": "ca.crt"},
        {"key": "tls.crt", "path": "pgbackrest.crt"},
        {"key": "tls.key", "path": "pgbackrest.key"},
    ]
    sources = [{"secret": {"name": secret, "items": items}}]
    return {"name": "pgbackrest-certs", "projected": {"defaultMode": 0o440, "sources": sources}}


def _environment(backup: Backup) -> list[Manifest]:
    if backup.s3 is UNSET or backup.type != "s3":
        return []
    env: list[Manifest] = [{"name": "AWS_REGION", "value": backup.s3.region}]
    if secret := given(backup.s3.credentials_secret, ""):
        env += [_credential(name, secret) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")]
    return env


def _credential(name: str, secret: str) -> Manifest:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": name}}}


def backup_claims(shard: ShardBuild, cells: list[str]) -> list[Manifest]:
    """One shared claim per shard and cell; none where backups go to S3."""
    backup = given(shard.spec.backup, defaults.BACKUP)
    if backup.type == "s3":
        return []
    return [_claim(shard, cell, _storage(backup)) for cell in sorted(cells)]


def _claim(shard: ShardBuild, cell: str, storage: object) -> Manifest:
    written = metadata(shard.owner, names.backup_claim(shard.path, cell), shard.cell_labels(COMPONENT, cell))
    if given(shard.spec.pvc_deletion_policy, RETAIN).when_deleted != "Delete":
        # An owner would take the backups away with the shard.
        del written["ownerReferences"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": written,
        "spec": claim_spec(storage, "10Gi"),
    }


def _storage(backup: Backup) -> object:
    built_in = defaults.BACKUP.filesystem
    assert built_in is not UNSET
    filesystem = backup.filesystem
    return built_in.storage if filesystem is UNSET else given(filesystem.storage, built_in.storage)
