"""Converts the status of a pooler, as multiadmin sends it, to a report about its Postgres. Pure."""

from collections.abc import Iterable

from steward.multiadmin.answers import (
    DurabilityPolicyReport,
    PoolerId,
    PoolerStatus,
    PostgresReport,
    PrimaryStatus,
    ReplicationStatus,
    RuleNumber,
    RuleReport,
    SynchronousReplication,
    duration_seconds,
    wal_position,
)
from steward.multigres.servers.reports import (
    FIRST_BACKUP,
    RESTORING,
    STARTING_POSTGRES,
    PostgresRole,
    ServerId,
    ServerReport,
    ShardRule,
)

STREAMING = "streaming"
MULTI_CELL = "QUORUM_TYPE_MULTI_CELL_AT_LEAST_N"
ROLES = {
    "POSTGRES_STATUS_STARTING": PostgresRole.STARTING,
    "POSTGRES_STATUS_STANDBY": PostgresRole.STANDBY,
    "POSTGRES_STATUS_PROMOTING": PostgresRole.PROMOTING,
    "POSTGRES_STATUS_PRIMARY": PostgresRole.PRIMARY,
}
ACTIONS = {
    "POSTGRES_ACTION_STARTING": STARTING_POSTGRES,
    "POSTGRES_ACTION_RESTORING_FROM_BACKUP": RESTORING,
    "POSTGRES_ACTION_CREATING_FIRST_BACKUP": FIRST_BACKUP,
}


def server_report(status: PoolerStatus) -> ServerReport:
    postgres = status.status
    primary = postgres.primary_status or PrimaryStatus()
    replication = postgres.replication_status or ReplicationStatus()
    return ServerReport(
        ROLES.get(postgres.postgres_status, PostgresRole.UNKNOWN),
        is_initialized=postgres.is_initialized,
        is_running=postgres.postgres_running,
        is_ready=_accepts_connections(postgres),
        is_streaming=replication.wal_receiver_status == STREAMING,
        lag_seconds=duration_seconds(replication.lag),
        position=wal_position(primary.lsn or replication.last_replay_lsn),
        action=ACTIONS.get(postgres.postgres_action, ""),
        followers=_servers(primary.connected_followers or ()),
        required_followers=(primary.sync_replication_config or SynchronousReplication()).num_sync,
        rule=_shard_rule(status.rule_position.decision),
    )


def _accepts_connections(postgres: PostgresReport) -> bool:
    """A primary also has to answer the queries by which its pooler finds out what it is."""
    is_unanswered = postgres.postgres_status == "POSTGRES_STATUS_PRIMARY" and postgres.primary_status is None
    return postgres.postgres_ready and not is_unanswered


def _shard_rule(rule: RuleReport | None) -> ShardRule | None:
    """None before the servers have agreed on any."""
    if rule is None or not rule.cohort_members:
        return None
    policy = rule.durability_policy or DurabilityPolicyReport()
    return ShardRule(
        None if rule.leader_id is None else _server(rule.leader_id),
        _servers(rule.cohort_members),
        policy.required_count,
        policy.quorum_type == MULTI_CELL,
        _number(rule.rule_number or RuleNumber()),
    )


def _number(number: RuleNumber) -> tuple[int, int]:
    return int(number.coordinator_term or 0), int(number.leader_subterm or 0)


def _servers(poolers: Iterable[PoolerId]) -> frozenset[ServerId]:
    return frozenset(map(_server, poolers))


def _server(pooler: PoolerId) -> ServerId:
    return ServerId(pooler.cell, pooler.name)
