"""Removes from Tenants what the Go operator wrote and Steward does not use.

The owner reference to the registry bypasses the deletion guard: the garbage collector would delete the Tenants of a
registry that is deleted in the foreground, or whose finalizer was removed by hand. It is removed at the first
reconcile, whether or not the Tenant's row or template exists. Row values and bodies that are still templates are
removed right before the Tenant is rendered for the first time: a list that the template no longer has would otherwise
stay, and be applied unrendered.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.steps import Patch, Plan
from steward.tenants import labels
from steward.tenants.api.lists import LISTS
from steward.tenants.cache_rules import REGISTRY, TENANT_KIND
from steward.tenants.views import Tenant


def remove_owner_steps(tenants: Iterable[Tenant]) -> Plan:
    return tuple(
        step for tenant in tenants if tenant.metadata.owner_references for step in _remove_owner(tenant)
    )


def _remove_owner(tenant: Tenant) -> Plan:
    owners = tenant.metadata.owner_references
    others = [owner for owner in owners if owner.kind != REGISTRY.kind]
    if len(others) == len(owners):
        return ()
    return _patch(tenant, {"ownerReferences": msgspec.to_builtins(others)})


def remove_content_steps(tenant: Tenant) -> Plan:
    values = dict.fromkeys(name for name in labels.FORMER_ROW_VALUES if name in tenant.metadata.annotations)
    metadata = {"annotations": values} if values else {}
    bodies = {} if tenant.spec.template_generation else dict.fromkeys(each.field for each in LISTS)
    return _patch(tenant, metadata, bodies) if values or bodies else ()


def _patch(tenant: Tenant, metadata: dict[str, Any], spec: dict[str, Any] | None = None) -> Plan:
    """Only on the version that was read: a merge patch replaces a list as a whole."""
    changes: dict[str, Any] = {"metadata": metadata | {"resourceVersion": tenant.metadata.resource_version}}
    if spec:
        changes["spec"] = spec
    return (Patch(Ref(TENANT_KIND, key_of(tenant)), MergePatch(changes)),)
