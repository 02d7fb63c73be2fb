"""How many Tenants went within the last hour although no read took too many of them at once. Pure.

The guard judges a read by itself. Rows that go a few at a time are believed, so a script that walks through the table
can empty it within minutes. That is told and not held: where rows are trials or previews, half of them go every hour of
a working day, and a guard that holds what is normal is switched off, for the day of the broken query as well. To hold
only what goes faster than usual was rejected too: nobody could say beforehand what it holds.
"""

from typing import Final, NamedTuple

WINDOW_SECONDS: Final = 3600.0
FEWEST: Final = 5
"""Fewer of them say nothing about a fleet, however small it is: each is an event of its own anyway."""
_MINUTE: Final = 60.0


class Minute(NamedTuple):
    number: int
    """Since the epoch."""
    gone: int
    """Less than none where more rows came back, while their Tenants were still marked, than went."""


class Attrition(NamedTuple):
    """What went by rows alone, approvals apart, by the minute. Lost without harm: it then counts from nothing again."""

    minutes: tuple[Minute, ...] = ()
    is_told: bool = False
    """Whether this hour's loss was told already."""

    @property
    def gone(self) -> int:
        return max(0, sum(minute.gone for minute in self.minutes))

    def after(self, gone: int, at: float) -> "Attrition":
        """With so many more, and without what is longer ago than an hour."""
        number = int(at // _MINUTE)
        oldest = int((at - WINDOW_SECONDS) // _MINUTE)
        kept = {minute.number: minute.gone for minute in self.minutes if minute.number > oldest}
        if gone:
            kept[number] = kept.get(number, 0) + gone
        return self._replace(minutes=tuple(Minute(*minute) for minute in sorted(kept.items())))

    def told_if(self, staying: int, max_percent: int) -> "Attrition":
        """It is told once, and again only after it had come back below the limit."""
        is_much = self.gone >= FEWEST and self.gone * 100 > max_percent * (self.gone + staying)
        return self._replace(is_told=is_much)
