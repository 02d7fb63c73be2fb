"""Rate limits by key: a session, or an address. Each key has a bucket of tokens that fills up with time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_KEPT_KEYS: Final = 10_000


@dataclass
class RateLimit:
    """`per_second` tokens arrive, and at most `burst` are kept."""

    per_second: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def allows(self, key: str) -> bool:
        """Takes one token of the key, if it has one."""
        now = self.clock()
        tokens, last = self._buckets.pop(key, (float(self.burst), now))
        tokens = min(float(self.burst), tokens + (now - last) * self.per_second)
        is_allowed = tokens >= 1
        self._buckets[key] = (tokens - is_allowed, now)
        if len(self._buckets) > _KEPT_KEYS:
            # The key that was used longest ago has a full bucket again by now.
            del self._buckets[next(iter(self._buckets))]
        return is_allowed
