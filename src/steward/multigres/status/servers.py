"""Derives the condition ServersReady, the fields of a Shard's status and its availability from its servers. Pure.

While servers start, whatever they lack is progress. It becomes a problem when nothing has changed for
`PROBLEM_SECONDS`: a server that is restarted, or an election, takes less.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, READY, TRUE, UNKNOWN, Condition, find_condition
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres import reasons
from steward.multigres.api.shard import ShardBackupStatus, ShardStatus
from steward.multigres.api.unset import or_default
from steward.multigres.objects.repository.claims import has_one_repository
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.servers.assessment import (
    RESTARTING,
    WAITING_FOR_DATA,
    Server,
    ServerState,
    ShardServers,
)
from steward.multigres.servers.grace import KnownServers
from steward.multigres.servers.reports import FIRST_BACKUP, RESTORING, ServerId
from steward.multigres.status.conditions import (
    AVAILABLE,
    SERVERS_READY,
    Availability,
    ComponentStatus,
    ObjectHealth,
    read_conditions,
)

PROBLEM_SECONDS = 90.0
FIRST_START_SECONDS = 180.0
"""Servers of a new shard make the first backup, which takes a minute if the repository does not take it."""
SHOWN_SERVERS = 64
NAME = "servers"
RUNNING = frozenset({ServerState.READY, ServerState.NOT_STREAMING})
OVERDUE = frozenset({ServerState.DOWN, ServerState.NOT_STREAMING, ServerState.UNREGISTERED})
"""States that are a problem if they last. A pod that is missing or not ready has problems of its own."""
BY_SEVERITY = (
    ServerState.QUARANTINED,
    ServerState.DOWN,
    ServerState.UNREGISTERED,
    ServerState.STARTING,
    ServerState.MISSING,
    ServerState.TERMINATING,
    ServerState.NOT_STREAMING,
    ServerState.UNKNOWN,
    ServerState.READY,
)


class StateTimes(NamedTuple):
    """The time now, since when each server has been in its state, and since when the shard has not been available."""

    now: float
    since: Mapping[str, float]
    unavailable_since: float
    has_served: bool = True
    """Whether the shard has had a primary or a backup before."""


FIRST_START = (
    "no server has become the primary since the shard was created, and servers start again and again; the first one"
    " makes a backup before it serves: look at the log of container multipooler of pod {pod} (docs/backups.md,"
    " The first backup)"
)
ORCHESTRATOR_LOGS = "look at the logs of the multiorch pods"
SHARED_REPOSITORY = (
    "servers in several cells start from one repository: use s3, or a volume with accessModes [ReadWriteMany]"
)


SHOWN_MEMBERS = 3
OTHER_COHORT = (
    "the data names other servers as those that may elect one, {}, as after a restore under another name: install a"
    " rule with the servers of this shard (docs/backups.md, Under another name)"
)


class ServersSummary(NamedTuple):
    """What the condition ServersReady reports."""

    status: str
    reason: str
    message: str
    is_problem: bool = False

    def condition(self, generation: int) -> Condition:
        return Condition(SERVERS_READY, self.status, self.reason, self.message, generation)


def no_primary_cure(shard: ShardInputs) -> str:
    """What may help a shard whose servers run and elect no primary."""
    if has_one_repository(shard):
        return ORCHESTRATOR_LOGS
    return f"{ORCHESTRATOR_LOGS}; {SHARED_REPOSITORY}"


def summarize_servers(
    servers: ShardServers, times: StateTimes, cure: str = ORCHESTRATOR_LOGS
) -> ServersSummary:
    """`cure` is what may help if no server is the primary."""
    desired = [server for server in servers.servers if server.is_desired]
    if not desired:
        return ServersSummary(TRUE, reasons.STOPPED, "every pool has 0 replicas")
    if servers.takes_writes is False and (others := _other_cohort(servers, desired)):
        return _without_writes(
            servers, desired, times, OTHER_COHORT.format(", ".join(others[:SHOWN_MEMBERS]))
        )
    if servers.takes_writes is False and _could_elect(servers, desired):
        return _without_writes(servers, desired, times, cure)
    if _cannot_start_first_time(servers, desired, times):
        return ServersSummary(FALSE, reasons.NO_PRIMARY, FIRST_START.format(pod=desired[0].name), True)
    worst = min(desired, key=lambda server: BY_SEVERITY.index(server.state))
    if worst.state is ServerState.READY:
        return _all_ready(servers, desired)
    return _worst_state(servers, [server for server in desired if server.state is worst.state], times)


def _cannot_start_first_time(servers: ShardServers, desired: Sequence[Server], times: StateTimes) -> bool:
    """Each attempt ends after seconds and changes the states, so that none of them lasts. A Postgres that stays down
    has a reason of its own."""
    if times.has_served or servers.takes_writes is not False or servers.cohort is not None:
        return False
    is_overdue = times.now - times.unavailable_since >= FIRST_START_SECONDS
    attempts = [server for server in desired if _is_attempt(server)]
    is_restoring = any(server.detail == RESTORING for server in desired)
    return is_overdue and bool(attempts) and not is_restoring and not _stay_down(attempts, times)


def _is_attempt(server: Server) -> bool:
    is_starting = server.state is ServerState.STARTING and server.detail in {*RESTARTING, FIRST_BACKUP}
    return is_starting or server.state is ServerState.DOWN


def _stay_down(attempts: Iterable[Server], times: StateTimes) -> bool:
    return any(server.state is ServerState.DOWN and _is_problem(server, times) for server in attempts)


def _other_cohort(servers: ShardServers, desired: Iterable[Server]) -> list[str]:
    """The members of the cohort if no server of the shard is one: the data is that of other servers."""
    running = {server.name for server in desired if server.state in RUNNING}
    cohort = servers.cohort or frozenset()
    return sorted(cohort) if running and cohort.isdisjoint(server.name for server in servers.servers) else []


def _could_elect(servers: ShardServers, desired: Iterable[Server]) -> bool:
    """Whether a primary runs, or as many servers as an election needs: otherwise those that do not are the cause."""
    running = [server for server in desired if server.state in RUNNING]
    ids = [ServerId(server.cell, server.name) for server in running]
    if any(server.is_primary for server in running) or not running:
        return bool(running)
    if servers.cohort is None:
        return servers.policy.is_met_by(ids)
    cells = {server.name: server.cell for server in servers.servers}
    # The cell of a member that is gone is unknown: it counts as a cell of its own.
    cohort = [ServerId(cells.get(name, f"cell of {name}"), name) for name in servers.cohort]
    return servers.policy.can_elect(cohort, ids)


def _without_writes(
    servers: ShardServers, desired: Sequence[Server], times: StateTimes, cure: str
) -> ServersSummary:
    first = min(times.since[server.name] for server in desired if server.state in RUNNING)
    is_problem = times.now - max(first, times.unavailable_since) >= PROBLEM_SECONDS
    if servers.primary is None:
        message = f"no server is the primary, so no write is possible; {cure}"
        return ServersSummary(FALSE, reasons.NO_PRIMARY, message, is_problem)
    streaming = [
        ServerId(server.cell, server.name) for server in desired if server.state is ServerState.READY
    ]
    if servers.policy.is_met_by(streaming):
        message = f"{servers.primary} becomes the primary and takes no writes yet"
        return ServersSummary(FALSE, reasons.NO_PRIMARY, message, is_problem)
    message = (
        f"writes wait: {servers.policy.describe()} must have each write, and too few standbys are connected to the"
        f" primary {servers.primary}; repair the others or add replicas"
    )
    return ServersSummary(FALSE, reasons.TOO_FEW_STANDBYS, message, is_problem)


def _all_ready(servers: ShardServers, desired: Sequence[Server]) -> ServersSummary:
    if servers.takes_writes is None:
        message = servers.unknown or "it is unknown which server is the primary"
        return ServersSummary(UNKNOWN, reasons.STATE_UNKNOWN, message)
    message = f"Postgres is ready on {_count(len(desired), 'server')}, {servers.primary} is the primary"
    return ServersSummary(TRUE, reasons.POSTGRES_READY, message)


def _worst_state(servers: ShardServers, affected: Sequence[Server], times: StateTimes) -> ServersSummary:
    first = affected[0]
    if first.state is ServerState.UNKNOWN:
        return ServersSummary(
            UNKNOWN, reasons.STATE_UNKNOWN, f"{servers.unknown}; see whether multiadmin runs"
        )
    reason, words = _EXPLANATIONS[first.state]
    more = f" (and {len(affected) - 1} more)" if len(affected) > 1 else ""
    message = words.format(pod=first.name, more=more, detail=first.detail or "it starts")
    return ServersSummary(FALSE, reason, message, any(_is_problem(server, times) for server in affected))


_EXPLANATIONS = {
    ServerState.QUARANTINED: (
        reasons.SERVER_QUARANTINED,
        "server {pod}{more} has given up repairing its Postgres and serves nothing; after a look at its logs delete its"
        " pod and its volume claim: the new one restores a backup",
    ),
    ServerState.DOWN: (
        reasons.POSTGRES_DOWN,
        "Postgres does not run in pod {pod}{more}; look at the log of its container postgres",
    ),
    ServerState.UNREGISTERED: (
        reasons.SERVER_UNREGISTERED,
        "the topology server has no record of server {pod}{more}; look at the log of its container multipooler",
    ),
    ServerState.NOT_STREAMING: (
        reasons.STANDBY_NOT_STREAMING,
        "standby {pod}{more} does not receive the changes of the primary; look at the log of its container postgres",
    ),
    ServerState.STARTING: (reasons.SERVERS_STARTING, "server {pod}{more}: {detail}"),
    ServerState.MISSING: (reasons.SERVERS_STARTING, "server {pod}{more} has no pod yet"),
    ServerState.TERMINATING: (reasons.SERVERS_STARTING, "server {pod}{more} restarts"),
}


def _is_problem(server: Server, times: StateTimes) -> bool:
    if server.state is ServerState.QUARANTINED:
        return True
    is_stuck = server.state is ServerState.STARTING and server.detail in {*RESTARTING, WAITING_FOR_DATA}
    is_overdue = times.now - times.since[server.name] >= PROBLEM_SECONDS
    return is_overdue and (is_stuck or server.state in OVERDUE)


def servers_component(servers: ShardServers, summary: ServersSummary) -> ComponentStatus:
    desired = [server for server in servers.servers if server.is_desired]
    restoring = any(server.detail == RESTORING for server in desired)
    return ComponentStatus(
        NAME,
        len(desired),
        count_ready(servers),
        summary.status != FALSE,
        summary.message if summary.is_problem else "",
        # Other progress has no hint: it ends within seconds, and a status with a hint is written at once.
        summary.message if restoring else "",
        unknown=summary.message if summary.status == UNKNOWN else "",
        is_stopped=summary.reason == reasons.STOPPED,
    )


def count_ready(servers: ShardServers) -> int:
    return sum(server.is_desired and server.state is ServerState.READY for server in servers.servers)


def with_availability(health: ObjectHealth, servers: ShardServers, summary: ServersSummary) -> ObjectHealth:
    """A shard is available if its primary takes writes, whatever its other components do."""
    if summary.reason == reasons.STOPPED:
        stopped = Availability(reasons.STOPPED, summary.message)
        return health._replace(is_available=False, availability=stopped)
    availability = {
        True: Availability(reasons.AVAILABLE, "the primary takes writes"),
        False: Availability(summary.reason, "no server takes writes"),
        None: Availability(reasons.STATE_UNKNOWN, "it is unknown whether the primary takes writes"),
    }
    return health._replace(is_available=servers.takes_writes, availability=availability[servers.takes_writes])


def known_servers(status: ShardStatus) -> KnownServers:
    conditions = read_conditions(status.conditions)
    available, ready = find_condition(conditions, AVAILABLE), find_condition(conditions, READY)
    was_unknown = available is None or available.status == UNKNOWN
    return KnownServers(
        None if status.servers is UNSET else _known_states(status),
        or_default(status.primary, "") or None,
        None if was_unknown or available is None else available.status == TRUE,
        ready is not None and ready.status == TRUE,
    )


def _known_states(status: ShardStatus) -> dict[str, ServerState]:
    """States that this version does not know are left out."""
    known = {state.value: state for state in ServerState}
    servers = or_default(status.servers, [])
    return {server.pod: known[server.state] for server in servers if server.state in known}


def state_times(status: ShardStatus, servers: ShardServers, now: float) -> StateTimes:
    previous = {(server.pod, server.state): server.since for server in or_default(status.servers, [])}
    since = {
        server.name: from_timestamp(previous[server.name, server.state.value])
        if (server.name, server.state.value) in previous
        else now
        for server in servers.servers
    }
    available = find_condition(read_conditions(status.conditions), AVAILABLE)
    is_lost = available is not None and available.status == FALSE and available.last_transition_time
    return StateTimes(now, since, from_timestamp(is_lost) if is_lost else now, has_served(status))


def has_served(status: ShardStatus) -> bool:
    """Whether the shard has reported a primary or a backup."""
    backup = or_default(status.backup, ShardBackupStatus())
    has_backup = backup.last_backup is not UNSET or bool(or_default(backup.backups, 0))
    return has_backup or bool(or_default(status.primary, ""))


def server_statuses(servers: ShardServers, times: StateTimes) -> list[dict[str, Any]]:
    """The entries of `status.servers`."""
    unready_first = sorted(servers.servers, key=lambda server: server.state is ServerState.READY)
    shown = sorted(unready_first[:SHOWN_SERVERS], key=lambda server: server.name)
    return [_server_status(server, to_timestamp(times.since[server.name])) for server in shown]


def _server_status(server: Server, since: str) -> dict[str, Any]:
    role = "Primary" if server.is_primary else "Standby" if server.state in RUNNING else ""
    return {
        "pod": server.name,
        "state": server.state.value,
        "since": since,
        **({"role": role} if role else {}),
        "cell": server.cell,
        "pool": server.pool,
        **({"lag": lag} if (lag := _shown_lag(server)) else {}),
    }


def _shown_lag(server: Server) -> str:
    if server.lag_seconds is not None:
        return f"{server.lag_seconds:.0f}s"
    if server.lag_bytes is None:
        return ""
    mebibytes = server.lag_bytes >> 20
    return f"{mebibytes}Mi" if mebibytes < 1024 else f"{mebibytes >> 10}Gi"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
