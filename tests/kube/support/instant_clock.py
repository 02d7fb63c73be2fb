"""A clock whose sleeps end at once and are recorded."""

from steward.testkit.clock import FakeClock


class InstantClock(FakeClock):
    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
