"""The guard's decision on deleting a registry or a template together with its Tenants. Pure.

No read of a table implies these deletions, but they are as destructive, so the same limits apply.
"""

from typing import Any, NamedTuple

import msgspec

from steward.tenants.api.registry import DeletionGuard
from steward.tenants.guard.approval import DeletionHold
from steward.tenants.guard.decision import (
    GuardedTenant,
    GuardInput,
    GuardPolicy,
    guard_policy,
    owner_deletion_hold,
)


class CascadeDeletion(NamedTuple):
    """The Tenants that would be deleted together with their registry or template."""

    tenants: tuple[GuardedTenant, ...]
    fleet: tuple[GuardedTenant, ...]
    """All Tenants of the registry: the limits are shares of these."""
    registry_spec: dict[str, Any]
    """Empty when the registry no longer exists."""
    approval: str


def cascade_hold(deletion: CascadeDeletion) -> DeletionHold | None:
    """Why the deletion has to wait; None if it is within the limits or approved."""
    given = GuardInput(
        tenants=deletion.fleet,
        policy=cascade_policy(deletion.registry_spec),
        approval=deletion.approval,
    )
    return owner_deletion_hold(deletion.tenants, given)


def cascade_policy(registry_spec: dict[str, Any]) -> GuardPolicy:
    """The limits of the registry. A deletionGuard that cannot be decoded means the default limits, never none."""
    try:
        return guard_policy(msgspec.convert(registry_spec.get("deletionGuard") or {}, DeletionGuard), 0.0)
    except (msgspec.ValidationError, ValueError):
        return guard_policy(DeletionGuard(), 0.0)
