"""Pods, records and reports of a shard's servers, for tests of what follows from them."""

from collections.abc import Mapping

from steward.multigres.servers.assessment import ServerPod
from steward.multigres.servers.reports import (
    PostgresRole,
    ServerId,
    ServerReport,
    ShardObservation,
    ShardRule,
)
from steward.multigres.topology.store_records import PoolerRecord

CELL = "zone-a"
ACTIVE = 2
NAMES = ("pg-0", "pg-1", "pg-2")
COHORT = frozenset(ServerId(CELL, name) for name in NAMES)
RULE = ShardRule(ServerId(CELL, "pg-0"), COHORT, 2, number=(3, 1))
PRIMARY = ServerReport(
    PostgresRole.PRIMARY,
    is_running=True,
    is_ready=True,
    followers=COHORT - {ServerId(CELL, "pg-0")},
    required_followers=1,
    rule=RULE,
)
STANDBY = ServerReport(PostgresRole.STANDBY, is_running=True, is_ready=True, is_streaming=True, rule=RULE)
DOWN = ServerReport(PostgresRole.UNKNOWN)
PODS = tuple(ServerPod(name, CELL, "main", is_ready=True) for name in NAMES)


def pooler_record(name: str, *, is_primary: bool = False, lifecycle: int = ACTIVE) -> PoolerRecord:
    return PoolerRecord(
        CELL, name, f"{name}.pg.ns.svc", "postgres", "default", "0-inf", is_primary, lifecycle
    )


RECORDS: Mapping[str, PoolerRecord] = {name: pooler_record(name, is_primary=name == "pg-0") for name in NAMES}
REPORTS: Mapping[str, ServerReport] = {"pg-0": PRIMARY, "pg-1": STANDBY, "pg-2": STANDBY}
HEALTHY = ShardObservation(100.0, RECORDS, REPORTS, {})


def pods_with(**changes: object) -> tuple[ServerPod, ...]:
    """The pods of a healthy shard, of which the last one is changed."""
    return (*PODS[:2], PODS[2]._replace(**changes))  # type: ignore[arg-type]


def reporting(**reports: ServerReport | None) -> ShardObservation:
    """A healthy shard with other reports; None for a pooler that does not answer. Names as in `pg_0`."""
    changed = {name.replace("_", "-"): report for name, report in reports.items()}
    merged = {**REPORTS, **changed}
    errors = {name: "it does not answer" for name, report in merged.items() if report is None}
    return HEALTHY._replace(
        reports={name: report for name, report in merged.items() if report is not None}, errors=errors
    )
