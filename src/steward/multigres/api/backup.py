"""Backup repositories. Settings inherit from cluster to database, table group and shard."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from steward.kube.crd.schema import Cel
from steward.multigres.api.compute import Storage
from steward.multigres.api.scalars import UNSET, ApiStruct, ObjectName, Path, Unset

ShortText = Annotated[str, Meta(min_length=1, max_length=255)]


class FilesystemBackup(ApiStruct):
    """A repository on a volume that all Postgres servers of a shard share."""

    path: Path | Unset = UNSET
    """Where the volume is mounted; /backups when left out."""
    storage: Storage | Unset = UNSET
    """The volume. Servers mount it with ReadWriteMany; otherwise they reach it through a pod of its own, on any node.
    Replaced as a whole."""


class S3Backup(ApiStruct):
    """A repository in an object store."""

    bucket: ShortText
    """The bucket."""
    region: ShortText
    """Its region."""
    endpoint: Annotated[str, Meta(min_length=1, max_length=2048)] | Unset = UNSET
    """Address of another object store; AWS when left out."""
    ca_secret: ObjectName | Unset = UNSET
    """A Secret with ca.crt: the authorities of the endpoint's certificate. Without it, the certificate of an endpoint
    of your own is not checked. Only the kubelet reads it."""
    uri_style: Literal["host", "path"] | Unset = UNSET
    """Whether the bucket is part of the host name or of the path. When left out: host at AWS, path elsewhere."""
    key_prefix: Annotated[str, Meta(max_length=512)] | Unset = UNSET
    """Prefix of every key. A repository belongs to one database of one cluster: databases other than the default one
    add their name to an inherited prefix."""
    use_env_credentials: bool | Unset = UNSET
    """Take credentials from the container's environment."""
    credentials_secret: ObjectName | Unset = UNSET
    """A Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Only the kubelet reads it, never the operator."""
    service_account_name: ObjectName | Unset = UNSET
    """A ServiceAccount whose identity grants access; replaces credentials."""
    rules: ClassVar = (
        Cel(
            "!has(self.serviceAccountName) || (!has(self.credentialsSecret) && !has(self.useEnvCredentials))",
            "serviceAccountName takes the place of credentialsSecret and useEnvCredentials: give one",
        ),
    )


class PgBackRestTls(ApiStruct):
    """Certificates of the backup service."""

    secret_name: ObjectName
    """A Secret with ca.crt, tls.crt and tls.key, as cert-manager writes it."""


class RepositoryEncryption(ApiStruct):
    """Encryption of all files of a repository, by pgBackRest, with AES-256-CBC."""

    secret_name: ObjectName
    """A Secret with the key keys.json: a JSON object from generations of the repository to passphrases, {"1": "…"}.
    Only the kubelet reads it. Without the passphrase nothing can be restored: keep a copy."""


CronExpression = Annotated[str, Meta(min_length=1, max_length=128)]


class BackupSchedule(ApiStruct):
    """When backups of each shard are made. The shards of a cluster begin within ten minutes, one after the other."""

    full: CronExpression | Unset = UNSET
    """Full backups, for example `0 2 * * SUN`."""
    differential: CronExpression | Unset = UNSET
    """Backups of the changes since the last full one, for example `0 2 * * MON-SAT`."""
    incremental: CronExpression | Unset = UNSET
    """Backups of the changes since the last one of any type, for example `0 * * * *`."""
    time_zone: Annotated[str, Meta(min_length=1, max_length=64)] | Unset = UNSET
    """A name of the time zone database, for example Europe/Zurich. UTC when left out."""


class BackupRetention(ApiStruct):
    """Which backups are kept. Differential and incremental ones go with the full one that they need. Replaced as a
    whole."""

    full_count: Annotated[int, Meta(ge=1, le=9999)] | Unset = UNSET
    """How many full backups are kept."""
    days: Annotated[int, Meta(ge=1, le=9999)] | Unset = UNSET
    """For how many days; the newest full backup that is older is kept, too: the days after it are restored from it."""
    rules: ClassVar = (
        Cel("has(self.fullCount) != has(self.days)", "retention is either fullCount or days: give one"),
    )


class Backup(ApiStruct):
    """Where backups go, and when they are made."""

    type: Literal["filesystem", "s3"]
    """Which of the two blocks applies."""
    filesystem: FilesystemBackup | Unset = UNSET
    """A shared volume."""
    s3: S3Backup | Unset = UNSET
    """An object store."""
    pgbackrest_tls: PgBackRestTls | Unset = field(default=UNSET, name="pgbackrestTLS")
    """Your own certificates. The operator creates and renews them when left out."""
    encryption: RepositoryEncryption | Unset = UNSET
    """Encrypts the repository. Decided when the first backup is made; it cannot be changed for a repository later."""
    schedule: BackupSchedule | Unset = UNSET
    """When backups are made. Without it, only those that users create a MultigresBackup for, and the first one."""
    retention: BackupRetention | Unset = UNSET
    """Which backups are kept; all when left out."""
    verify: CronExpression | Unset = UNSET
    """When every file of the repository is read and checked, in the time zone of the schedule; never when left out."""
    stale_after: Annotated[str, Meta(max_length=16, pattern=r"^([0-9]+(s|m|h))+$")] | Unset = UNSET
    """How old the newest backup may be, for example `26h`, before the shard is not BackupHealthy; any age when left
    out."""
    rules: ClassVar = (
        Cel("self.type != 's3' || has(self.s3)", "type s3 needs the s3 block", ".s3"),
        Cel("self.type == 's3' || !has(self.s3)", "type filesystem excludes the s3 block", ".s3"),
    )
