"""Replication lag as a status shows it. Pure.

A figure that moves with every check would be a status update with every check. So a lag is shown from the first step on
and as the step that it has reached, and a step is left only when the lag is below half of it. Poolers do not report a
time yet: the lag is then the WAL that the primary has written and the standby has not replayed.
"""

from collections.abc import Mapping, Sequence

from steward.multigres.servers.reports import PostgresRole, ServerReport, ShardObservation

SECONDS = (30, 60, 300, 1800, 7200, 43200)
BYTES = (64 << 20, 256 << 20, 1 << 30, 4 << 30, 16 << 30, 64 << 30)


def with_shown_lags(observation: ShardObservation, previous: ShardObservation | None) -> ShardObservation:
    """The observation with lags in steps, and without the positions, which move all the time."""
    before = {} if previous is None else previous.reports
    written = _written(observation.reports)
    reports = {
        name: _with_shown_lag(report, before.get(name), written)
        for name, report in observation.reports.items()
    }
    return observation._replace(reports=reports)


def _written(reports: Mapping[str, ServerReport]) -> int | None:
    """The WAL of the primary; of two, that of the newer rule."""
    primaries = [report for report in reports.values() if report.role is PostgresRole.PRIMARY]
    newest = max(primaries, key=lambda report: report.rule.number if report.rule else (0, 0), default=None)
    return None if newest is None else newest.position


def _with_shown_lag(report: ServerReport, before: ServerReport | None, written: int | None) -> ServerReport:
    lag = None
    if written is not None and report.position is not None and report.role is PostgresRole.STANDBY:
        lag = written - report.position
    return report._replace(
        position=None,
        lag_bytes=shown_lag(lag, None if before is None else before.lag_bytes, BYTES),
        lag_seconds=shown_lag(report.lag_seconds, None if before is None else before.lag_seconds, SECONDS),
    )


def shown_lag(lag: float | None, shown: float | None, steps: Sequence[int]) -> int | None:
    """The step to show for a lag; `shown` is the one that is shown now."""
    if lag is None:
        return None
    reached = max((step for step in steps if step <= lag), default=None)
    if shown is not None and (reached is None or reached < shown) and lag >= shown / 2:
        return int(shown)
    return reached
