"""Caches with a bound: least recently used, and time to live.

A cache holds values that can be computed or read again: dropping an entry costs time, never correctness. Values that
must survive between reconciles are state, in a dataclass of their controller (docs/design/state.md).
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from steward.kube.clock import Clock

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Drops the entry that was used least recently when it holds more than `capacity`."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def set(self, key: K, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def forget(self, key: K) -> None:
        self._entries.pop(key, None)

    def forget_where(self, matches: Callable[[K], bool]) -> None:
        for key in [key for key in self._entries if matches(key)]:
            del self._entries[key]


class _Expiring(NamedTuple, Generic[V]):
    value: V
    expires_at: float


class TtlCache(Generic[K, V]):
    """Entries expire. Expired entries are dropped once a period, so that it holds at most those of two periods.

    Dropping them at every `set` was rejected: it would walk all entries each time.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._entries: dict[K, _Expiring[V]] = {}
        self._next_sweep = clock.monotonic() + seconds

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        entry = self._entries.get(key)
        if entry is None or self._clock.monotonic() >= entry.expires_at:
            return None
        return entry.value

    def set(self, key: K, value: V, seconds: float | None = None) -> None:
        """`seconds` overrides the cache's own period, for values that should be computed again sooner."""
        now = self._clock.monotonic()
        if now >= self._next_sweep:
            self._next_sweep = now + self._seconds
            self._entries = {known: entry for known, entry in self._entries.items() if now < entry.expires_at}
        self._entries[key] = _Expiring(value, now + (self._seconds if seconds is None else seconds))

    def forget(self, key: K) -> None:
        self._entries.pop(key, None)

    def forget_where(self, matches: Callable[[K], bool]) -> None:
        self._entries = {key: entry for key, entry in self._entries.items() if not matches(key)}
