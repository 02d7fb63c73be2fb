"""Volume policy and backup settings, which inherit from level to level independently of templates. Pure."""

import msgspec

from steward.multigres.api.backup import Backup
from steward.multigres.api.compute import PvcDeletionPolicy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import Layer, merge_layers

RETAIN = PvcDeletionPolicy(when_deleted="Retain", when_scaled="Retain")


def inherited_policy(*policies: PvcDeletionPolicy | msgspec.UnsetType) -> PvcDeletionPolicy:
    """Each field from the nearest level that sets it, otherwise Retain. `policies` start with the nearest level."""
    layers = [Layer("", policy) for policy in reversed(policies) if not isinstance(policy, msgspec.UnsetType)]
    return merge_layers(RETAIN, layers)[0]


def inherited_backup(*backups: Backup | msgspec.UnsetType) -> Backup:
    """`backups` start with the nearest level. One of another type replaces those above; one of the same type merges."""
    result = defaults.BACKUP
    for backup in reversed(backups):
        if isinstance(backup, msgspec.UnsetType):
            continue
        result = (
            merge_layers(result, [Layer("", backup)])[0]
            if backup.type == result.type
            else _on_defaults(backup)
        )
    return result


def _on_defaults(backup: Backup) -> Backup:
    if backup.type == "filesystem":
        return merge_layers(defaults.BACKUP, [Layer("", backup)])[0]
    return backup
