"""How long a key that failed waits: doubling from 5 ms to 5 minutes, shortened by chance, never lengthened.

Jitter only shortens, so the cap is a real cap; and it is a fifth, enough to keep a thousand keys that failed at the
same moment from coming back at the same moment.
"""

from typing import NamedTuple


class Backoff(NamedTuple):
    first: float = 0.005
    cap: float = 300.0
    jitter: float = 0.2

    def delay(self, failures: int, chance: float) -> float:
        """The wait after the given number of failures in a row (at least one); chance is in [0, 1)."""
        # Past this exponent any first delay has met any cap, and floats would overflow long after.
        doubled = self.first * 2.0 ** min(failures - 1, 64)
        return min(doubled, self.cap) * (1.0 - self.jitter * chance)
