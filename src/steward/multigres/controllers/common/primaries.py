"""Who leads each shard, as the topology controller saw it last.

The topology server may be slow or silent, and a Shard's worker must not wait for it: the controller that speaks with
the server writes down here what it saw and when, and a Shard reads it. A Shard whose pods are about to go asks for a
look here, and not by way of its status: that may be held back, and who leads must be known before a pod goes. Nothing
is kept over a restart: a look too old to trust and one never made are the same, and both mean that the primary is not
known.
"""

from collections.abc import Collection
from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres.topology.store_records import PoolerRecord
from steward.runtime.controller.triggers import Channel

FRESH_SECONDS = 10.0
CLOSE_SECONDS = 1.0
"""How often one looks while pods of a shard may go only if their role is known."""
SILENT_SECONDS = 3.0
"""The same while the server does not answer."""


class Sighting(NamedTuple):
    """The primary, None when nobody or more than one claimed to lead; `at` is when the look began."""

    primary: PoolerRecord | None
    at: float
    poolers: Collection[PoolerRecord] = ()
    """All that are registered for the shard."""
    is_answered: bool = True


NEVER = Sighting(None, float("-inf"))


class Primaries:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[Key, Sighting] = {}
        self.asked = Channel()
        """The clusters that somebody wants to have looked at."""

    def saw(self, shard: Key, sighting: Sighting) -> None:
        self._seen[shard] = sighting

    def forget(self, shard: Key) -> None:
        self._seen.pop(shard, None)

    def ask(self, shard: Key, cluster: str, moment: float) -> None:
        """For a look that began after `moment`, unless there was one just now."""
        last = self._seen.get(shard, NEVER)
        pause = CLOSE_SECONDS if last.is_answered else SILENT_SECONDS
        if last.at < max(moment, self._clock.monotonic() - pause):
            self.asked.tell(Key(shard.namespace, cluster))

    def sighting_since(self, shard: Key, moment: float) -> Sighting | None:
        """A look that began after `moment` and not long ago."""
        last = self._seen.get(shard, NEVER)
        is_fresh = self._clock.monotonic() - last.at <= FRESH_SECONDS
        return last if is_fresh and last.at >= moment else None
