"""The API server's clock, from the Date header of its last response.

An object that is deleted after a period, such as a volume claim that has been unused for a day, must not be deleted
early because the clock of one machine was set forward. The earlier of the two clocks decides: one that is wrong alone
can only delay a deletion.
"""

from datetime import UTC
from email.utils import parsedate_to_datetime

from steward.kube.clock import Clock

WHOLE_SECONDS = 1.0
"""The header has no fractions: the server's time is up to a second later."""


class ServerTime:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._date = ""
        self._noted_at = 0.0

    def note(self, date: str) -> None:
        """Called for every response; the text is parsed when it is needed."""
        if date:
            self._date, self._noted_at = date, self._clock.monotonic()

    def now(self) -> float | None:
        """None before the first response, or if the server sends no date that can be read."""
        try:
            noted = parsedate_to_datetime(self._date).replace(tzinfo=UTC).timestamp()
        except ValueError:
            return None
        return noted + self._clock.monotonic() - self._noted_at

    def earlier(self, local: float) -> float:
        """The earlier of the local time and the server's; the local time as long as they agree."""
        server = self.now()
        return local if server is None else min(local, server + WHOLE_SECONDS)
