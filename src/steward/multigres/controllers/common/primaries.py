"""The primary of each shard, as the topology controller observed it last.

The topology server may be slow or unreachable, and a Shard's worker must not wait for it: the topology controller
records here what it observed and when, and the Shard controller reads it. A Shard whose pods are about to be replaced
or removed requests a check here, and not through its status: a status write may be throttled, and the primary must be
known before a pod is evicted. Nothing is kept over a restart: an observation that is too old and a missing one both
mean that the primary is unknown.
"""

from collections.abc import Collection
from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres.topology.store_records import PoolerRecord
from steward.runtime.controller.triggers import Channel

FRESH_SECONDS = 10.0
"""The greatest age of an observation that a decision about servers may use."""
CHECK_SECONDS = 1.0
"""The shortest time between two checks while pods of a shard wait for the primary to be known."""
UNANSWERED_SECONDS = 3.0
"""The same while the topology server does not answer."""


class PrimaryObservation(NamedTuple):
    """The primary, None if no pooler or more than one claims the role; `at` is when the check began."""

    primary: PoolerRecord | None
    at: float
    poolers: Collection[PoolerRecord] = ()
    """All poolers that are registered for the shard."""
    is_answered: bool = True


NEVER_OBSERVED = PrimaryObservation(None, float("-inf"))


class Primaries:
    def __init__(self, clock: Clock, changes: Channel | None = None) -> None:
        """`changes` is triggered with a shard whose poolers have changed."""
        self._clock = clock
        self._changes = changes or Channel()
        self._observations: dict[Key, PrimaryObservation] = {}
        self.check_requests = Channel()
        """The clusters to check."""

    def record(self, shard: Key, observation: PrimaryObservation) -> None:
        last = self._observations.get(shard, NEVER_OBSERVED)
        self._observations[shard] = observation
        if (last.is_answered, last.poolers) != (observation.is_answered, observation.poolers):
            self._changes.enqueue(shard)

    def last(self, shard: Key) -> PrimaryObservation | None:
        """The last observation, whatever its age; None if there has been none."""
        return self._observations.get(shard)

    def forget(self, shard: Key) -> None:
        self._observations.pop(shard, None)

    def request_check(self, shard: Key, cluster: str, since: float) -> None:
        """Requests a check that begins after `since`, unless there was one a moment ago."""
        last = self._observations.get(shard, NEVER_OBSERVED)
        pause = CHECK_SECONDS if last.is_answered else UNANSWERED_SECONDS
        if last.at < max(since, self._clock.monotonic() - pause):
            self.check_requests.enqueue(Key(shard.namespace, cluster))
