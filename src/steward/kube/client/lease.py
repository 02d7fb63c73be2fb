"""One leader at a time, by a Lease, as client-go elects.

Clocks of other machines are never compared with ours: a lease has run out when *we* have seen the same record,
unchanged, for as long as it says. We hold it until `renew_deadline` after the moment at which we began our last
renewal that succeeded, counted on our monotonic clock, which is well before anybody else may take it. The writes here
are not subject to `before_write`: they decide what it asks.
"""

import asyncio
import logging
import random as chance
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from steward.kube.client import decode
from steward.kube.client.client import Client
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.errors import Conflict, KubeError, NotFound
from steward.kube.objects.kinds import LEASE, Key, Manifest
from steward.kube.objects.meta import OwnerReference
from steward.kube.transport.retry import NEVER

log = logging.getLogger(__name__)

JITTER = 1.2


class LeaseSettings(Struct, frozen=True, kw_only=True):
    key: Key
    identity: str
    """Unique to this process: two that share it would both lead."""
    duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    labels: dict[str, str] = {}
    owner: OwnerReference | None = None
    """With whom the lease goes."""

    def __post_init__(self) -> None:
        if not self.duration > self.renew_deadline > JITTER * self.retry_period > 0:
            raise ValueError(
                "lease: duration must be longer than the renew deadline, "
                f"and that longer than {JITTER} times the retry period"
            )


class Observed(NamedTuple):
    """A lease as we last saw it, and when we first saw this record of it."""

    lease: Manifest
    since: float

    @property
    def spec(self) -> dict[str, Any]:
        return self.lease.get("spec") or {}

    @property
    def holder(self) -> str:
        return self.spec.get("holderIdentity") or ""


def observe(before: Observed | None, lease: Manifest, now: float) -> Observed:
    """A record that did not change keeps the moment at which it was first seen."""
    fresh = Observed(lease, now)
    return Observed(lease, before.since) if before is not None and before.spec == fresh.spec else fresh


def is_free(observed: Observed, settings: LeaseSettings, now: float) -> bool:
    """Whether we may take it: ours, given up, or not renewed for as long as it was to last."""
    if observed.holder in ("", settings.identity):
        return True
    lasts = observed.spec.get("leaseDurationSeconds") or settings.duration
    return now >= observed.since + lasts


def held_by_us(before: Observed, settings: LeaseSettings, stamp: str) -> Manifest:
    """The lease as we would write it, over what it is now."""
    spec = dict(before.spec)
    if before.holder != settings.identity:
        spec["acquireTime"] = stamp
        spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + 1
    metadata = {**before.lease["metadata"], **_belonging(settings)}
    return {**before.lease, "metadata": metadata, "spec": {**spec, **_claim(settings, stamp)}}


def first_lease(settings: LeaseSettings, stamp: str) -> Manifest:
    metadata = {
        "name": settings.key.name,
        "namespace": settings.key.namespace,
        "labels": dict(settings.labels),
        **_belonging(settings),
    }
    spec = {"acquireTime": stamp, "leaseTransitions": 0, **_claim(settings, stamp)}
    return {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": spec}


def given_up(lease: Manifest, stamp: str) -> Manifest:
    spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": stamp}
    return {**lease, "spec": spec}


def _belonging(settings: LeaseSettings) -> dict[str, Any]:
    """Written with every renewal: a lease from before its owner was known, or was made anew, belongs to it too."""
    return {} if settings.owner is None else {"ownerReferences": [to_builtins(settings.owner)]}


def _claim(settings: LeaseSettings, stamp: str) -> dict[str, Any]:
    return {
        "holderIdentity": settings.identity,
        "leaseDurationSeconds": round(settings.duration),
        "renewTime": stamp,
    }


class LeaseHolder:
    def __init__(
        self,
        client: Client,
        settings: LeaseSettings,
        clock: Clock | None = None,
        random: Random = chance.random,
    ) -> None:
        # Half the deadline a call, never repeated inside: one connection that hangs must not cost the lease.
        self._client = client.for_election().within(settings.renew_deadline / 2, NEVER)
        self._settings = settings
        self._clock = clock or SystemClock()
        self._random = random
        self._observed: Observed | None = None
        self._deadline = float("-inf")

    @property
    def identity(self) -> str:
        return self._settings.identity

    @property
    def holder(self) -> str:
        """Who held the lease when it was last seen; "" when nobody did."""
        return self._observed.holder if self._observed else ""

    def holds(self) -> bool:
        return self._clock.monotonic() < self._deadline

    def belongs_to(self, owner: OwnerReference | None) -> None:
        """Who takes the lease along when it goes; nobody leaves what is there as it is."""
        self._settings = replace(self._settings, owner=owner)

    async def run(self, on_started: Callable[[], None], on_stopped: Callable[[], None]) -> None:
        """Waits for the lease, keeps it, and returns when it is lost. Cancelled, it gives the lease up."""
        try:
            await self._acquire()
            on_started()
            try:
                await self._keep()
            finally:
                self._deadline = float("-inf")
                on_stopped()
        except asyncio.CancelledError:
            await asyncio.shield(self.release())
            raise

    async def release(self) -> None:
        """Gives the lease up, if it is ours, so that the next one need not wait for it to run out."""
        self._deadline = float("-inf")
        if self.holder != self.identity:
            return
        try:
            lease = await self._client.get(LEASE, self._settings.key)
            if (lease.get("spec") or {}).get("holderIdentity") == self.identity:
                await self._client.replace(given_up(lease, self._stamp()))
        except NotFound:
            log.debug("the lease %s is gone: nobody waits for it", self._settings.key)
        except KubeError as error:
            log.warning("the lease %s was not given up and will run out: %s", self._settings.key, error)

    async def _acquire(self) -> None:
        while not await self._attempt():
            await self._clock.sleep(self._settings.retry_period * (1 + JITTER * self._random()))

    async def _keep(self) -> None:
        while self.holds():
            await self._clock.sleep(min(self._settings.retry_period, self._remaining()))
            try:
                async with asyncio.timeout(self._remaining()):
                    await self._attempt()
            except TimeoutError:
                log.warning("lease %s: no renewal succeeded in time", self._settings.key)

    async def _attempt(self) -> bool:
        """Takes or renews the lease if that is possible now; says whether we hold it."""
        began = self._clock.monotonic()
        try:
            written = await self._renew_unread() or await self._read_and_take()
        except KubeError as error:
            # Includes a race that we lost: the next attempt sees who won it.
            log.warning("lease %s: %s", self._settings.key, error)
            return self.holds()
        if written is None:
            self._deadline = float("-inf")
            return False
        self._observe(written)
        self._deadline = began + self._settings.renew_deadline
        return self.holds()

    async def _renew_unread(self) -> Manifest | None:
        """The short way: what we wrote last is still there, so write over it without reading."""
        if self._observed is None or not self.holds():
            return None
        try:
            return await self._write(held_by_us(self._observed, self._settings, self._stamp()))
        except (Conflict, NotFound):
            return None

    async def _read_and_take(self) -> Manifest | None:
        """None when somebody else holds it."""
        try:
            self._observe(await self._client.get(LEASE, self._settings.key))
        except NotFound:
            lease = first_lease(self._settings, self._stamp())
            return decode.one(await self._client.create(lease), dict)
        if self._observed is None or not is_free(self._observed, self._settings, self._clock.monotonic()):
            return None
        return await self._write(held_by_us(self._observed, self._settings, self._stamp()))

    async def _write(self, lease: Manifest) -> Manifest:
        return decode.one(await self._client.replace(lease), dict)

    def _remaining(self) -> float:
        return max(0.0, self._deadline - self._clock.monotonic())

    def _observe(self, lease: Manifest) -> None:
        self._observed = observe(self._observed, lease, self._clock.monotonic())

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self._clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
