"""Access of a pool's containers to the backup repository: a volume, the pod that serves it, or S3.

Poolers write pgBackRest's configuration for a volume or for S3. Environment variables change what they have no setting
for: pgBackRest prefers them to its configuration.

S3 credentials are referenced by name: only the kubelet reads them.
"""

from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.backup import Backup
from steward.multigres.api.unset import or_default
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import Manifest
from steward.multigres.objects.repository.claims import has_repository_host, repository_claim
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.versions import REPOSITORY_TIMEOUT, RETENTION_BY_OPERATOR
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.repositories import mount_path

VOLUME = "backup-data"
CERTIFICATES, CERTIFICATE_DIRECTORY = "pgbackrest-certs", "/certs/pgbackrest"
CERTIFICATE_MOUNT = {"name": CERTIFICATES, "mountPath": CERTIFICATE_DIRECTORY, "readOnly": True}
RENEWALS_ANNOTATION = "multigres.com/backup-certificate-renewals"
PORT = 8432
IO_SECONDS = 20
S3_AUTHORITY_DIRECTORY = "/certs/s3"
CIPHER_DIRECTORY = "/secrets/pgbackrest-cipher"
CIPHER_FILE = f"{CIPHER_DIRECTORY}/keys.json"


class BackupAccess(NamedTuple):
    """Volumes, mounts, environment and service account that a pool's pod needs for backups. Only multipooler reads the
    passphrases: it writes pgBackRest's configuration."""

    volumes: list[Manifest]
    mounts: list[Manifest]
    env: list[Manifest]
    service_account: str
    pooler_mounts: list[Manifest]
    pooler_flags: list[str]


def backup_access(shard: ShardInputs, cell: str) -> BackupAccess:
    backup = or_default(shard.spec.backup, defaults.BACKUP)
    path = mount_path(backup)
    volumes = [_repository_volume(shard, backup, cell), certificate_volume(shard.certificates)]
    mounts: list[Manifest] = [{"name": VOLUME, "mountPath": path}, CERTIFICATE_MOUNT]
    account = "" if backup.s3 is UNSET else or_default(backup.s3.service_account_name, "")
    authority, cipher = _s3_authority(backup), _cipher(backup)
    return BackupAccess(
        [*volumes, *authority.volumes, *cipher.volumes],
        [*mounts, *authority.mounts],
        [
            *_retention_env(shard.version),
            *_timeout_env(shard.version),
            *_s3_env(backup),
            *_repository_env(backup),
            *_host_env(shard),
        ],
        account,
        cipher.mounts,
        [f"--pgbackrest-cipher-key-file={CIPHER_FILE}"] if cipher.volumes else [],
    )


class _SecretFiles(NamedTuple):
    volumes: list[Manifest]
    mounts: list[Manifest]


def _secret_files(volume: str, secret: str, file: str, directory: str) -> _SecretFiles:
    source = {"secretName": secret, "defaultMode": 0o440, "items": [{"key": file, "path": file}]}
    mount = {"name": volume, "mountPath": directory, "readOnly": True}
    return _SecretFiles([{"name": volume, "secret": source}], [mount])


def _s3_authority(backup: Backup) -> _SecretFiles:
    secret = "" if backup.type != "s3" or backup.s3 is UNSET else or_default(backup.s3.ca_secret, "")
    return (
        _secret_files("s3-ca", secret, "ca.crt", S3_AUTHORITY_DIRECTORY) if secret else _SecretFiles([], [])
    )


def _cipher(backup: Backup) -> _SecretFiles:
    if backup.encryption is UNSET:
        return _SecretFiles([], [])
    return _secret_files("pgbackrest-cipher", backup.encryption.secret_name, "keys.json", CIPHER_DIRECTORY)


def _retention_env(version: int) -> list[Manifest]:
    """Poolers configure pgBackRest to delete all but seven full backups and one differential one after every backup.
    An environment variable wins over its configuration file."""
    if version < RETENTION_BY_OPERATOR:
        return []
    return [{"name": "PGBACKREST_EXPIRE_AUTO", "value": "n"}]


def _timeout_env(version: int) -> list[Manifest]:
    """Poolers end pgBackRest after 30 s when it lists a repository, and take the missing answer for a repository
    without backups. pgBackRest's own limit of 60 s would come too late to report the error."""
    if version < REPOSITORY_TIMEOUT:
        return []
    return [{"name": "PGBACKREST_IO_TIMEOUT", "value": str(IO_SECONDS)}]


def _host_env(shard: ShardInputs) -> list[Manifest]:
    if not has_repository_host(shard):
        return []
    values = {
        "PGBACKREST_REPO1_HOST": repository_address(shard.path, shard.owner.namespace),
        "PGBACKREST_REPO1_HOST_TYPE": "tls",
        "PGBACKREST_REPO1_HOST_PORT": str(PORT),
        "PGBACKREST_REPO1_HOST_CA_FILE": f"{CERTIFICATE_DIRECTORY}/ca.crt",
        "PGBACKREST_REPO1_HOST_CERT_FILE": f"{CERTIFICATE_DIRECTORY}/pgbackrest.crt",
        "PGBACKREST_REPO1_HOST_KEY_FILE": f"{CERTIFICATE_DIRECTORY}/pgbackrest.key",
    }
    return [{"name": name, "value": value} for name, value in values.items()]


def repository_address(path: ShardPath, namespace: str) -> str:
    """The name under which servers reach the pod that serves their repository."""
    return f"{names.repository_host(path)}.{namespace}.svc"


def _repository_env(backup: Backup) -> list[Manifest]:
    """Settings that poolers have no flag for. Their configuration file turns the check of certificates off for every
    endpoint that is not AWS."""
    if backup.type != "s3" or backup.s3 is UNSET:
        return []
    values: dict[str, str] = {}
    if or_default(backup.s3.ca_secret, ""):
        values["PGBACKREST_REPO1_STORAGE_CA_FILE"] = f"{S3_AUTHORITY_DIRECTORY}/ca.crt"
        values["PGBACKREST_REPO1_STORAGE_VERIFY_TLS"] = "y"
    if style := or_default(backup.s3.uri_style, ""):
        values["PGBACKREST_REPO1_S3_URI_STYLE"] = style
    return [{"name": name, "value": value} for name, value in values.items()]


def _repository_volume(shard: ShardInputs, backup: Backup, cell: str) -> Manifest:
    if backup.type == "s3" or has_repository_host(shard):
        return {"name": VOLUME, "emptyDir": {}}
    claim = repository_claim(shard, cell)
    return {"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}}


def renewal_annotations(shard: ShardInputs) -> dict[str, str]:
    """pgBackRest's server only reads its certificate when it starts: each renewal needs a restart, the first does
    not."""
    return {RENEWALS_ANNOTATION: str(shard.certificate_renewals)} if shard.certificate_renewals else {}


def certificate_volume(secret: str) -> Manifest:
    """The data plane expects other file names than the usual keys of a TLS Secret."""
    items = [
        {"key": "ca.crt", "path": "ca.crt"},
        {"key": "tls.crt", "path": "pgbackrest.crt"},
        {"key": "tls.key", "path": "pgbackrest.key"},
    ]
    sources = [{"secret": {"name": secret, "items": items}}]
    return {"name": CERTIFICATES, "projected": {"defaultMode": 0o440, "sources": sources}}


def _s3_env(backup: Backup) -> list[Manifest]:
    if backup.s3 is UNSET or backup.type != "s3":
        return []
    env: list[Manifest] = [{"name": "AWS_REGION", "value": backup.s3.region}]
    if secret := or_default(backup.s3.credentials_secret, ""):
        env += [_credential_env(name, secret) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")]
    return env


def _credential_env(name: str, secret: str) -> Manifest:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": name}}}
