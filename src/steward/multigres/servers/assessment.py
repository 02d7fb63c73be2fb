"""Derives the state of each server of a shard, and of the shard, from pods, records and reports. Pure."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from steward.multigres.servers.durability import DurabilityPolicy, durability_policy
from steward.multigres.servers.reports import (
    STARTING_POSTGRES,
    PostgresRole,
    ServerId,
    ServerReport,
    ShardObservation,
    ShardRule,
)
from steward.multigres.topology.store_records import QUARANTINED, SHUTDOWN, find_primary


class ServerState(StrEnum):
    """The state of one server, as `status.servers` shows it."""

    READY = "Ready"
    STARTING = "Starting"
    NOT_STREAMING = "NotStreaming"
    DOWN = "Down"
    QUARANTINED = "Quarantined"
    UNREGISTERED = "Unregistered"
    TERMINATING = "Terminating"
    MISSING = "Missing"
    UNKNOWN = "Unknown"


BROKEN = frozenset({ServerState.DOWN, ServerState.QUARANTINED})
"""States of servers whose Postgres serves nothing: replacing them costs nothing."""
WAITING_FOR_DATA = "waiting for its data directory"
NOT_ACCEPTING = "Postgres does not accept connections yet"
RESTARTING = frozenset({NOT_ACCEPTING, STARTING_POSTGRES})
"""Details of servers whose Postgres starts."""
NOT_OBSERVED = ShardObservation(float("-inf"), None, {}, {}, "it has not been asked yet")


class ServerPod(NamedTuple):
    """A pod that a server has or should have."""

    name: str
    cell: str
    pool: str = ""
    is_desired: bool = True
    exists: bool = True
    is_ready: bool = False
    is_terminating: bool = False


class Server(NamedTuple):
    """One server of a shard. `is_member` is None if the shard's rule is unknown."""

    name: str
    cell: str
    state: ServerState
    is_primary: bool = False
    is_member: bool | None = None
    detail: str = ""
    lag_seconds: float | None = None
    lag_bytes: int | None = None
    pool: str = ""
    is_desired: bool = True
    """Whether the spec has it; a server that is to leave is not desired."""


class ShardServers(NamedTuple):
    """All servers of a shard. `takes_writes` and `cohort` are None if they are unknown, `primary` if it is unknown or
    there is none; `is_current` is false while the observation is older than the last change of the pods."""

    servers: tuple[Server, ...]
    primary: str | None
    takes_writes: bool | None
    cohort: frozenset[str] | None
    policy: DurabilityPolicy
    is_current: bool
    unknown: str = ""
    """What is unknown and why, "" if nothing is."""

    def get(self, name: str) -> Server | None:
        return next((server for server in self.servers if server.name == name), None)


class _State(NamedTuple):
    state: ServerState
    detail: str = ""


def assess_servers(
    pods: Sequence[ServerPod],
    observation: ShardObservation | None,
    policy: str,
    changed_at: float = float("-inf"),
) -> ShardServers:
    """`policy` is the durability policy in the spec; `changed_at` is the monotonic time of the last change of the pods
    that the observation must not be older than."""
    seen = observation or NOT_OBSERVED
    rule = newest_rule(seen.reports.values())
    primary = _primary(seen)
    states = {pod.name: _state(pod, seen) for pod in pods}
    return ShardServers(
        tuple(
            _server(pod, states[pod.name], seen, rule)._replace(is_primary=pod.name == primary)
            for pod in pods
        ),
        primary,
        _takes_writes(primary, states, seen),
        None if rule is None else frozenset(member.name for member in rule.cohort),
        durability_policy(policy, rule),
        seen.at >= changed_at,
        _describe_unknown(seen, states),
    )


def newest_rule(reports: Iterable[ServerReport]) -> ShardRule | None:
    """The rule of the newest term: a server that was away may still report an older one."""
    rules = [report.rule for report in reports if report.rule is not None]
    return max(rules, key=lambda rule: rule.number, default=None)


def _server(pod: ServerPod, state: _State, seen: ShardObservation, rule: ShardRule | None) -> Server:
    report = seen.reports.get(pod.name)
    return Server(
        pod.name,
        pod.cell,
        state.state,
        is_member=None if rule is None else ServerId(pod.cell, pod.name) in rule.cohort,
        detail=state.detail,
        lag_seconds=None if report is None else report.lag_seconds,
        lag_bytes=None if report is None else report.lag_bytes,
        pool=pod.pool,
        is_desired=pod.is_desired,
    )


def _state(pod: ServerPod, seen: ShardObservation) -> _State:
    if not pod.exists:
        return _State(ServerState.MISSING, "it has no pod")
    if pod.is_terminating:
        return _State(ServerState.TERMINATING)
    record = None if seen.records is None else seen.records.get(pod.name)
    if record is not None and record.lifecycle == QUARANTINED:
        return _State(ServerState.QUARANTINED)
    report = seen.reports.get(pod.name)
    if report is not None:
        return _reported_state(report)
    if not pod.is_ready:
        return _State(ServerState.STARTING, "its pod is not ready")
    if seen.records is not None and record is None:
        return _State(ServerState.UNREGISTERED)
    return _State(ServerState.UNKNOWN, seen.unreachable or seen.errors.get(pod.name, ""))


def _reported_state(report: ServerReport) -> _State:
    if report.is_ready and report.role is PostgresRole.PRIMARY:
        return _State(ServerState.READY)
    if report.is_ready and report.role is PostgresRole.STANDBY:
        return _State(ServerState.READY if report.is_streaming else ServerState.NOT_STREAMING)
    if report.role is PostgresRole.PROMOTING:
        return _State(ServerState.STARTING, "becoming primary")
    if report.action:
        return _State(ServerState.STARTING, report.action)
    if not report.is_initialized:
        return _State(ServerState.STARTING, WAITING_FOR_DATA)
    if report.is_running:
        return _State(ServerState.STARTING, NOT_ACCEPTING)
    return _State(ServerState.DOWN)


def _primary(seen: ShardObservation) -> str | None:
    """A report proves more than a record, which may be older and outlives its pooler."""
    leaders = [name for name, report in seen.reports.items() if _leads(name, report)]
    if leaders:
        newest = max(_term(seen.reports[name]) for name in leaders)
        leaders = [name for name in leaders if _term(seen.reports[name]) == newest]
        return leaders[0] if len(leaders) == 1 else None
    claims = {
        name: (seen.records or {})[name] for name in _claims(seen) if not _is_standby(seen.reports.get(name))
    }
    record = find_primary(list(claims.values()))
    return next((name for name, claim in claims.items() if claim is record), None)


def _leads(name: str, report: ServerReport) -> bool:
    leader = None if report.rule is None else report.rule.leader
    return report.is_ready and report.role is PostgresRole.PRIMARY and (leader is None or leader.name == name)


def _term(report: ServerReport) -> tuple[int, int]:
    return (0, 0) if report.rule is None else report.rule.number


def _claims(seen: ShardObservation) -> list[str]:
    """The servers whose records have the role of the primary."""
    records = seen.records or {}
    return [name for name, record in records.items() if record.is_primary and record.lifecycle != SHUTDOWN]


def _is_standby(report: ServerReport | None) -> bool:
    return report is not None and report.role is PostgresRole.STANDBY


def _takes_writes(primary: str | None, states: dict[str, _State], seen: ShardObservation) -> bool | None:
    """Gateways send writes to the server whose record has the role of the primary: both must be true."""
    if seen.records is not None and not _claims(seen):
        return False
    if primary is None:
        is_unknown = any(state.state is ServerState.UNKNOWN for state in states.values())
        return None if is_unknown else False
    if seen.records is not None and primary not in _claims(seen):
        return False
    report = seen.reports.get(primary)
    if report is None:
        is_unknown = primary in states and states[primary].state is ServerState.UNKNOWN
        return None if is_unknown else False
    return report.is_ready and report.role is PostgresRole.PRIMARY and _has_followers(report)


def _has_followers(primary: ServerReport) -> bool:
    """Whether as many standbys are connected as must confirm each write. Only members of the cohort may."""
    followers = primary.followers
    if primary.rule is not None:
        followers &= primary.rule.cohort
    return len(followers) >= primary.required_followers


def _describe_unknown(seen: ShardObservation, states: dict[str, _State]) -> str:
    names = [name for name, state in states.items() if state.state is ServerState.UNKNOWN]
    if not names:
        return ""
    if seen.unreachable:
        return f"multiadmin does not report the state of Postgres: {seen.unreachable}"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"multiadmin cannot reach server {names[0]}{more}: {states[names[0]].detail or 'no answer'}"
