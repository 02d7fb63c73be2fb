"""Maintenance windows: when the next one opens and whether one is open. Pure; the time is handed in.

Time zones and daylight saving are cronsim's and the time zone database's business. A window that was missed is missed:
only the present and the future are asked about.
"""

import datetime
import re
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from steward.multigres.api.updates import UpdateWindow
from steward.multigres.resolution.layers import given

ONE_HOUR = "1h"
UNITS = {"s": 1, "m": 60, "h": 3600}
CRON_FIELDS = 5
LONGEST_SECONDS = 366 * 24 * 3600


def window_problem(window: UpdateWindow) -> str:
    """One sentence when the window cannot be read, else nothing."""
    try:
        zone = _zone(window)
    except (KeyError, ValueError, OSError):
        return f"timeZone {given(window.time_zone, '')!r} is not in the time zone database; write Europe/Zurich or UTC"
    return _cron_problem(window, zone) or _duration_problem(window)


def _cron_problem(window: UpdateWindow, zone: ZoneInfo) -> str:
    try:
        CronSim(window.cron, datetime.datetime(2026, 1, 1, tzinfo=zone))
        # A sixth field would be seconds: no other cron of Kubernetes has them, and the field is a slip.
        why = "" if len(window.cron.split()) == CRON_FIELDS else "Wrong number of fields"
    except CronSimError as error:
        why = str(error)
    return why and f"cron {window.cron!r} cannot be read ({why}); write five fields, such as `0 2 * * SUN`"


def _duration_problem(window: UpdateWindow) -> str:
    if 0 < duration_seconds(window) <= LONGEST_SECONDS:
        return ""
    return f"duration {given(window.duration, ONE_HOUR)} is no time that a window is open; write 1s to 8784h"


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
