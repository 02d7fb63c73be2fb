"""Whether a shard has yet to start for the first time: no server has data, and none has ever been the primary. Pure.

Every source is one that outlives the operator: the status of the Shard, the records of the topology server, the volume
claims, and the mark that a pooler leaves on its volume when its data directory is complete. One of them that says
otherwise, or that cannot be read, is enough to treat the shard as one with data.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from steward.kube.objects.conditions import TRUE
from steward.multigres.api.shard import ShardStatus
from steward.multigres.api.unset import or_default
from steward.multigres.servers.reports import RESTORING, PostgresRole, ServerReport, ShardObservation
from steward.multigres.status.conditions import AVAILABLE
from steward.multigres.status.servers import has_served
from steward.multigres.topology.store_records import PoolerRecord

START_SECONDS = 90.0
"""For this long servers whose pods were started may be about to start Postgres."""
OBSERVED_SECONDS = 30.0
"""The greatest age of an observation. Servers that start are checked every ten seconds at least."""
RECHECK_SECONDS = 5.0
LEADING = frozenset({PostgresRole.PRIMARY, PostgresRole.PROMOTING})


class ShardHistory(NamedTuple):
    """What is known about a shard; times are in seconds since now."""

    status: ShardStatus
    observation: ShardObservation | None
    observed_for: float
    """The age of the observation."""
    records: Iterable[PoolerRecord] | None
    """All poolers that have ever registered; None if the topology server did not answer."""
    started_for: Mapping[str, float]
    """For how long the containers of each pod have been started."""
    volumes: frozenset[str]
    """The pods, existing or not, that have a data volume."""


class FirstStart(NamedTuple):
    """`retry_after`: it may be outstanding, which is known after this many seconds."""

    is_outstanding: bool
    retry_after: float | None = None


HAS_STARTED = FirstStart(False)


def first_start(history: ShardHistory) -> FirstStart:
    seen, records = history.observation, history.records
    has_served_before = has_served(history.status) or _is_available(history.status)
    if has_served_before or any(map(_has_led, records or ())):
        return HAS_STARTED
    if seen is None or records is None or history.observed_for > OBSERVED_SECONDS:
        return FirstStart(False, RECHECK_SECONDS)
    if not seen.reports or any(map(_may_have_data, seen.reports.values())):
        return HAS_STARTED
    if not history.volumes | set(history.started_for) <= set(seen.reports):
        return HAS_STARTED
    missing = START_SECONDS - min((history.started_for.get(name, 0.0) for name in seen.reports), default=0.0)
    return FirstStart(False, max(missing, RECHECK_SECONDS)) if missing > 0 else FirstStart(True)


def _is_available(status: ShardStatus) -> bool:
    return any(each.type == AVAILABLE and each.status == TRUE for each in or_default(status.conditions, []))


def _has_led(record: PoolerRecord) -> bool:
    return record.is_primary or record.rule != (0, 0)


def _may_have_data(report: ServerReport) -> bool:
    """A server that restores: the backup was made by a primary."""
    has_run = report.is_initialized or report.is_ready or report.role in LEADING
    return has_run or report.rule is not None or report.action == RESTORING
