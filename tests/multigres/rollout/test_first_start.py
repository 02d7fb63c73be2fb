"""A shard counts as one that never started only if everything says so."""

from typing import Any

import pytest

from steward.multigres.api.shard import ShardBackupStatus, ShardStatus
from steward.multigres.api.status import Condition
from steward.multigres.rollout.first_start import HAS_STARTED, FirstStart, ShardHistory, first_start
from steward.multigres.servers.reports import (
    FIRST_BACKUP,
    RESTORING,
    PostgresRole,
    ServerReport,
    ShardObservation,
)
from tests.multigres.support.servers import NAMES, RULE, pooler_record

EMPTY = ServerReport(PostgresRole.UNKNOWN, is_initialized=False)
RECORDS = [pooler_record(name) for name in NAMES]
SEEN = ShardObservation(100.0, {record.name: record for record in RECORDS}, dict.fromkeys(NAMES, EMPTY), {})
NEW = ShardHistory(ShardStatus(), SEEN, 1.0, RECORDS, dict.fromkeys(NAMES, 100.0), frozenset(NAMES))


def with_report(**changes: Any) -> ShardHistory:
    reports = {**SEEN.reports, NAMES[1]: EMPTY._replace(**changes)}
    return NEW._replace(observation=SEEN._replace(reports=reports))


def test_servers_without_data_that_cannot_start_have_never_started() -> None:
    assert first_start(NEW) == FirstStart(True)
    assert first_start(with_report(is_running=True, role=PostgresRole.STARTING)) == FirstStart(True)
    assert first_start(with_report(action=FIRST_BACKUP)) == FirstStart(True)


@pytest.mark.parametrize(
    "changes",
    [
        {"is_initialized": True},
        {"is_ready": True},
        {"rule": RULE},
        {"role": PostgresRole.PRIMARY},
        {"role": PostgresRole.PROMOTING},
        {"action": RESTORING},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_one_server_that_may_have_data_is_enough(changes: dict[str, Any]) -> None:
    assert first_start(with_report(**changes)) == HAS_STARTED


AVAILABLE = Condition(
    type="Available", status="True", reason="r", message="", last_transition_time="2026-01-01T00:00:00Z"
)


@pytest.mark.parametrize(
    "status",
    [
        ShardStatus(primary="pg-0"),
        ShardStatus(conditions=[AVAILABLE]),
        ShardStatus(backup=ShardBackupStatus(last_backup="20260101-000000F")),
        ShardStatus(backup=ShardBackupStatus(backups=1)),
    ],
    ids=["primary", "available", "backup", "backups"],
)
def test_a_status_that_reports_a_primary_or_a_backup_is_enough(status: ShardStatus) -> None:
    assert first_start(NEW._replace(status=status)) == HAS_STARTED


@pytest.mark.parametrize(
    "record",
    [pooler_record("gone", is_primary=True), pooler_record("gone")._replace(rule=(1, 0))],
    ids=["role", "rule"],
)
def test_the_record_of_a_primary_is_enough_although_its_pod_is_gone(record: Any) -> None:
    assert first_start(NEW._replace(records=[*RECORDS, record])) == HAS_STARTED


def test_a_volume_or_a_pod_without_a_report_may_have_data() -> None:
    assert first_start(NEW._replace(volumes=frozenset({*NAMES, "pg-3"}))) == HAS_STARTED
    assert first_start(NEW._replace(started_for={**NEW.started_for, "pg-3": 0.0})) == HAS_STARTED
    assert (
        first_start(NEW._replace(observation=SEEN._replace(reports={}), volumes=frozenset())) == HAS_STARTED
    )


@pytest.mark.parametrize(
    "changes",
    [{"observation": None}, {"observed_for": 31.0}, {"records": None}],
    ids=["no observation", "an old observation", "no topology server"],
)
def test_what_cannot_be_read_now_is_read_later(changes: dict[str, Any]) -> None:
    assert first_start(NEW._replace(**changes)) == FirstStart(False, 5.0)


@pytest.mark.parametrize(("seconds", "retry"), [(0.0, 90.0), (30.0, 60.0), (89.0, 5.0)])
def test_servers_get_time_to_start(seconds: float, retry: float) -> None:
    ready = {**NEW.started_for, NAMES[2]: seconds}
    assert first_start(NEW._replace(started_for=ready)) == FirstStart(False, retry)
