"""New Tenants that the Tenant controller has not applied: while there are many, the registry creates no more.

A Tenant is two writes of the registry controller and six or more of the Tenant controller, to one API server. If all
Tenants of a large table were created first, the first of them would be ready late, and half of them near the end. The
whole takes as long in either order.

The Tenant controller of the same process says when it has applied the objects of a Tenant. That of another partition
says it by the first status, which a Tenant has when it is ready, or some seconds later (`runtime/status/throttle.py`).
It may be unable to apply any, for example if its process is down. So a Tenant that finds no room is created all the
same when none has been applied for `PATIENCE_SECONDS`.
"""

import asyncio
from typing import Final

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.kinds import Key
from steward.tenants.views import Tenant

PER_WORKER: Final = 2
"""New Tenants for each worker of the Tenant controller: one that it reconciles, and the next."""
PATIENCE_SECONDS: Final = 3.0


class TenantBacklog:
    def __init__(self, workers: int) -> None:
        self._limit = PER_WORKER * workers
        self._new: set[Key] = set()
        self._removed = asyncio.Event()

    async def wait_for_room(self) -> None:
        while len(self._new) >= self._limit:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self._removed.wait()
            except TimeoutError:
                return

    async def wait_until_empty(self) -> None:
        while self._new:
            await self._removed.wait()

    def add(self, tenant: Key) -> None:
        """Before it is created: its watch event may precede the answer."""
        self._new.add(tenant)

    def remove(self, tenant: Key) -> None:
        """Its objects are applied, as far as they can be, or it does not exist."""
        if tenant in self._new:
            self._new.remove(tenant)
            self._removed.set()
            self._removed = asyncio.Event()

    def on_change(self, change: ObjectChange[Tenant]) -> None:
        if change.new is None or change.new.status.conditions:
            self.remove(change.key)
