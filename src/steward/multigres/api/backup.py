"""Where backups go. Merged down the hierarchy: cluster, database, table group, shard."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from steward.kube.crd.schema import Cel
from steward.multigres.api.compute import Storage
from steward.multigres.api.scalars import UNSET, ObjectName, Part, Path, Unset

Word = Annotated[str, Meta(min_length=1, max_length=255)]


class FilesystemBackup(Part):
    """A repository on a volume that all Postgres servers of a shard in one cell share."""

    path: Path | Unset = UNSET
    """Where the volume is mounted; /backups when left out."""
    storage: Storage | Unset = UNSET
    """The volume. More than one server per cell needs ReadWriteMany. Replaced as a whole."""


class S3Backup(Part):
    """A repository in an object store. The only kind that cells can share."""

    bucket: Word
    """The bucket."""
    region: Word
    """Its region."""
    endpoint: Annotated[str, Meta(min_length=1, max_length=2048)] | Unset = UNSET
    """Another store's address; AWS when left out."""
    key_prefix: Annotated[str, Meta(max_length=512)] | Unset = UNSET
    """Prefix of every key."""
    use_env_credentials: bool | Unset = UNSET
    """Take credentials from the container's environment."""
    credentials_secret: ObjectName | Unset = UNSET
    """A Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Only the kubelet reads it, never Steward."""
    service_account_name: ObjectName | Unset = UNSET
    """A ServiceAccount whose identity grants access, in place of credentials."""
    rules: ClassVar = (
        Cel(
            "!has(self.serviceAccountName) || (!has(self.credentialsSecret) && !has(self.useEnvCredentials))",
            "serviceAccountName takes the place of credentialsSecret and useEnvCredentials: give one",
        ),
    )


class PgBackRestTls(Part):
    """Certificates of the backup service."""

    secret_name: ObjectName
    """A Secret with ca.crt, tls.crt and tls.key, as cert-manager writes it."""


class Backup(Part):
    """Where backups go."""

    type: Literal["filesystem", "s3"]
    """Which of the two blocks counts."""
    filesystem: FilesystemBackup | Unset = UNSET
    """A shared volume."""
    s3: S3Backup | Unset = UNSET
    """An object store."""
    pgbackrest_tls: PgBackRestTls | Unset = field(default=UNSET, name="pgbackrestTLS")
    """Your own certificates. Steward makes and renews them when left out."""
    rules: ClassVar = (
        Cel("self.type != 's3' || has(self.s3)", "type s3 needs the s3 block", ".s3"),
        Cel("self.type == 's3' || !has(self.s3)", "type filesystem excludes the s3 block", ".s3"),
    )
