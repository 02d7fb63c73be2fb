"""Tenants whose status records their objects. No other Tenant may be given another spec.

The record of a new Tenant is its spec, until its first status: some seconds after its objects were applied, or when it
is ready. If the spec changed before, and the operator was restarted in between, no process would know of an object that
the former spec had. A Tenant that another operator made, and that was never rendered here, has no such objects.
"""

import asyncio
from collections.abc import Collection

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key
from steward.tenants.views import Tenant


class RecordedTenants:
    def __init__(self, tenants: Store[Tenant]) -> None:
        self._tenants = tenants
        self._changed = asyncio.Event()
        tenants.subscribe(self._on_change)

    def __contains__(self, key: Key) -> bool:
        """Also one that does not exist: nothing has to be recorded."""
        tenant = self._tenants.get(key)
        return tenant is None or not tenant.spec.template_generation or bool(tenant.status.conditions)

    async def wait_for_any(self, keys: Collection[Key], seconds: float) -> bool:
        """Until one of them is recorded; False after so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                while not any(key in self for key in keys):
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _on_change(self, change: ObjectChange[Tenant]) -> None:
        if change.key in self:
            self._changed.set()
            self._changed = asyncio.Event()
