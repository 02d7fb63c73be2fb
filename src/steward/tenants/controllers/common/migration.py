"""What the operator before us left on its Tenants, and we take away.

The owner reference to the registry outwits the deletion guard: the garbage collector would take the Tenants with a
registry that is deleted in the foreground, or whose finalizer was stripped. It goes at first sight, whether or not the
Tenant's row or template is there. Row values and bodies that are still templates go right before the Tenant is rendered
for the first time: a list that the template has no more would otherwise stay, and be applied as it stands.
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


def without_former_owner(tenants: Iterable[Tenant]) -> Plan:
    return tuple(step for tenant in tenants if tenant.metadata.owner_references for step in _disowned(tenant))


def _disowned(tenant: Tenant) -> Plan:
    owners = tenant.metadata.owner_references
    others = [owner for owner in owners if owner.kind != REGISTRY.kind]
    if len(others) == len(owners):
        return ()
    return _patched(tenant, {"ownerReferences": msgspec.to_builtins(others)})


def without_former_content(tenant: Tenant) -> Plan:
    values = dict.fromkeys(name for name in labels.FORMER_ROW_VALUES if name in tenant.metadata.annotations)
    metadata = {"annotations": values} if values else {}
    bodies = {} if tenant.spec.template_generation else dict.fromkeys(each.field for each in LISTS)
    return _patched(tenant, metadata, bodies) if values or bodies else ()


def _patched(tenant: Tenant, metadata: dict[str, Any], spec: dict[str, Any] | None = None) -> Plan:
    """On that version only: a list is replaced whole."""
    changes: dict[str, Any] = {"metadata": metadata | {"resourceVersion": tenant.metadata.resource_version}}
    if spec:
        changes["spec"] = spec
    return (Patch(Ref(TENANT_KIND, key_of(tenant)), MergePatch(changes)),)
