"""Decisions to let volumes grow, from the volume usage controller to the Shard controller.

A decision is forgotten when the claims have the new size, which then holds it.
"""

from steward.kube.objects.kinds import Key
from steward.multigres.rollout.autogrow import PoolGrowth
from steward.runtime.controller.triggers import Channel

Growths = tuple[PoolGrowth, ...]


class VolumeGrowth:
    def __init__(self, changes: Channel) -> None:
        self._changes = changes
        self._growths: dict[Key, Growths] = {}

    def get(self, shard: Key) -> Growths:
        return self._growths.get(shard, ())

    def record(self, shard: Key, growths: Growths) -> list[PoolGrowth]:
        """Returns the decisions that are new, by size: the words of the others may differ."""
        previous = self.get(shard)
        known = {(growth.pool, growth.size, growth.is_limited) for growth in previous}
        added = [each for each in growths if (each.pool, each.size, each.is_limited) not in known]
        if added or len(growths) != len(previous):
            self._growths[shard] = growths
            self._changes.enqueue(shard)
        return added

    def forget(self, shard: Key) -> None:
        self._growths.pop(shard, None)
