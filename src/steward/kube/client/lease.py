"""Leader election with a Lease, as client-go does it.

Clocks of other machines are never compared with ours: a lease has expired when *we* have observed the same record,
unchanged, for the lease's duration. We hold the lease until `renew_deadline` after the start of our last successful
renewal, on our monotonic clock, which is well before another replica may acquire it. The writes here skip
`before_write`, because they decide its result.

A lease whose resourceVersion goes back shows that the API server was restored from a backup. It is renewed every few
seconds, so the first replica that reads it afterwards notices, before it leads with caches of the lost history.
"""

import asyncio
import logging
import random as stdlib_random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from steward.kube.client import decode
from steward.kube.client.client import Client
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.errors import Conflict, KubeError, NotFound, ServerRestored
from steward.kube.objects.kinds import LEASE, Key, Manifest
from steward.kube.objects.meta import OwnerReference, is_after
from steward.kube.transport.retry import NO_RETRY

log = logging.getLogger(__name__)

JITTER = 1.2


class LeaseSettings(Struct, frozen=True, kw_only=True):
    key: Key
    identity: str
    """Unique to this process: two processes with the same identity would both lead."""
    duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    labels: dict[str, str] = {}
    owner: OwnerReference | None = None
    """The owner with which the lease is deleted."""

    def __post_init__(self) -> None:
        if not self.duration > self.renew_deadline > JITTER * self.retry_period > 0:
            raise ValueError(
                "lease: duration must be longer than the renew deadline, "
                f"and that longer than {JITTER} times the retry period"
            )


class ObservedLease(NamedTuple):
    """The lease as last read, and when this record was first observed."""

    lease: Manifest
    since: float

    @property
    def spec(self) -> dict[str, Any]:
        return self.lease.get("spec") or {}

    @property
    def holder(self) -> str:
        return self.spec.get("holderIdentity") or ""


def observe_lease(previous: ObservedLease | None, lease: Manifest, now: float) -> ObservedLease:
    """An unchanged record keeps the time of its first observation."""
    fresh = ObservedLease(lease, now)
    return (
        ObservedLease(lease, previous.since)
        if previous is not None and previous.spec == fresh.spec
        else fresh
    )


def is_free(observed: ObservedLease, settings: LeaseSettings, now: float) -> bool:
    """Whether we may acquire it: it is ours, released, or was not renewed for its duration."""
    if observed.holder in ("", settings.identity):
        return True
    lasts = observed.spec.get("leaseDurationSeconds") or settings.duration
    return now >= observed.since + lasts


def claimed_lease(previous: ObservedLease, settings: LeaseSettings, timestamp: str) -> Manifest:
    """The lease as we write it to acquire or renew it."""
    spec = dict(previous.spec)
    if previous.holder != settings.identity:
        spec["acquireTime"] = timestamp
        spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + 1
    metadata = {**previous.lease["metadata"], **_owner_metadata(settings)}
    return {**previous.lease, "metadata": metadata, "spec": {**spec, **_holder_fields(settings, timestamp)}}


def new_lease(settings: LeaseSettings, timestamp: str) -> Manifest:
    metadata = {
        "name": settings.key.name,
        "namespace": settings.key.namespace,
        "labels": dict(settings.labels),
        **_owner_metadata(settings),
    }
    spec = {"acquireTime": timestamp, "leaseTransitions": 0, **_holder_fields(settings, timestamp)}
    return {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": spec}


def released_lease(lease: Manifest, timestamp: str) -> Manifest:
    spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": timestamp}
    return {**lease, "spec": spec}


def _owner_metadata(settings: LeaseSettings) -> dict[str, Any]:
    """Written with every renewal, so that a lease that is older than its owner gets the owner too."""
    return {} if settings.owner is None else {"ownerReferences": [to_builtins(settings.owner)]}


def _require_not_before(previous: Manifest, lease: Manifest) -> None:
    before, after = (each["metadata"].get("resourceVersion") or "" for each in (previous, lease))
    if is_after(before, after):
        raise ServerRestored(
            f"the lease {lease['metadata']['name']} went back from version {before} to {after}: the API server was "
            "restored from a backup; this process ends, and the next one reads everything again"
        )


def _holder_fields(settings: LeaseSettings, timestamp: str) -> dict[str, Any]:
    return {
        "holderIdentity": settings.identity,
        "leaseDurationSeconds": round(settings.duration),
        "renewTime": timestamp,
    }


class LeaseHolder:
    def __init__(
        self,
        client: Client,
        settings: LeaseSettings,
        clock: Clock | None = None,
        random: Random = stdlib_random.random,
    ) -> None:
        # Half of the deadline per call, without retries inside: one hanging connection must not cost the lease.
        self._client = client.for_election().with_timeout(settings.renew_deadline / 2, NO_RETRY)
        self._settings = settings
        self._clock = clock or SystemClock()
        self._random = random
        self._observed: ObservedLease | None = None
        self._deadline = float("-inf")

    @property
    def identity(self) -> str:
        return self._settings.identity

    @property
    def holder(self) -> str:
        """The identity of the holder when the lease was last read; "" when it had none."""
        return self._observed.holder if self._observed else ""

    def holds(self) -> bool:
        return self._clock.monotonic() < self._deadline

    def set_owner(self, owner: OwnerReference | None) -> None:
        """Sets the owner of the lease; None leaves its owner references as they are."""
        self._settings = replace(self._settings, owner=owner)

    async def run(self, on_started: Callable[[], None], on_stopped: Callable[[], None]) -> None:
        """Acquires the lease, renews it, and returns when it is lost. Releases the lease when cancelled."""
        try:
            await self._acquire()
            on_started()
            try:
                await self._renew_until_lost()
            finally:
                self._deadline = float("-inf")
                on_stopped()
        except asyncio.CancelledError:
            await asyncio.shield(self.release())
            raise

    async def release(self) -> None:
        """Releases the lease if it is ours, so that the next leader need not wait until it expires."""
        self._deadline = float("-inf")
        if self.holder != self.identity:
            return
        try:
            lease = await self._client.get(LEASE, self._settings.key)
            if (lease.get("spec") or {}).get("holderIdentity") == self.identity:
                await self._client.replace(released_lease(lease, self._timestamp()))
        except NotFound:
            log.debug("the lease %s was deleted and need not be released", self._settings.key)
        except KubeError as error:
            log.warning("the lease %s was not released and will expire: %s", self._settings.key, error)

    async def _acquire(self) -> None:
        while not await self._acquire_or_renew():
            await self._clock.sleep(self._settings.retry_period * (1 + JITTER * self._random()))

    async def _renew_until_lost(self) -> None:
        while self.holds():
            await self._clock.sleep(min(self._settings.retry_period, self._remaining()))
            try:
                async with asyncio.timeout(self._remaining()):
                    await self._acquire_or_renew()
            except TimeoutError:
                log.warning("lease %s: no renewal succeeded in time", self._settings.key)

    async def _acquire_or_renew(self) -> bool:
        """Acquires or renews the lease if that is possible now; returns whether we hold it."""
        began = self._clock.monotonic()
        try:
            written = await self._renew_without_reading() or await self._read_and_acquire()
        except ServerRestored:
            raise
        except KubeError as error:
            # Includes a lost race: the next attempt reads who holds the lease.
            log.warning("lease %s: %s", self._settings.key, error)
            return self.holds()
        if written is None:
            self._deadline = float("-inf")
            return False
        self._observe(written)
        self._deadline = began + self._settings.renew_deadline
        return self.holds()

    async def _renew_without_reading(self) -> Manifest | None:
        """Writes over our last version of the lease without reading it first."""
        if self._observed is None or not self.holds():
            return None
        try:
            return await self._write(claimed_lease(self._observed, self._settings, self._timestamp()))
        except (Conflict, NotFound):
            return None

    async def _read_and_acquire(self) -> Manifest | None:
        """None when another identity holds the lease."""
        try:
            self._observe(await self._client.get(LEASE, self._settings.key))
        except NotFound:
            lease = new_lease(self._settings, self._timestamp())
            return decode.one(await self._client.create(lease), dict)
        if self._observed is None or not is_free(self._observed, self._settings, self._clock.monotonic()):
            return None
        return await self._write(claimed_lease(self._observed, self._settings, self._timestamp()))

    async def _write(self, lease: Manifest) -> Manifest:
        return decode.one(await self._client.replace(lease), dict)

    def _remaining(self) -> float:
        return max(0.0, self._deadline - self._clock.monotonic())

    def _observe(self, lease: Manifest) -> None:
        if self._observed is not None:
            _require_not_before(self._observed.lease, lease)
        self._observed = observe_lease(self._observed, lease, self._clock.monotonic())

    def _timestamp(self) -> str:
        return datetime.fromtimestamp(self._clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
