"""Times of backup schedules: the last and the next one. Pure; the caller passes the time.

cronsim and the time zone database handle time zones and daylight saving.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from steward.kube.objects.durations import parse_duration
from steward.multigres.api.backup import Backup, BackupSchedule
from steward.multigres.api.multigres_backup import BackupType
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default

CRON_FIELDS = 5
TYPES: tuple[BackupType, ...] = ("full", "differential", "incremental")
"""From the one that needs no other backup to the one that needs most."""


class CronLine(NamedTuple):
    cron: str
    zone: str

    def last_before(self, now: float) -> float | None:
        """The newest time until `now`, None if it never matches."""
        return self._next(now + 1.0, reverse=True)

    def next_after(self, now: float) -> float | None:
        return self._next(now, reverse=False)

    def _next(self, now: float, *, reverse: bool) -> float | None:
        moment = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(self.zone))
        try:
            return next(CronSim(self.cron, moment, reverse=reverse)).timestamp()
        except StopIteration:
            return None


def schedule_lines(backup: Backup) -> dict[BackupType, CronLine]:
    """The lines of a schedule that has no problems."""
    schedule = or_default(backup.schedule, BackupSchedule())
    lines = {name: getattr(schedule, name) for name in TYPES}
    return {name: CronLine(cron, zone_of(backup)) for name, cron in lines.items() if cron is not UNSET}


def verify_line(backup: Backup) -> CronLine | None:
    return None if backup.verify is UNSET else CronLine(backup.verify, zone_of(backup))


def zone_of(backup: Backup) -> str:
    return or_default(or_default(backup.schedule, BackupSchedule()).time_zone, "UTC")


def stale_seconds(backup: Backup) -> float | None:
    return None if backup.stale_after is UNSET else parse_duration(backup.stale_after)


def schedule_problems(backup: Backup) -> Iterator[tuple[str, str]]:
    """Fields with a message, for what cannot be read."""
    zone = zone_of(backup)
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        message = f"{zone!r} is not in the time zone database; write Europe/Zurich or UTC"
        yield "schedule.timeZone", message
        return
    for name, line in schedule_lines(backup).items():
        if why := _cron_problem(line):
            yield f"schedule.{name}", why
    verification = verify_line(backup)
    if verification is not None and (why := _cron_problem(verification)):
        yield "verify", why
    if stale_seconds(backup) == 0:
        yield "staleAfter", f"{or_default(backup.stale_after, '')} is no age; write 1s or more, such as 26h"


@lru_cache(maxsize=256)
def _cron_problem(line: CronLine) -> str:
    try:
        CronSim(line.cron, datetime(2026, 1, 1, tzinfo=ZoneInfo(line.zone)))
        # cronsim reads a sixth field as seconds. Cron expressions of Kubernetes have five, so it is most likely a typo.
        why = "" if len(line.cron.split()) == CRON_FIELDS else "Wrong number of fields"
    except CronSimError as error:
        why = str(error)
    return why and f"{line.cron!r} cannot be read ({why}); write five fields, such as `0 2 * * SUN`"
