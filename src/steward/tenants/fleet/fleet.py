"""Counts and index values of the Tenants of a registry or a template. Pure.

A Tenant counts as ready or failed only if its status is about its latest spec.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from steward.kube.objects.conditions import READY, is_true
from steward.kube.objects.timestamps import from_timestamp
from steward.tenants import labels
from steward.tenants.guard.decision import GuardedTenant
from steward.tenants.names import label_value
from steward.tenants.views import Tenant

DEGRADED = "Degraded"


class TenantCounts(NamedTuple):
    total: int = 0
    ready: int = 0
    failed: int = 0

    def plus(self, other: "TenantCounts") -> "TenantCounts":
        return TenantCounts(self.total + other.total, self.ready + other.ready, self.failed + other.failed)

    def minus(self, other: "TenantCounts") -> "TenantCounts":
        return TenantCounts(self.total - other.total, self.ready - other.ready, self.failed - other.failed)


def is_current(tenant: Tenant) -> bool:
    return tenant.status.observed_generation == tenant.metadata.generation


def is_ready(tenant: Tenant) -> bool:
    return is_current(tenant) and is_true(tenant.status.conditions, READY)


def is_failed(tenant: Tenant) -> bool:
    return is_current(tenant) and is_true(tenant.status.conditions, DEGRADED)


def is_terminating(tenant: Tenant) -> bool:
    return tenant.metadata.deletion_timestamp is not None


def count_tenant(tenant: Tenant) -> TenantCounts:
    """What one Tenant adds to the counts of its registry and of its template."""
    return TenantCounts(1, int(is_ready(tenant) and not is_terminating(tenant)), int(is_failed(tenant)))


def is_status_change(old: Tenant, new: Tenant) -> bool:
    """Whether the status has changed, and nothing else that a registry reads. A change of the spec that is not cached
    increments the generation."""
    metadata = replace(new.metadata, resource_version=old.metadata.resource_version)
    return old.status != new.status and old.spec == new.spec and old.metadata == metadata


def guarded_tenants(tenants: Iterable[Tenant]) -> tuple[GuardedTenant, ...]:
    """The Tenants that the deletion guard decides about: those that are not terminating."""
    return tuple(
        GuardedTenant(
            tenant.metadata.name,
            tenant.spec.uid,
            tenant.spec.template_ref,
            _delete_after(tenant),
        )
        for tenant in tenants
        if not is_terminating(tenant)
    )


def _delete_after(tenant: Tenant) -> float | None:
    """None for a mark that cannot be parsed: the guard then decides again."""
    try:
        return from_timestamp(tenant.metadata.annotations[labels.DELETE_AFTER])
    except (KeyError, ValueError):
        return None


def registry_index_values(tenant: Tenant) -> list[str]:
    """Index values by which the Tenants of a registry are found: its namespace and label."""
    label = tenant.metadata.labels.get(labels.REGISTRY)
    return [f"{tenant.metadata.namespace}/{label}"] if label else []


def registry_index_value(namespace: str, name: str) -> str:
    return f"{namespace}/{label_value(name)}"


def owned_index_values(tenant: Tenant) -> list[str]:
    """The same for the Tenants that have an owner reference, as those of the Go operator."""
    return registry_index_values(tenant) if tenant.metadata.owner_references else []


def template_index_values(tenant: Tenant) -> list[str]:
    return [template_index_value(tenant.metadata.namespace, tenant.spec.template_ref)]


def template_index_value(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"
