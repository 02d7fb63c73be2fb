"""A token bucket in front of the socket: `qps` requests a second, `burst` at once.

Off by default, since the server's own fairness and its Retry-After know better. Waiters leave in the order in
which they came: each takes its token in advance and sleeps until that token exists.
"""

from steward.kube.clock import Clock


class Limiter:
    def __init__(self, qps: float, burst: int, clock: Clock) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._clock = clock
        self._tokens = float(self._burst)
        self._seen = clock.monotonic()

    async def wait(self) -> None:
        delay = self.take()
        if delay > 0:
            await self._clock.sleep(delay)

    def take(self) -> float:
        """Takes one token and says how many seconds from now it will exist."""
        if self._qps <= 0:
            return 0.0
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._seen) * self._qps) - 1
        self._seen = now
        return max(0.0, -self._tokens / self._qps)
