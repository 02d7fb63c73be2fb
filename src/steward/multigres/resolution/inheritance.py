"""What inherits from level to level whatever templates say: volume policy and backup. Pure."""

import msgspec

from steward.multigres.api.backup import Backup
from steward.multigres.api.compute import PvcDeletionPolicy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import Layer, lay

RETAIN = PvcDeletionPolicy(when_deleted="Retain", when_scaled="Retain")


def inherited_policy(*policies: PvcDeletionPolicy | msgspec.UnsetType) -> PvcDeletionPolicy:
    """Each field from the nearest level that sets it, Retain when none does. The nearest comes first."""
    layers = [Layer("", policy) for policy in reversed(policies) if not isinstance(policy, msgspec.UnsetType)]
    return lay(RETAIN, layers)[0]


def inherited_backup(*backups: Backup | msgspec.UnsetType) -> Backup:
    """The nearest first. Of another type it replaces what is above, of the same type it merges field by field."""
    result = defaults.BACKUP
    for backup in reversed(backups):
        if isinstance(backup, msgspec.UnsetType):
            continue
        result = lay(result, [Layer("", backup)])[0] if backup.type == result.type else _alone(backup)
    return result


def _alone(backup: Backup) -> Backup:
    if backup.type == "filesystem":
        return lay(defaults.BACKUP, [Layer("", backup)])[0]
    return backup
