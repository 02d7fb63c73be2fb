"""Who leads: the lease, seen from the manager.

`until_leading` and `until_lost` are the two moments that matter. Between them the write guard asks the lease holder's
monotonic deadline for every write. Without election this process always leads.
"""

from __future__ import annotations

import asyncio
import logging

from steward.kube.client.deployments import NAME_LABEL, deployments_with
from steward.kube.client.lease import LeaseHolder, LeaseSettings
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import DEPLOYMENT, Key
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.settings import Settings

log = logging.getLogger(__name__)


class LeaderLost(RuntimeError):
    """This process led and does no longer; the message says which lease and who holds it now."""


class Election:
    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection = connection
        self._key = Key(connection.namespace, lease_name(connection.identity.name, settings))
        self._gauge = connection.metrics.leader.labels(self._key.name)
        self._holder = _holder(self._key, connection, settings) if settings.leader_elect else None
        connection.guard.ask(self._holder.holds if self._holder else lambda: True)
        self._task: asyncio.Task[None] | None = None
        self._leading = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def state(self) -> str:
        """One phrase for /readyz."""
        if self._holder is None:
            return "no election, this process leads"
        if self._holder.holds():
            return f"{self._key} is held by this process ({self._holder.identity})"
        return f"{self._key} is held by {self._holder.holder or 'nobody'}, standing by"

    async def until_leading(self) -> None:
        if self._holder is not None:
            self._leading.clear()
            self._ended.clear()
            self._holder.belongs_to(await own_deployment(self._connection))
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

    async def until_lost(self) -> str:
        """Returns when the lease is lost, with a sentence about it."""
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
        """Gives the lease up if it is ours; another replica leads within a retry period."""
        self._gauge.set(0)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


def lease_name(operator: str, settings: Settings) -> str:
    """Each part of a sharded operator leads by itself, so each has a lease of its own."""
    name = settings.lease_name or operator
    return name if settings.shard.of == 1 else f"{name}-{settings.shard.number}-of-{settings.shard.of}"


async def own_deployment(connection: Connection) -> OwnerReference | None:
    """That of this operator, so that an uninstallation takes the lease along; outside a cluster there is none."""
    labels = {NAME_LABEL: connection.identity.name}
    try:
        found = await deployments_with(connection.client, connection.namespace, labels)
    except KubeError as error:
        log.warning("the lease gets no owner, and stays when the operator is uninstalled: %s", error)
        return None
    return _reference(found[0]) if len(found) == 1 else None


def _reference(deployment: ObjectMeta) -> OwnerReference:
    return OwnerReference(
        DEPLOYMENT.api_version, DEPLOYMENT.kind, deployment.name, deployment.uid, controller=True
    )


def _holder(key: Key, connection: Connection, settings: Settings) -> LeaseHolder:
    lease = LeaseSettings(
        key=key,
        identity=connection.identity.instance,
        duration=settings.lease_duration,
        renew_deadline=settings.renew_deadline,
        retry_period=settings.retry_period,
    )
    return LeaseHolder(connection.client, lease, connection.clock)
