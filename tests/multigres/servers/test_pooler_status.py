"""What multiadmin's answer about a pooler says about its Postgres."""

import json
from typing import Any

import pytest

from steward.multiadmin.answers import decode_pooler_status
from steward.multigres.servers.pooler_status import server_report
from steward.multigres.servers.reports import PostgresRole, ServerId, ServerReport, ShardRule
from tests.multiadmin.support.statuses import CONSENSUS, DECISION, IDLE, PRIMARY, RUNNING, STANDBY

COHORT = frozenset(ServerId("z1", f"pg-{number}") for number in range(3))
RULE = ShardRule(ServerId("z1", "pg-0"), COHORT, 2, False, (7, 2))


def report_of(document: dict[str, Any]) -> ServerReport:
    return server_report(decode_pooler_status(json.dumps(document).encode()))


def with_decision(**fields: Any) -> dict[str, Any]:
    position = {"position": {"decision": {**DECISION, **fields}}}
    return {**PRIMARY, "consensusStatus": {**CONSENSUS, "currentPosition": position}}


def test_primary_reports_its_followers_and_the_rule() -> None:
    report = report_of(PRIMARY)
    assert (report.role, report.is_running, report.is_ready) == (PostgresRole.PRIMARY, True, True)
    assert (report.followers, report.required_followers) == (COHORT - {ServerId("z1", "pg-0")}, 1)
    assert (report.rule, report.position) == (RULE, 0x5000060)


def test_standby_reports_whether_it_streams() -> None:
    report = report_of(STANDBY)
    assert (report.role, report.is_ready, report.is_streaming) == (PostgresRole.STANDBY, True, True)
    assert (report.lag_seconds, report.position) == (1.5, 0x5000060)


def test_primary_that_answers_no_query_is_not_ready() -> None:
    status = {**RUNNING, "postgresStatus": "POSTGRES_STATUS_PRIMARY"}
    assert not report_of({"status": status}).is_ready


def test_empty_status_is_a_postgres_that_is_down() -> None:
    """Values that are zero may be left out."""
    report = report_of({"status": {}})
    assert report == ServerReport(PostgresRole.UNKNOWN, is_initialized=False)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("POSTGRES_ACTION_UNSPECIFIED", ""),
        ("POSTGRES_ACTION_STARTING", "starting Postgres"),
        ("POSTGRES_ACTION_RESTORING_FROM_BACKUP", "restoring a backup"),
        ("POSTGRES_ACTION_CREATING_FIRST_BACKUP", "creating the first backup"),
        ("POSTGRES_ACTION_OF_A_NEWER_VERSION", ""),
    ],
)
def test_action_is_reported_in_words(action: str, words: str) -> None:
    assert report_of({"status": {**IDLE, "postgresAction": action}}).action == words


@pytest.mark.parametrize(
    ("decision", "rule"),
    [
        ({"cohortMembers": []}, None),
        ({"cohortMembers": None}, None),
        ({"leaderId": None}, RULE._replace(leader=None)),
        ({"ruleNumber": None}, RULE._replace(number=(0, 0))),
        ({"durabilityPolicy": None}, RULE._replace(required=0)),
        (
            {"durabilityPolicy": {"quorumType": "QUORUM_TYPE_MULTI_CELL_AT_LEAST_N", "requiredCount": 3}},
            RULE._replace(required=3, counts_cells=True),
        ),
    ],
)
def test_rule_is_that_which_the_servers_have_decided(
    decision: dict[str, Any], rule: ShardRule | None
) -> None:
    assert report_of(with_decision(**decision)).rule == rule
