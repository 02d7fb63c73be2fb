"""The state of each server, and whether the shard takes writes, from pods, records and reports."""

import pytest

from steward.multigres.servers.assessment import ServerState, assess_servers
from steward.multigres.servers.durability import AT_LEAST_2
from steward.multigres.servers.reports import PostgresRole, ServerId, ServerReport, ShardObservation
from steward.multigres.topology.store_records import QUARANTINED, SHUTDOWN
from tests.multigres.support.servers import (
    CELL,
    COHORT,
    DOWN,
    HEALTHY,
    PODS,
    PRIMARY,
    RECORDS,
    RULE,
    STANDBY,
    pods_with,
    pooler_record,
    reporting,
)

SILENT = HEALTHY._replace(reports={}, unreachable="it accepts no connection")
NO_RECORDS = HEALTHY._replace(records=None)


def with_record(name: str, **changes: object) -> ShardObservation:
    return HEALTHY._replace(records={**RECORDS, name: pooler_record(name, **changes)})  # type: ignore[arg-type]


def test_healthy_shard_takes_writes_and_every_server_is_ready() -> None:
    servers = assess_servers(PODS, HEALTHY, AT_LEAST_2)
    assert {server.state for server in servers.servers} == {ServerState.READY}
    assert (servers.primary, servers.takes_writes) == ("pg-0", True)
    assert servers.cohort == {"pg-0", "pg-1", "pg-2"}
    assert (servers.policy.required, servers.unknown) == (2, "")


@pytest.mark.parametrize(
    ("state", "pods", "observation"),
    [
        (ServerState.MISSING, pods_with(exists=False), HEALTHY),
        (ServerState.TERMINATING, pods_with(is_terminating=True), HEALTHY),
        (ServerState.QUARANTINED, PODS, with_record("pg-2", lifecycle=QUARANTINED)),
        (ServerState.DOWN, PODS, reporting(pg_2=DOWN)),
        (ServerState.NOT_STREAMING, PODS, reporting(pg_2=STANDBY._replace(is_streaming=False))),
        (ServerState.STARTING, PODS, reporting(pg_2=DOWN._replace(action="restoring a backup"))),
        (ServerState.STARTING, PODS, reporting(pg_2=DOWN._replace(is_initialized=False))),
        (ServerState.STARTING, PODS, reporting(pg_2=ServerReport(PostgresRole.STARTING, is_running=True))),
        (ServerState.STARTING, PODS, reporting(pg_2=ServerReport(PostgresRole.PROMOTING, is_running=True))),
        (ServerState.STARTING, pods_with(is_ready=False), reporting(pg_2=None)),
        (ServerState.STARTING, pods_with(is_ready=False), SILENT),
        (ServerState.UNKNOWN, PODS, reporting(pg_2=None)),
        (ServerState.UNKNOWN, PODS, SILENT),
        (ServerState.UNKNOWN, PODS, None),
        (ServerState.READY, PODS, NO_RECORDS),
        (ServerState.READY, PODS, with_record("pg-2", lifecycle=SHUTDOWN)),
        (
            ServerState.UNREGISTERED,
            PODS,
            reporting(pg_2=None)._replace(
                records={name: record for name, record in RECORDS.items() if name != "pg-2"}
            ),
        ),
    ],
)
def test_state_of_a_server(
    state: ServerState, pods: tuple[object, ...], observation: ShardObservation | None
) -> None:
    assert assess_servers(pods, observation, AT_LEAST_2).servers[2].state is state  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("takes_writes", "primary", "observation"),
    [
        (True, "pg-0", NO_RECORDS),
        (None, "pg-0", SILENT),
        (None, None, SILENT._replace(records=None)),
        (None, None, None),
        (None, "pg-0", reporting(pg_0=None)),
        (False, "pg-0", reporting(pg_0=DOWN)),
        (False, "pg-0", reporting(pg_0=PRIMARY._replace(followers=frozenset()))),
        (False, "pg-0", reporting(pg_0=PRIMARY._replace(followers=frozenset({ServerId(CELL, "gone")})))),
        (False, None, reporting(pg_0=STANDBY)),
        (False, None, NO_RECORDS._replace(reports=dict.fromkeys(RECORDS, STANDBY))),
        (False, "pg-0", with_record("pg-0")),
        (False, None, SILENT._replace(records={"pg-1": pooler_record("pg-1")})),
        (False, None, reporting(pg_0=DOWN)._replace(records={})),
        (False, None, reporting(pg_0=STANDBY)._replace(records={})),
    ],
)
def test_shard_takes_writes_if_its_primary_and_enough_standbys_do(
    takes_writes: bool | None, primary: str | None, observation: ShardObservation | None
) -> None:
    servers = assess_servers(PODS, observation, AT_LEAST_2)
    assert (servers.takes_writes, servers.primary) == (takes_writes, primary)


@pytest.mark.parametrize("change", [{"exists": False}, {"is_terminating": True}, {"is_ready": False}])
def test_primary_whose_pod_ends_takes_no_writes(change: dict[str, bool]) -> None:
    """Its record stays: it is that of a pooler that was killed, until another is elected."""
    pods = (PODS[0]._replace(**change), *PODS[1:])
    servers = assess_servers(pods, reporting(pg_0=None), AT_LEAST_2)
    assert (servers.primary, servers.takes_writes) == ("pg-0", False)


@pytest.mark.parametrize("observation", [None, SILENT._replace(records=None)])
def test_shard_whose_pods_are_not_there_yet_takes_no_writes(observation: ShardObservation | None) -> None:
    pods = tuple(pod._replace(exists=False) for pod in PODS)
    assert assess_servers(pods, observation, AT_LEAST_2).takes_writes is False


def test_newest_rule_decides_between_two_primaries() -> None:
    newer = RULE._replace(leader=ServerId(CELL, "pg-1"), number=(4, 0))
    servers = assess_servers(PODS, reporting(pg_1=PRIMARY._replace(rule=newer)), AT_LEAST_2)
    assert servers.primary == "pg-1"


def test_two_primaries_of_the_same_rule_are_no_primary() -> None:
    other = PRIMARY._replace(rule=RULE._replace(leader=ServerId(CELL, "pg-1")))
    assert assess_servers(PODS, reporting(pg_1=other), AT_LEAST_2).primary is None


def test_cohort_is_that_of_the_newest_rule() -> None:
    smaller = RULE._replace(cohort=COHORT - {ServerId(CELL, "pg-2")}, number=(3, 2))
    servers = assess_servers(PODS, reporting(pg_0=PRIMARY._replace(rule=smaller)), AT_LEAST_2)
    assert servers.cohort == {"pg-0", "pg-1"}
    assert [server.is_member for server in servers.servers] == [True, True, False]


def test_observation_older_than_the_pods_is_not_current() -> None:
    assert assess_servers(PODS, HEALTHY, AT_LEAST_2, 100.0).is_current
    assert not assess_servers(PODS, HEALTHY, AT_LEAST_2, 100.1).is_current


@pytest.mark.parametrize(
    ("words", "observation"),
    [
        ("multiadmin does not report the state of Postgres: it accepts no connection", SILENT),
        ("multiadmin cannot reach server pg-1: it does not answer", reporting(pg_1=None)),
        ("multiadmin cannot reach server pg-1 and 1 more", reporting(pg_1=None, pg_2=None)),
        ("it has not been asked yet", None),
    ],
)
def test_what_is_unknown_is_explained(words: str, observation: ShardObservation | None) -> None:
    assert words in assess_servers(PODS, observation, AT_LEAST_2).unknown
