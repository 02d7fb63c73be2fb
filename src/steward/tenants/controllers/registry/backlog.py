"""New Tenants that the Tenant controller has not begun: while there are many, the registry controller creates no more.

A Tenant is two writes of the registry controller and seven or more of the Tenant controller, to one API server. If all
Tenants of a large table were created first, the first of them would be ready late, and half of them near the end. The
whole takes as long in either order.

The Tenant controller may be unable to begin any, for example if the process of a partition is down. So a Tenant that
finds no room is created all the same when none has been begun for `PATIENCE_SECONDS`.
"""

import asyncio
from typing import Final

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key
from steward.tenants.views import Tenant

PER_WORKER: Final = 2
"""New Tenants for each worker of the Tenant controller: one that it reconciles, and the next."""
PATIENCE_SECONDS: Final = 3.0


class TenantBacklog:
    def __init__(self, tenants: Store[Tenant], workers: int) -> None:
        self._limit = PER_WORKER * workers
        self._new: set[Key] = set()
        self._begun = asyncio.Event()
        tenants.subscribe(self._on_change)

    async def wait_for_room(self) -> None:
        while len(self._new) >= self._limit:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self._begun.wait()
            except TimeoutError:
                return

    async def wait_until_empty(self) -> None:
        """Returns when every new Tenant has been begun."""
        while self._new:
            await self._begun.wait()

    def add(self, tenant: Key) -> None:
        """Before it is created: its watch event may precede the answer."""
        self._new.add(tenant)

    def remove(self, tenant: Key) -> None:
        if tenant in self._new:
            self._new.remove(tenant)
            self._begun.set()
            self._begun = asyncio.Event()

    def _on_change(self, change: ObjectChange[Tenant]) -> None:
        """The first status says that the Tenant controller has begun."""
        if change.new is None or change.new.status.conditions:
            self.remove(change.key)
