"""A clock on which every sleep ends at once and counts as slept."""

from steward.testkit.clock import FakeClock


class InstantClock(FakeClock):
    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)
