"""Maintenance windows: when the next one opens and whether one is open. Pure; the time is handed in.

Time zones and daylight saving are cronsim's and the time zone database's business. A window that was missed is missed:
only the present and the future are asked about.
"""

import datetime
import re
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from steward.multigres.api.updates import UpdateWindow
from steward.multigres.layers import given

ONE_HOUR = "1h"
UNITS = {"s": 1, "m": 60, "h": 3600}


def window_problem(window: UpdateWindow) -> str:
    """One sentence when the window cannot be read, else nothing."""
    try:
        zone = _zone(window)
    except (KeyError, ValueError, OSError):
        return f"timeZone {given(window.time_zone, '')!r} is not in the time zone database; write Europe/Zurich or UTC"
    try:
        CronSim(window.cron, datetime.datetime(2026, 1, 1, tzinfo=zone))
    except CronSimError as error:
        return f"cron {window.cron!r} cannot be read ({error}); write five fields, such as `0 2 * * SUN`"
    return ""


def duration_seconds(window: UpdateWindow) -> int:
    return sum(
        int(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)([smh])", given(window.duration, ONE_HOUR))
    )


def next_opening(window: UpdateWindow, now: datetime.datetime) -> datetime.datetime:
    """The next time after `now` at which the window opens, in UTC."""
    return next(CronSim(window.cron, now.astimezone(_zone(window)))).astimezone(datetime.UTC)


def is_open(window: UpdateWindow, now: datetime.datetime) -> bool:
    """Whether a window that opened within its duration before `now` is still open."""
    length = datetime.timedelta(seconds=duration_seconds(window))
    return next_opening(window, now - length) <= now


def _zone(window: UpdateWindow) -> ZoneInfo:
    return ZoneInfo(given(window.time_zone, "UTC"))
