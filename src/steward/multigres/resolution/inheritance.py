"""Volume policy and backup settings, which inherit from level to level independently of templates. Pure."""

import msgspec
from msgspec.structs import replace

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import DatabaseEntry, MultigresClusterSpec
from steward.multigres.api.compute import PvcDeletionPolicy
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import Layer, merge_layers

INHERITED_BY_ALL = ("schedule", "retention", "verify", "stale_after")
"""Fields of a backup that say when and not where."""
RETAIN = PvcDeletionPolicy(when_deleted="Retain", when_scaled="Retain")


def inherited_policy(*policies: PvcDeletionPolicy | msgspec.UnsetType) -> PvcDeletionPolicy:
    """Each field from the nearest level that sets it, otherwise Retain. `policies` start with the nearest level."""
    layers = [Layer("", policy) for policy in reversed(policies) if not isinstance(policy, msgspec.UnsetType)]
    return merge_layers(RETAIN, layers)[0]


def inherited_backup(*backups: Backup | msgspec.UnsetType) -> Backup:
    """`backups` start with the nearest level. One of the same type merges into those above; one of another type
    replaces them, except for `INHERITED_BY_ALL`, which merge in any case."""
    result = defaults.BACKUP
    for backup in reversed(backups):
        if isinstance(backup, msgspec.UnsetType):
            continue
        result = (
            merge_layers(result, [Layer("", backup)])[0]
            if backup.type == result.type
            else _replaced(result, backup)
        )
    return result


def cluster_backup(spec: MultigresClusterSpec, database: DatabaseEntry) -> Backup | msgspec.UnsetType:
    """The backup settings of the cluster as a database inherits them.

    Poolers add nothing to the prefix of a bucket: databases with the same one would restore each other's backups. So
    every database except the default one has its name in it."""
    backup = spec.backup
    if isinstance(backup, msgspec.UnsetType) or isinstance(backup.s3, msgspec.UnsetType):
        return backup
    if or_default(database.default, False):
        return backup
    prefix = or_default(backup.s3.key_prefix, "").strip("/")
    own = f"{prefix}/{database.name}" if prefix else database.name
    return replace(backup, s3=replace(backup.s3, key_prefix=own))


def _replaced(above: Backup, backup: Backup) -> Backup:
    kept = Backup(type=backup.type, **{name: getattr(above, name) for name in INHERITED_BY_ALL})
    return merge_layers(kept, [Layer("", _on_defaults(backup))])[0]


def _on_defaults(backup: Backup) -> Backup:
    if backup.type == "filesystem":
        return merge_layers(defaults.BACKUP, [Layer("", backup)])[0]
    return backup
