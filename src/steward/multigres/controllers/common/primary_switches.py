"""Requested switches of primaries: the Shard controller asks, the primary switch controller calls multiadmin.

A switch takes seconds, and multiadmin may be away: a Shard's worker must not wait for it. Nothing is kept over a
restart. A new process asks again only if it observes that the pod is still the primary, so a request that a crash
interrupted is either repeated or was successful.
"""

from dataclasses import dataclass
from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres.rollout.switching import SPACING_SECONDS, SwitchAttempt
from steward.runtime.controller.triggers import Channel

RETRY_SECONDS = 15.0
"""The pause after a switch that was refused."""
RECENT_SECONDS = 60.0
"""For how long a missing primary is explained by the last switch."""


class SwitchRequest(NamedTuple):
    """A switch away from a pod; `purpose` says why, for the event and for multiadmin's log. `spacing` is the shortest
    time in seconds since the last one."""

    primary: str
    purpose: str
    spacing: float = SPACING_SECONDS


@dataclass
class _Switch:
    request: SwitchRequest
    at: float
    is_pending: bool = True
    error: str = ""


class PrimarySwitches:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._switches: dict[Key, _Switch] = {}
        self.requests = Channel()
        """The Shards whose primary is to be switched."""

    def request(self, shard: Key, request: SwitchRequest) -> None:
        """Asks for a switch, unless one is in progress or was a moment ago."""
        if self._pause(shard, request.spacing) <= 0:
            self._switches[shard] = _Switch(request, self._clock.monotonic())
            self.requests.enqueue(shard)

    def pending(self, shard: Key) -> SwitchRequest | None:
        known = self._switches.get(shard)
        return known.request if known is not None and known.is_pending else None

    def record_end(self, shard: Key, error: str = "") -> None:
        known = self._switches.get(shard)
        if known is not None:
            known.is_pending, known.error, known.at = False, error, self._clock.monotonic()

    def last(self, shard: Key) -> SwitchAttempt | None:
        """The latest request, None if it was long ago."""
        known = self._switches.get(shard)
        if known is None or self._clock.monotonic() - known.at > RECENT_SECONDS:
            return None
        return SwitchAttempt(known.request.primary, known.error)

    def forget(self, shard: Key) -> None:
        self._switches.pop(shard, None)

    def _pause(self, shard: Key, spacing: float) -> float:
        """Seconds until the next request may be made."""
        known = self._switches.get(shard)
        if known is None:
            return 0.0
        if known.is_pending:
            return RETRY_SECONDS
        pause = RETRY_SECONDS if known.error else spacing
        return known.at + pause - self._clock.monotonic()
