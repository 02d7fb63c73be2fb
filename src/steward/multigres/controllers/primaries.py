"""Who leads each shard, as the topology controller saw it last.

The topology server may be slow or silent, and a Shard's worker must not wait for it: the controller that speaks with
the server writes down here what it saw and when, and a Shard reads it. Nothing is kept over a restart: a look too old
to trust and one never made are the same, and both mean that the primary is not known.
"""

from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.kinds import Key
from steward.multigres.topology import PoolerRecord

FRESH_SECONDS = 10.0


class Sighting(NamedTuple):
    """The primary, None when nobody or more than one claimed to lead; `at` is when the look began."""

    primary: PoolerRecord | None
    at: float


class Primaries:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[Key, Sighting] = {}

    def saw(self, shard: Key, sighting: Sighting) -> None:
        self._seen[shard] = sighting

    def forget(self, shard: Key) -> None:
        self._seen.pop(shard, None)

    def seen_since(self, shard: Key, moment: float) -> PoolerRecord | None:
        """The primary of a look that began after `moment` and not long ago."""
        sighting = self._seen.get(shard)
        if sighting is None or sighting.at < moment:
            return None
        return sighting.primary if self._clock.monotonic() - sighting.at <= FRESH_SECONDS else None
