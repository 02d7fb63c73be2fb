"""A token bucket for requests: `qps` per second, `burst` at once.

Off by default: the API server's priority and fairness and its Retry-After are better informed. Waiters are served in
order: each reserves its token in advance and sleeps until that token exists.
"""

from steward.kube.clock import Clock


class RateLimiter:
    def __init__(self, qps: float, burst: int, clock: Clock) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._clock = clock
        self._tokens = float(self._burst)
        self._updated_at = clock.monotonic()

    async def wait(self) -> None:
        delay = self.reserve()
        if delay > 0:
            await self._clock.sleep(delay)

    def reserve(self) -> float:
        """Reserves one token and returns the seconds until it exists."""
        if self._qps <= 0:
            return 0.0
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._updated_at) * self._qps) - 1
        self._updated_at = now
        return max(0.0, -self._tokens / self._qps)
