"""What the Tenants of a registry or a template are, taken together. Pure.

A Tenant is ready or failed only as far as its status speaks of its latest spec: what was said of an earlier one counts
for nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from steward.kube.objects.conditions import READY, is_true
from steward.kube.objects.timestamps import from_timestamp
from steward.tenants import labels
from steward.tenants.guard.judge import Known
from steward.tenants.names import label_value
from steward.tenants.views import Tenant

DEGRADED = "Degraded"


class Counts(NamedTuple):
    total: int = 0
    ready: int = 0
    failed: int = 0


def is_current(tenant: Tenant) -> bool:
    return tenant.status.observed_generation == tenant.metadata.generation


def is_ready(tenant: Tenant) -> bool:
    return is_current(tenant) and is_true(tenant.status.conditions, READY)


def is_failed(tenant: Tenant) -> bool:
    return is_current(tenant) and is_true(tenant.status.conditions, DEGRADED)


def is_staying(tenant: Tenant) -> bool:
    return tenant.metadata.deletion_timestamp is None


def counted(tenants: Iterable[Tenant]) -> Counts:
    total = ready = failed = 0
    for tenant in tenants:
        total += 1
        ready += is_ready(tenant) and is_staying(tenant)
        failed += is_failed(tenant)
    return Counts(total, ready, failed)


def template_sizes(tenants: Iterable[Tenant]) -> Mapping[str, int]:
    """How many stay of each template."""
    return Counter(tenant.spec.template_ref for tenant in tenants if is_staying(tenant))


def known(tenants: Iterable[Tenant]) -> tuple[Known, ...]:
    """As the guard sees them: those that are not being deleted already."""
    return tuple(
        Known(
            tenant.metadata.name,
            tenant.spec.uid,
            tenant.spec.template_ref,
            _delete_after(tenant),
        )
        for tenant in tenants
        if is_staying(tenant)
    )


def _delete_after(tenant: Tenant) -> float | None:
    """A mark that cannot be read is none: the guard then judges the Tenant anew."""
    try:
        return from_timestamp(tenant.metadata.annotations[labels.DELETE_AFTER])
    except (KeyError, ValueError):
        return None


def registry_of(tenant: Tenant) -> list[str]:
    """How the Tenants of a registry are found: by its namespace and label."""
    label = tenant.metadata.labels.get(labels.REGISTRY)
    return [f"{tenant.metadata.namespace}/{label}"] if label else []


def registry_value(namespace: str, name: str) -> str:
    return f"{namespace}/{label_value(name)}"


def template_of(tenant: Tenant) -> list[str]:
    return [f"{tenant.metadata.namespace}/{tenant.spec.template_ref}"]
