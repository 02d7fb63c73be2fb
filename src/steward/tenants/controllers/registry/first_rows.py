"""The rows that a started process finds without a Tenant: the lists of objects that fill last wait for them.

These lists keep the event loop and the API server busy for seconds, and a new row needs neither of the lists. So they
begin when the first sync of each registry has created its new Tenants, and the Tenant controller has applied them.
`Caches.fill_last_after` limits the delay.
"""

import asyncio

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.tenants.controllers.common.tenant_backlog import TenantBacklog
from steward.tenants.views import Registry


class FirstRows:
    def __init__(self, registries: Store[Registry], backlog: TenantBacklog) -> None:
        self._registries = registries
        self._backlog = backlog
        self._written: set[Key] | None = set()
        """Registries whose new rows are written; None when nothing waits any more."""
        self._changed = asyncio.Event()

    def finish(self, registry: Key) -> None:
        """The new rows of its first read are written, or it has none to write."""
        if self._written is not None:
            self._written.add(registry)
            self._changed.set()

    async def wait(self) -> None:
        try:
            while not self._are_written():
                self._changed.clear()
                await self._changed.wait()
            await self._backlog.wait_until_empty()
        finally:
            self._written = None

    def _are_written(self) -> bool:
        written = self._written or ()
        return all(key_of(registry) in written for registry in self._registries.list())
