"""The Tenants that this process applies, in a store that may hold more.

With `--shard` the store of part 0 holds the whole fleet, for its registries and templates.
"""

from typing import Any

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key
from steward.runtime.controller.predicates import Predicate
from steward.tenants.cache_rules import FleetPart
from steward.tenants.views import Tenant

# Inside the class, the method `list` hides the type of that name.
_List = list


class TenantsOfPart:
    def __init__(self, tenants: Store[Tenant], part: FleetPart) -> None:
        self._tenants = tenants
        self._part = part

    def get(self, key: Key) -> Tenant | None:
        tenant = self._tenants.get(key)
        return None if tenant is None or not self._part.has(tenant.metadata) else tenant

    def list(self) -> _List[Tenant]:
        return [tenant for tenant in self._tenants.list() if self._part.has(tenant.metadata)]


def changes_of_part(part: FleetPart, when: Predicate) -> Predicate:
    """Of the changes that `when` selects, those of the part's own objects. An object that joins or leaves the part
    counts as created or deleted."""

    def predicate(change: ObjectChange[Any]) -> bool:
        was_own, is_own = (side is not None and part.has(side.metadata) for side in (change.old, change.new))
        if was_own and is_own:
            return when(change)
        return was_own or is_own

    return predicate
