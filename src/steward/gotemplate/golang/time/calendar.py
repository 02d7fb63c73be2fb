"""The proleptic Gregorian calendar over any year, as plain arithmetic on days since 1970."""

from typing import NamedTuple

SECONDS_PER_DAY = 86_400
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

_DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)


class Civil(NamedTuple):
    """A moment as a wall clock shows it."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(month: int, year: int) -> int:
    return 29 if month == 2 and is_leap(year) else _DAYS_BEFORE[month] - _DAYS_BEFORE[month - 1]


def days_before(month: int) -> int:
    """Days of a plain year before the month, 1 to 13."""
    return _DAYS_BEFORE[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; the month may be any number, the day too."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    years = year - 1
    leaps = years // 4 - years // 100 + years // 400
    passed = _DAYS_BEFORE[month - 1] + (1 if month > 2 and is_leap(year) else 0)
    return years * 365 + leaps + passed + day - 1 - 719_162


def civil_from_seconds(seconds: int) -> Civil:
    """Seconds since 1970 on a clock without zone."""
    days, rest = divmod(seconds, SECONDS_PER_DAY)
    year, month, day = date_from_days(days)
    return Civil(year, month, day, rest // 3600, rest // 60 % 60, rest % 60)


def date_from_days(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    day_of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (1 if month <= 2 else 0), month, day


def year_day(year: int, month: int, day: int) -> int:
    """1 to 366."""
    return days_from_civil(year, month, day) - days_from_civil(year, 1, 1) + 1


def weekday(days: int) -> int:
    """0 is Sunday."""
    return (days + 4) % 7
