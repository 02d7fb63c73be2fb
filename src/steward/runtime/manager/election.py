"""Leader election, as the manager uses it.

Between `wait_until_leading` and `wait_until_lost` the write fence checks the monotonic deadline of the lease for every
write. Without election this process always leads.
"""

from __future__ import annotations

import asyncio
import logging

from steward.kube.client.deployments import NAME_LABEL, find_deployment
from steward.kube.client.lease import LeaseHolder, LeaseSettings
from steward.kube.errors import DeploymentNotFound, KubeError
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import OwnerReference
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.settings import Settings

log = logging.getLogger(__name__)


class LeaderLost(RuntimeError):
    """This process lost the lease; the message names the lease and its new holder."""


class Election:
    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection = connection
        self._key = Key(connection.namespace, lease_name(connection.identity.name, settings))
        self._gauge = connection.metrics.leader.labels(self._key.name)
        self._holder = _holder(self._key, connection, settings) if settings.leader_elect else None
        connection.write_fence.allow_when(self._holder.holds if self._holder else lambda: True)
        self._task: asyncio.Task[None] | None = None
        self._leading = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def description(self) -> str:
        """For /readyz."""
        if self._holder is None:
            return "no election, this process leads"
        if self._holder.holds():
            return f"{self._key} is held by this process ({self._holder.identity})"
        return f"{self._key} is held by {self._holder.holder or 'no replica'}, standing by"

    async def wait_until_leading(self) -> None:
        if self._holder is not None:
            self._leading.clear()
            self._ended.clear()
            self._holder.set_owner(await own_deployment(self._connection))
            self._task = asyncio.create_task(
                self._holder.run(self._leading.set, self._ended.set), name=f"lease {self._key}"
            )
            self._task.add_done_callback(lambda _: self._wake_all())
            await self._leading.wait()
            self._raise_if_failed()
        self._gauge.set(1)

    def _wake_all(self) -> None:
        self._leading.set()
        self._ended.set()

    def _raise_if_failed(self) -> None:
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def wait_until_lost(self) -> str:
        """Returns when the lease is lost, with a message."""
        await self._ended.wait()
        self._gauge.set(0)
        if self._task is not None:
            await asyncio.wait((self._task,))
        self._raise_if_failed()
        other = self._holder.holder if self._holder else ""
        return f"the lease {self._key} was lost" + (
            f" to {other}" if other else ": it could not be renewed in time"
        )

    async def release(self) -> None:
        """Releases the lease if this process holds it; another replica leads within a retry period."""
        self._gauge.set(0)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


def lease_name(operator: str, settings: Settings) -> str:
    """Each partition of the tenant operator elects its own leader, so each has its own lease."""
    name, partition = settings.lease_name or operator, settings.partition
    return name if partition.total == 1 else f"{name}-{partition.number}-of-{partition.total}"


async def own_deployment(connection: Connection) -> OwnerReference | None:
    """The operator's Deployment as owner of the lease, so that it is deleted with it; None outside a cluster."""
    labels = {NAME_LABEL: connection.identity.name}
    try:
        return await find_deployment(connection.client, connection.namespace, labels)
    except DeploymentNotFound:
        return None
    except KubeError as error:
        log.warning("the lease has no owner and is not deleted with the operator: %s", error)
        return None


def _holder(key: Key, connection: Connection, settings: Settings) -> LeaseHolder:
    lease = LeaseSettings(
        key=key,
        identity=connection.identity.instance,
        duration=settings.lease_duration,
        renew_deadline=settings.renew_deadline,
        retry_period=settings.retry_period,
    )
    return LeaseHolder(connection.client, lease, connection.clock)
