"""Access of a pool's containers to the backup repository: a shared volume, or S3 by environment variables.

S3 credentials are referenced by name: only the kubelet reads them.
"""

from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.backup import Backup
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import Manifest, metadata
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.volumes import claim_spec
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN

COMPONENT = "shard-backup"
VOLUME = "backup-data"
CERTIFICATE_DIRECTORY = "/certs/pgbackrest"
PORT = 8432


class BackupAccess(NamedTuple):
    """Volumes, mounts, environment and service account that a pool's pod needs for backups."""

    volumes: list[Manifest]
    mounts: list[Manifest]
    env: list[Manifest]
    service_account: str


def backup_access(shard: ShardInputs, cell: str) -> BackupAccess:
    backup = or_default(shard.spec.backup, defaults.BACKUP)
    path = _mount_path(backup)
    volumes = [_repository_volume(shard, backup, cell), _certificate_volume(shard.certificates)]
    mounts: list[Manifest] = [
        {"name": VOLUME, "mountPath": path},
        {"name": "pgbackrest-certs", "mountPath": CERTIFICATE_DIRECTORY, "readOnly": True},
    ]
    account = "" if backup.s3 is UNSET else or_default(backup.s3.service_account_name, "")
    return BackupAccess(volumes, mounts, _s3_env(backup), account)


def _mount_path(backup: Backup) -> str:
    filesystem = backup.filesystem
    return "/backups" if filesystem is UNSET else or_default(filesystem.path, "/backups")


def _repository_volume(shard: ShardInputs, backup: Backup, cell: str) -> Manifest:
    if backup.type == "s3":
        return {"name": VOLUME, "emptyDir": {}}
    claim = names.backup_claim(shard.path, cell)
    return {"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}}


def _certificate_volume(secret: str) -> Manifest:
    """The data plane expects other file names than the usual keys of a TLS Secret."""
    items = [
        {"key": "ca.crt", "path": "ca.crt"},
        {"key": "tls.crt", "path": "pgbackrest.crt"},
        {"key": "tls.key", "path": "pgbackrest.key"},
    ]
    sources = [{"secret": {"name": secret, "items": items}}]
    return {"name": "pgbackrest-certs", "projected": {"defaultMode": 0o440, "sources": sources}}


def _s3_env(backup: Backup) -> list[Manifest]:
    if backup.s3 is UNSET or backup.type != "s3":
        return []
    env: list[Manifest] = [{"name": "AWS_REGION", "value": backup.s3.region}]
    if secret := or_default(backup.s3.credentials_secret, ""):
        env += [_credential_env(name, secret) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")]
    return env


def _credential_env(name: str, secret: str) -> Manifest:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": name}}}


def backup_claims(shard: ShardInputs, cells: list[str]) -> list[Manifest]:
    """One shared claim per shard and cell; none for backups to S3."""
    backup = or_default(shard.spec.backup, defaults.BACKUP)
    if backup.type == "s3":
        return []
    return [_claim(shard, cell, _repository_storage(backup)) for cell in sorted(cells)]


def _claim(shard: ShardInputs, cell: str, storage: object) -> Manifest:
    meta = metadata(shard.owner, names.backup_claim(shard.path, cell), shard.cell_labels(COMPONENT, cell))
    if or_default(shard.spec.pvc_deletion_policy, RETAIN).when_deleted != "Delete":
        # With an owner, the garbage collector would delete the backups with the shard.
        del meta["ownerReferences"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta,
        "spec": claim_spec(storage, "10Gi"),
    }


def _repository_storage(backup: Backup) -> object:
    built_in = defaults.BACKUP.filesystem
    assert built_in is not UNSET
    filesystem = backup.filesystem
    return built_in.storage if filesystem is UNSET else or_default(filesystem.storage, built_in.storage)
