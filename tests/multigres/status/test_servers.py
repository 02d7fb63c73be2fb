"""The condition ServersReady: reason, message, and when progress becomes a problem."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import reasons
from steward.multigres.api.backup import Backup, PgBackRestTls, S3Backup
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardBackupStatus, ShardSpec, ShardStatus
from steward.multigres.objects.shard_inputs import shard_inputs
from steward.multigres.objects.versions import NEWEST
from steward.multigres.servers.assessment import ServerPod, ServerState, assess_servers
from steward.multigres.servers.durability import AT_LEAST_2
from steward.multigres.servers.reports import (
    PostgresRole,
    ServerId,
    ServerReport,
    ShardObservation,
    ShardRule,
)
from steward.multigres.status.conditions import assess_health
from steward.multigres.status.servers import (
    FIRST_START_SECONDS,
    PROBLEM_SECONDS,
    ServersSummary,
    StateTimes,
    known_servers,
    no_primary_cure,
    server_statuses,
    servers_component,
    state_times,
    summarize_servers,
    with_availability,
)
from steward.multigres.topology.store_records import QUARANTINED
from steward.multigres.views import ShardView
from tests.multigres.support.servers import (
    DOWN,
    HEALTHY,
    NAMES,
    PODS,
    PRIMARY,
    RECORDS,
    STANDBY,
    pods_with,
    pooler_record,
    reporting,
)

OWN_CERTIFICATES = Backup(type="filesystem", pgbackrest_tls=PgBackRestTls("mine"))
STUCK = HEALTHY._replace(
    records={name: pooler_record(name) for name in NAMES},
    reports={"pg-0": STANDBY, "pg-1": DOWN, "pg-2": DOWN},
)
NOW = 1_800_000_000.0
SILENT = HEALTHY._replace(reports={}, unreachable="Deployment mini-multiadmin has no ready pod")
NO_PRIMARY = HEALTHY._replace(
    records={name: pooler_record(name) for name in NAMES}, reports=dict.fromkeys(NAMES, STANDBY)
)
OTHER_RULE = ShardRule(
    ServerId("z1", "old-0"), frozenset({ServerId("z1", "old-0"), ServerId("z1", "old-1")}), 2
)
OTHER_COHORT = NO_PRIMARY._replace(
    reports=dict.fromkeys(NAMES, STANDBY._replace(is_streaming=False, rule=OTHER_RULE))
)
QUARANTINE = HEALTHY._replace(records={**RECORDS, "pg-2": pooler_record("pg-2", lifecycle=QUARANTINED)})
UNREGISTERED = reporting(pg_2=None)._replace(
    records={name: RECORDS[name] for name in ("pg-0", "pg-1")}, errors={}
)
ALONE = reporting(pg_0=PRIMARY._replace(followers=frozenset()), pg_1=DOWN, pg_2=DOWN)
RESTORING = reporting(pg_2=DOWN._replace(action="restoring a backup"))
STARTING = reporting(pg_2=ServerReport(PostgresRole.STARTING, is_running=True))
LOST_STREAM = reporting(pg_2=STANDBY._replace(is_streaming=False))


def summary(
    observation: ShardObservation | None, pods: tuple[ServerPod, ...] = PODS, seconds: float = 0.0
) -> ServersSummary:
    """The summary of servers that have been in their states for some seconds."""
    times = StateTimes(NOW, dict.fromkeys(NAMES, NOW - seconds), NOW - seconds)
    return summarize_servers(assess_servers(pods, observation, AT_LEAST_2), times)


@pytest.mark.parametrize(
    ("observation", "pods", "status", "reason", "words"),
    [
        (HEALTHY, PODS, "True", reasons.POSTGRES_READY, "on 3 servers, pg-0 is the primary"),
        (HEALTHY, (), "True", reasons.STOPPED, "every pool has 0 replicas"),
        (NO_PRIMARY, PODS, "False", reasons.NO_PRIMARY, "no server is the primary"),
        (
            OTHER_COHORT,
            PODS,
            "False",
            reasons.NO_PRIMARY,
            "names other servers as those that may elect one, old-0",
        ),
        (ALONE, PODS, "False", reasons.TOO_FEW_STANDBYS, "2 servers must have each write"),
        (STUCK, PODS, "False", reasons.POSTGRES_DOWN, "pg-1 (and 1 more)"),
        (QUARANTINE, PODS, "False", reasons.SERVER_QUARANTINED, "delete its pod and its volume claim"),
        (reporting(pg_2=DOWN), PODS, "False", reasons.POSTGRES_DOWN, "in pod pg-2; look at the log"),
        (reporting(pg_1=DOWN, pg_2=DOWN), PODS, "False", reasons.POSTGRES_DOWN, "pg-1 (and 1 more)"),
        (LOST_STREAM, PODS, "False", reasons.STANDBY_NOT_STREAMING, "standby pg-2 does not receive"),
        (UNREGISTERED, PODS, "False", reasons.SERVER_UNREGISTERED, "no record of server pg-2"),
        (RESTORING, PODS, "False", reasons.SERVERS_STARTING, "server pg-2: restoring a backup"),
        (STARTING, PODS, "False", reasons.SERVERS_STARTING, "does not accept connections yet"),
        (HEALTHY, pods_with(exists=False), "False", reasons.SERVERS_STARTING, "pg-2 has no pod yet"),
        (HEALTHY, pods_with(is_terminating=True), "False", reasons.SERVERS_STARTING, "pg-2 restarts"),
        (SILENT, PODS, "Unknown", reasons.STATE_UNKNOWN, "mini-multiadmin has no ready pod"),
        (reporting(pg_2=None), PODS, "Unknown", reasons.STATE_UNKNOWN, "cannot reach server pg-2"),
        (None, PODS, "Unknown", reasons.STATE_UNKNOWN, "it has not been asked yet"),
    ],
)
def test_reason_and_message(
    observation: ShardObservation | None, pods: tuple[ServerPod, ...], status: str, reason: str, words: str
) -> None:
    found = summary(observation, pods)
    assert (found.status, found.reason) == (status, reason)
    assert words in found.message


NO_RECORDS = HEALTHY._replace(records={name: pooler_record(name) for name in NAMES})
FIRST_BACKUP = DOWN._replace(action="creating the first backup")
NEW_ATTEMPT = NO_RECORDS._replace(reports={"pg-0": DOWN, "pg-1": FIRST_BACKUP, "pg-2": DOWN})
NEW_RESTORE = NO_RECORDS._replace(
    reports={"pg-0": DOWN._replace(action="restoring a backup"), "pg-1": FIRST_BACKUP, "pg-2": DOWN}
)


@pytest.mark.parametrize(
    ("observation", "unavailable", "lasting", "has_served", "words"),
    [
        (NEW_ATTEMPT, FIRST_START_SECONDS, 0.0, False, "log of container multipooler of pod pg-0"),
        (NEW_ATTEMPT, FIRST_START_SECONDS - 1, 0.0, False, ""),
        (NEW_ATTEMPT, FIRST_START_SECONDS, 0.0, True, ""),
        (NEW_RESTORE, FIRST_START_SECONDS, 0.0, False, ""),
        (NEW_ATTEMPT, FIRST_START_SECONDS, PROBLEM_SECONDS, False, "Postgres does not run in pod pg-0"),
    ],
)
def test_new_shard_whose_servers_start_again_and_again_is_a_problem(
    observation: ShardObservation, unavailable: float, lasting: float, has_served: bool, words: str
) -> None:
    """Without `words` it is none."""
    times = StateTimes(NOW, dict.fromkeys(NAMES, NOW - lasting), NOW - unavailable, has_served)
    found = summarize_servers(assess_servers(PODS, observation, AT_LEAST_2), times)
    assert (found.is_problem, found.status) == (bool(words), "False")
    assert words in found.message


def test_shard_with_a_backup_or_a_primary_in_its_status_has_served() -> None:
    servers = assess_servers(PODS, HEALTHY, AT_LEAST_2)
    assert not state_times(ShardStatus(), servers, NOW).has_served
    assert state_times(ShardStatus(primary="pg-0"), servers, NOW).has_served
    assert state_times(ShardStatus(backup=ShardBackupStatus(backups=1)), servers, NOW).has_served


@pytest.mark.parametrize("observation", [reporting(pg_2=DOWN), LOST_STREAM, UNREGISTERED, STARTING])
@pytest.mark.parametrize("seconds", [PROBLEM_SECONDS - 1, PROBLEM_SECONDS])
def test_what_a_server_lacks_becomes_a_problem_when_it_lasts(
    observation: ShardObservation, seconds: float
) -> None:
    assert summary(observation, seconds=seconds).is_problem is (seconds >= PROBLEM_SECONDS)


@pytest.mark.parametrize(
    ("backup", "cells", "is_named"),
    [
        (OWN_CERTIFICATES, ("z1", "z2"), True),
        (OWN_CERTIFICATES, ("z1",), False),
        (Backup(type="filesystem"), ("z1", "z2"), False),
        (Backup(type="s3", s3=S3Backup("b", "r"), pgbackrest_tls=PgBackRestTls("mine")), ("z1", "z2"), False),
    ],
)
def test_a_repository_that_cells_do_not_share_is_named_as_a_cause_of_no_primary(
    backup: Backup, cells: tuple[str, ...], is_named: bool
) -> None:
    spec = ShardSpec(
        shard_name="0-inf",
        pools={"main": Pool(cells=list(cells))},
        backup=backup,
        objects_version=NEWEST,
    )
    inputs = shard_inputs(ShardView(ObjectMeta(name="s", namespace="ns"), spec))
    assert ("start from one repository" in no_primary_cure(inputs)) is is_named


@pytest.mark.parametrize("observation", [NO_PRIMARY, ALONE])
@pytest.mark.parametrize("seconds", [PROBLEM_SECONDS - 1, PROBLEM_SECONDS])
def test_shard_without_writes_becomes_a_problem_when_it_lasts(
    observation: ShardObservation, seconds: float
) -> None:
    assert summary(observation, seconds=seconds).is_problem is (seconds >= PROBLEM_SECONDS)


@pytest.mark.parametrize(
    ("observation", "pods"),
    [(RESTORING, PODS), (SILENT, PODS), (HEALTHY, pods_with(exists=False)), (HEALTHY, PODS)],
    ids=["a restore", "unknown", "no pod", "ready"],
)
def test_what_takes_long_or_is_unknown_is_no_problem(
    observation: ShardObservation, pods: tuple[ServerPod, ...]
) -> None:
    assert not summary(observation, pods, seconds=3600.0).is_problem


def test_quarantined_server_is_a_problem_at_once() -> None:
    assert summary(QUARANTINE).is_problem


def test_server_that_is_to_leave_does_not_make_the_shard_unready() -> None:
    leaving = ServerPod("old-0", "z1", is_desired=False, is_ready=True)
    times = StateTimes(NOW, dict.fromkeys([*NAMES, "old-0"], NOW), NOW)
    servers = assess_servers((*PODS, leaving), HEALTHY, AT_LEAST_2)
    assert summarize_servers(servers, times).status == "True"


def health_of(observation: ShardObservation, pods: tuple[ServerPod, ...] = PODS) -> tuple[Any, ...]:
    servers = assess_servers(pods, observation, AT_LEAST_2)
    reported = summary(observation, pods, PROBLEM_SECONDS)
    health = with_availability(assess_health([servers_component(servers, reported)]), servers, reported)
    return health.phase, health.is_ready, health.is_available


@pytest.mark.parametrize(
    ("observation", "pods", "expected"),
    [
        (HEALTHY, PODS, ("Healthy", True, True)),
        (HEALTHY, (), ("Stopped", True, False)),
        (SILENT, PODS, ("Unknown", None, None)),
        (reporting(pg_2=None), PODS, ("Unknown", None, True)),
        (reporting(pg_2=DOWN), PODS, ("Degraded", False, True)),
        (NO_PRIMARY, PODS, ("Degraded", False, False)),
        (RESTORING, PODS, ("Progressing", False, True)),
    ],
    ids=["ready", "stopped", "unknown", "one unknown", "a standby down", "no primary", "restore"],
)
def test_health_follows_from_the_servers(
    observation: ShardObservation, pods: tuple[ServerPod, ...], expected: tuple[Any, ...]
) -> None:
    assert health_of(observation, pods) == expected


def previous_status(**fields: Any) -> ShardStatus:
    return msgspec.convert(fields, ShardStatus)


def entry(pod: str, state: str, since: float) -> dict[str, str]:
    return {"pod": pod, "state": state, "since": to_timestamp(since)}


def test_time_of_a_state_is_kept_and_that_of_a_new_one_is_now() -> None:
    previous = previous_status(
        servers=[entry("pg-0", "Ready", NOW - 50), entry("pg-2", "Starting", NOW - 40)]
    )
    servers = assess_servers(PODS, reporting(pg_2=DOWN), AT_LEAST_2)
    times = state_times(previous, servers, NOW)
    assert times.since == {"pg-0": NOW - 50, "pg-1": NOW, "pg-2": NOW}


def test_entries_of_a_status_name_pod_role_state_and_time() -> None:
    servers = assess_servers(
        PODS, reporting(pg_1=STANDBY._replace(lag_bytes=256 << 20), pg_2=DOWN), AT_LEAST_2
    )
    times = StateTimes(NOW, dict.fromkeys(NAMES, NOW), NOW)
    [primary, lagging, down] = server_statuses(servers, times)
    where = {"cell": "zone-a", "pool": "main"}
    since = to_timestamp(NOW)
    assert primary == {"pod": "pg-0", "state": "Ready", "since": since, "role": "Primary", **where}
    assert (lagging["role"], lagging["lag"]) == ("Standby", "256Mi")
    assert down == {"pod": "pg-2", "state": "Down", "since": since, **where}


def test_of_many_servers_those_that_are_not_ready_are_shown() -> None:
    pods = tuple(ServerPod(f"pg-{number:03}", "zone-a", is_ready=True) for number in range(100))
    reports = {pod.name: STANDBY for pod in pods[:98]}
    servers = assess_servers(pods, HEALTHY._replace(records=None, reports=reports), AT_LEAST_2)
    times = StateTimes(NOW, {pod.name: NOW for pod in pods}, NOW)
    shown = server_statuses(servers, times)
    assert len(shown) == 64
    assert [each["pod"] for each in shown[-2:]] == ["pg-098", "pg-099"]


def test_known_states_are_those_of_the_last_status() -> None:
    available = {"type": "Available", "status": "True", "reason": "X", "message": ""}
    conditions = [{**available, "lastTransitionTime": to_timestamp(NOW)}]
    servers = [entry("pg-0", "Ready", NOW), entry("pg-1", "OfANewerVersion", NOW)]
    known = known_servers(previous_status(conditions=conditions, servers=servers, primary="pg-0"))
    assert known.states == {"pg-0": ServerState.READY}
    assert (known.primary, known.takes_writes) == ("pg-0", True)
