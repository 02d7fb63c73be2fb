"""Maintenance windows: when the next one opens and whether one is open now. Pure; the caller passes the time.

cronsim and the time zone database handle time zones and daylight saving. A window that was missed is not made up for.
"""

import datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from steward.kube.objects.durations import parse_duration
from steward.multigres.api.unset import or_default
from steward.multigres.api.updates import UpdateWindow

ONE_HOUR = "1h"
CRON_FIELDS = 5
LONGEST_SECONDS = 366 * 24 * 3600


def window_problem(window: UpdateWindow) -> str:
    """A message if the window is invalid, otherwise empty."""
    try:
        zone = _zone(window)
    except (KeyError, ValueError, OSError):
        name = or_default(window.time_zone, "")
        return f"timeZone {name!r} is not in the time zone database; write Europe/Zurich or UTC"
    return _cron_problem(window, zone) or _duration_problem(window)


def _cron_problem(window: UpdateWindow, zone: ZoneInfo) -> str:
    try:
        CronSim(window.cron, datetime.datetime(2026, 1, 1, tzinfo=zone))
        # cronsim reads a sixth field as seconds. Cron expressions of Kubernetes have five, so it is most likely a typo.
        why = "" if len(window.cron.split()) == CRON_FIELDS else "Wrong number of fields"
    except CronSimError as error:
        why = str(error)
    return why and f"cron {window.cron!r} cannot be read ({why}); write five fields, such as `0 2 * * SUN`"


def _duration_problem(window: UpdateWindow) -> str:
    if 0 < duration_seconds(window) <= LONGEST_SECONDS:
        return ""
    return f"duration {or_default(window.duration, ONE_HOUR)} is not a valid length of a window; write 1s to 8784h"


def duration_seconds(window: UpdateWindow) -> float:
    """0 when the text is no duration; `window_problem` reports that."""
    try:
        return parse_duration(or_default(window.duration, ONE_HOUR))
    except ValueError:
        return 0.0


def next_opening(window: UpdateWindow, now: datetime.datetime) -> datetime.datetime:
    """The next time after `now` at which the window opens, in UTC."""
    return next(CronSim(window.cron, now.astimezone(_zone(window)))).astimezone(datetime.UTC)


def is_open(window: UpdateWindow, now: datetime.datetime) -> bool:
    """Whether a window that opened within its duration before `now` is still open."""
    length = datetime.timedelta(seconds=duration_seconds(window))
    return next_opening(window, now - length) <= now


def _zone(window: UpdateWindow) -> ZoneInfo:
    return ZoneInfo(or_default(window.time_zone, "UTC"))
