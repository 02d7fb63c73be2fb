"""The servers of each shard, as the servers controller observed them last.

multiadmin may be slow or away, and a Shard's worker must not wait for it: the servers controller records here what it
observed and when, and the Shard controller reads it. A Shard that is about to replace or remove a pod requests a check.
The Shard controller is triggered only when an observation changes what it would derive. Nothing is kept over a restart:
until the first answers, the last status stays for a while (`servers/grace.py`).
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multiadmin.client import Address
from steward.multigres import names
from steward.multigres.objects import multiadmin
from steward.multigres.servers.grace import GRACE_SECONDS
from steward.multigres.servers.lag import with_shown_lags
from steward.multigres.servers.reports import ShardObservation
from steward.runtime.controller.triggers import Channel

CHECK_SECONDS = 1.0
"""The shortest time between two requested checks of a shard."""


def multiadmin_address(namespace: str, cluster: str) -> Address:
    return Address(f"{names.multiadmin(cluster)}.{namespace}.svc", multiadmin.HTTP.number)


@dataclass
class _ShardMemory:
    since: float
    observation: ShardObservation | None = None
    checked_at: float = float("-inf")
    requested: float = float("-inf")
    changed_at: float = float("-inf")
    ready_pods: frozenset[str] = frozenset()
    writable: str = ""
    unknown_since: dict[str, float] = field(default_factory=dict)
    overdue: frozenset[str] = frozenset()


class Servers:
    def __init__(self, clock: Clock, changes: Channel) -> None:
        self._clock = clock
        self._changes = changes
        self._shards: dict[Key, _ShardMemory] = {}
        self.check_requests = Channel()
        """The Shards to check."""
        self.writable_shards = Channel()
        """The Shards whose primary has begun to take writes."""

    def get(self, shard: Key) -> ShardObservation | None:
        """The last observation, None if there has been none."""
        known = self._shards.get(shard)
        return None if known is None else known.observation

    def forget(self, shard: Key) -> None:
        self._shards.pop(shard, None)

    def request_check(self, shard: Key, since: float = float("-inf")) -> None:
        """Requests an observation of which both sources are read after `since`, unless one was made a moment ago."""
        known, now = self._memory(shard), self._clock.monotonic()
        known.requested = max(known.requested, since)
        if known.checked_at < now - CHECK_SECONDS:
            self.check_requests.enqueue(shard)

    def requested_since(self, shard: Key) -> float | None:
        """The time after which an observation is requested, None if the last one is newer."""
        known = self._memory(shard)
        last = float("-inf") if known.observation is None else known.observation.at
        return known.requested if last < known.requested else None

    def record(self, shard: Key, observation: ShardObservation, pods: Collection[str]) -> None:
        """`pods` are the names of the shard's ready pods: the state of one without a report is unknown."""
        known, now = self._memory(shard), self._clock.monotonic()
        current = with_shown_lags(observation, known.observation)
        silent = [name for name in pods if name not in current.reports]
        known.unknown_since = {name: known.unknown_since.get(name, now) for name in silent}
        overdue = frozenset(name for name in silent if now - known.unknown_since[name] >= GRACE_SECONDS)
        has_changed = overdue != known.overdue or _facts(current) != _facts(known.observation)
        known.observation, known.overdue, known.checked_at = current, overdue, now
        if has_changed or known.ready_pods != frozenset(pods):
            known.changed_at, known.ready_pods = now, frozenset(pods)
        if has_changed:
            self._changes.enqueue(shard)

    def record_writable(self, shard: Key, primary: str) -> None:
        """`primary` takes writes; empty if no server does, or that is unknown."""
        known = self._memory(shard)
        has_begun = primary and not known.writable
        known.writable = primary
        if has_begun:
            self.writable_shards.enqueue(shard)

    def writable(self, shard: Key) -> str:
        """The primary that took writes when the servers were observed last; empty if there was none."""
        known = self._shards.get(shard)
        return "" if known is None else known.writable

    def unknown_seconds(self, shard: Key, pod: str) -> float:
        """For how long no report about this pod has come."""
        known = self._memory(shard)
        return self._clock.monotonic() - known.unknown_since.get(pod, known.since)

    def unchanged_seconds(self, shard: Key) -> float:
        """For how long the observations and the ready pods have been the same."""
        return self._clock.monotonic() - self._memory(shard).changed_at

    def _memory(self, shard: Key) -> _ShardMemory:
        known = self._shards.get(shard)
        if known is None:
            known = self._shards[shard] = _ShardMemory(self._clock.monotonic())
        return known


def _facts(observation: ShardObservation | None) -> ShardObservation | None:
    """An observation without its time, and without the words of errors: those may differ from one try to the next."""
    if observation is None:
        return None
    errors = dict.fromkeys(observation.errors, "")
    return observation._replace(at=0.0, errors=errors, unreachable=str(bool(observation.unreachable)))
