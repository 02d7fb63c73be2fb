"""Restore of a new cluster from the repository of a lost one."""

from typing import ClassVar

from msgspec import field

from steward.kube.crd.schema import Cel
from steward.multigres.api.backup import FilesystemBackup, S3Backup
from steward.multigres.api.scalars import UNSET, ApiStruct, ObjectName, Unset


class RestoreSource(ApiStruct):
    """The repository. It is also the one that the new cluster archives into: servers have only one."""

    backup: ObjectName | Unset = UNSET
    """A MultigresBackup in the same namespace, of a cluster of the same name: the newest one of its shard."""
    s3: S3Backup | Unset = UNSET
    """A repository in an object store. It becomes spec.backup if that is left out."""
    filesystem: FilesystemBackup | Unset = UNSET
    """The repository on the volumes that a cluster of the same name left in this namespace. It becomes spec.backup if
    that is left out."""
    rules: ClassVar = (
        Cel(
            "[has(self.backup), has(self.s3), has(self.filesystem)].filter(given, given).size() == 1",
            "give one of backup, s3 and filesystem",
        ),
    )


class Restore(ApiStruct):
    """Where a new cluster takes its data from. Every server restores the newest backup and replays the WAL after it."""

    source: RestoreSource = field(name="from")
    """The repository."""
    rules: ClassVar = (Cel("self == oldSelf", "restore cannot be changed: create another cluster instead"),)
