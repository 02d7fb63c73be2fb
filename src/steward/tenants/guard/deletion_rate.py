"""Counts the deletions of the last hour that no single read held. Pure.

The guard decides on each read by itself, and deletions of a few rows at a time pass it: a script that walks through the
table can empty it within minutes. This is reported and not held: where rows are trials or previews, half of them are
deleted every hour of a working day, and users switch off a guard that holds normal work, and then miss the day of the
broken query as well. Holding only what exceeds the usual rate was rejected too: no user could predict what it holds.
"""

from typing import Final, NamedTuple

WINDOW_SECONDS: Final = 3600.0
MIN_DELETIONS: Final = 5
"""Fewer deletions are not reported, even in a small fleet: each has its own event anyway."""
_MINUTE: Final = 60.0


class MinuteCount(NamedTuple):
    number: int
    """Minutes since the epoch."""
    deleted: int
    """Negative where more rows returned, while their Tenants were still marked, than were deleted."""


class DeletionRate(NamedTuple):
    """Deletions by minute, without approved ones. Losing it is safe: the count starts again at 0."""

    minutes: tuple[MinuteCount, ...] = ()
    is_reported: bool = False
    """Whether the current rate has been reported."""

    @property
    def deleted(self) -> int:
        return max(0, sum(minute.deleted for minute in self.minutes))

    def with_deletions(self, count: int, at: float) -> "DeletionRate":
        """Adds deletions, and drops those that are more than an hour old."""
        number = int(at // _MINUTE)
        oldest = int((at - WINDOW_SECONDS) // _MINUTE)
        kept = {minute.number: minute.deleted for minute in self.minutes if minute.number > oldest}
        if count:
            kept[number] = kept.get(number, 0) + count
        return self._replace(minutes=tuple(MinuteCount(*minute) for minute in sorted(kept.items())))

    def reported_if_high(self, remaining: int, max_percent: int) -> "DeletionRate":
        """A high rate is reported once, and again only after it has been below the limit."""
        is_high = self.deleted >= MIN_DELETIONS and self.deleted * 100 > max_percent * (
            self.deleted + remaining
        )
        return self._replace(is_reported=is_high)
