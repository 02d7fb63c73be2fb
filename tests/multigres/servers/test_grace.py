"""How long the last known state of a server stays while its state is unknown."""

import pytest

from steward.multigres.servers.assessment import ServerState, ShardServers, assess_servers
from steward.multigres.servers.durability import AT_LEAST_2
from steward.multigres.servers.grace import GRACE_SECONDS, KnownServers, with_known_states
from steward.multigres.servers.reports import PostgresRole, ServerReport, ShardObservation
from tests.multigres.support.servers import DOWN, HEALTHY, NAMES, PODS, STANDBY, pods_with, reporting

SILENT = HEALTHY._replace(records=None, reports={}, unreachable="it accepts no connection")
WELL = KnownServers(dict.fromkeys(NAMES, ServerState.READY), "pg-0", True)
OF_AN_OLDER_VERSION = KnownServers(None, None, True, is_ready=True)


def held(known: KnownServers, observation: ShardObservation | None, seconds: float = 1.0) -> ShardServers:
    return with_known_states(assess_servers(PODS, observation, AT_LEAST_2), known, lambda pod: seconds)


@pytest.mark.parametrize("observation", [SILENT, None], ids=["multiadmin away", "operator just started"])
@pytest.mark.parametrize("known", [WELL, OF_AN_OLDER_VERSION])
def test_source_that_is_away_for_a_moment_changes_nothing(
    known: KnownServers, observation: ShardObservation | None
) -> None:
    servers = held(known, observation)
    assert {server.state for server in servers.servers} == {ServerState.READY}
    assert (servers.primary, servers.takes_writes, servers.unknown) == (known.primary, True, "")


def test_state_is_unknown_when_the_grace_period_has_ended() -> None:
    servers = held(WELL, SILENT, GRACE_SECONDS)
    assert {server.state for server in servers.servers} == {ServerState.UNKNOWN}
    assert (servers.primary, servers.takes_writes) == (None, None)
    assert "it accepts no connection" in servers.unknown


def test_broken_server_stays_broken_in_the_grace_period() -> None:
    known = WELL._replace(states={**(WELL.states or {}), "pg-2": ServerState.DOWN}, takes_writes=False)
    servers = held(known, SILENT)
    assert servers.servers[2].state is ServerState.DOWN
    assert servers.takes_writes is False


def test_new_server_without_a_report_starts() -> None:
    assert held(KnownServers({}, None, None), SILENT).servers[0].state is ServerState.STARTING


def test_what_pods_show_is_not_held() -> None:
    current = assess_servers(pods_with(is_terminating=True), SILENT, AT_LEAST_2)
    servers = with_known_states(current, WELL, lambda pod: 1.0)
    assert servers.servers[2].state is ServerState.TERMINATING


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (DOWN._replace(action="starting Postgres"), ServerState.DOWN),
        (ServerReport(PostgresRole.STARTING, is_running=True), ServerState.DOWN),
        (DOWN._replace(action="restoring a backup"), ServerState.STARTING),
        (STANDBY, ServerState.READY),
    ],
)
def test_postgres_that_is_started_again_and_again_stays_down(
    report: ServerReport, state: ServerState
) -> None:
    known = WELL._replace(states={"pg-2": ServerState.DOWN})
    assert held(known, reporting(pg_2=report)).servers[2].state is state
