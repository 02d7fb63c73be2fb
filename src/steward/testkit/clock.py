"""A fake clock that moves only when the test moves it.

It implements the engine's clock (`now`, `monotonic`, `sleep`). Nothing here waits for real time.

    clock = FakeClock()
    task = asyncio.create_task(holder.run())     # sleeps on the clock
    await clock.pass_time(15)                    # ends every sleep that is due on the way, in order
    clock.jump(3600)                             # sets the wall clock only, not the monotonic time

`advance` is for code without tasks: it moves the clock and wakes the sleepers that are due, which run when the test
next awaits. `pass_time` stops at each sleeper's deadline and lets it run before it continues, so a loop that sleeps one
second ten times runs ten times in `pass_time(10)`.
"""

import asyncio
import heapq
import itertools

TURNS = 20


class FakeClock:
    """A clock for tests; wall and monotonic time start at different values, so that mixing them up is noticed."""

    def __init__(self, now: float = 1_800_000_000.0, monotonic: float = 5_000.0) -> None:
        self._now = now
        self._monotonic = monotonic
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._asleep = asyncio.Event()

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        """Return when the test has moved the clock by `seconds`; a cancelled sleeper is dropped."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic + seconds, next(self._order), woken))
        self._asleep.set()
        await woken

    @property
    def sleepers(self) -> int:
        """Number of tasks that sleep on this clock."""
        return sum(1 for _, _, woken in self._sleepers if not woken.done())

    @property
    def next_wake(self) -> float | None:
        """Seconds until the first sleeper is due; None without sleepers."""
        deadlines = [deadline for deadline, _, woken in self._sleepers if not woken.done()]
        return min(deadlines) - self._monotonic if deadlines else None

    def advance(self, seconds: float) -> None:
        """Move both times forward and wake the sleepers that are due; they run when the test next awaits."""
        if seconds < 0:
            raise ValueError(f"time cannot go back by {-seconds} s; use jump() to move the wall clock alone")
        self._now += seconds
        self._monotonic += seconds
        while self._sleepers and self._sleepers[0][0] <= self._monotonic:
            _, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)

    def jump(self, seconds: float) -> None:
        """Move only the wall clock, in either direction, as an administrator or NTP would."""
        self._now += seconds

    async def pass_time(self, seconds: float) -> None:
        """Advance to each deadline in turn, and let the woken tasks run (and sleep again) before continuing."""
        end = self._monotonic + seconds
        await let_others_run()
        while (wait := self.next_wake) is not None and self._monotonic + wait <= end:
            self.advance(wait)
            await let_others_run()
        self.advance(max(0.0, end - self._monotonic))
        await let_others_run()

    async def until_asleep(self, count: int = 1) -> None:
        """Return once `count` tasks sleep on the clock: the point from which a test may move it."""
        while self.sleepers < count:
            self._asleep.clear()
            await self._asleep.wait()


async def let_others_run(turns: int = TURNS) -> None:
    """Run some iterations of the event loop. For code that waits for a socket, wait for a condition instead."""
    for _ in range(turns):
        await asyncio.sleep(0)
