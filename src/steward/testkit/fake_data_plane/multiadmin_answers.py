"""The answers of multiadmin's REST API in JSON, as its transcoder writes them. Pure.

Names are in camelCase, enums are names, 64-bit numbers are strings, and fields with a zero value are left out. An error
has the number of its gRPC code in the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from steward.multigres.topology.protobuf import DecodedMessage
from steward.testkit.fake_data_plane.records import Lifecycle, Role, Serving
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId, ShardRule
from steward.testkit.fake_data_plane.shard_model import ShardView

Json = dict[str, Any]

HTTP_STATUSES = {2: 500, 3: 400, 5: 404, 9: 400, 13: 500, 14: 503}
INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, INTERNAL, UNAVAILABLE = 3, 5, 9, 13, 14
MAX_WAL_SENDERS = 25
WAL_BYTES_PER_SECOND = 0x100


class MultiadminError(Exception):
    """An error that multiadmin answers with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def http_status(self) -> int:
        return HTTP_STATUSES[self.code]

    def body(self) -> Json:
        return {"code": self.code, "message": str(self), "details": []}


def without_zeros(fields: Mapping[str, Any]) -> Json:
    """The fields that differ from their default."""
    return {name: value for name, value in fields.items() if value not in (None, "", 0, False, [], {})}


def id_json(server: ServerId) -> Json:
    return {"component": "MULTIPOOLER", "cell": server.cell, "name": server.name}


def ids_json(servers: Iterable[ServerId]) -> list[Json]:
    return [id_json(server) for server in sorted(servers)]


def pooler_json(record: bytes) -> Json:
    """A record of a pooler, from its protobuf encoding."""
    message = DecodedMessage.decode(record)
    identity, shard, lifecycle, routing = (message.message(number) for number in (1, 2, 12, 13))
    ports = [
        DecodedMessage.decode(field.value)
        for field in message.fields
        if field.number == 9 and isinstance(field.value, bytes)
    ]
    return without_zeros(
        {
            "id": id_json(ServerId(identity.text(2), identity.text(3))),
            "shardKey": {"database": shard.text(1), "tableGroup": shard.text(2), "shard": shard.text(3)},
            "type": Role(message.number(6)).name if message.number(6) else None,
            "servingStatus": Serving(message.number(7)).name if message.number(7) else None,
            "hostname": message.text(8),
            "portMap": {port.text(1): port.number(2) for port in ports},
            "poolerDir": message.text(10),
            "lifecycleStatus": _lifecycle_json(lifecycle),
            "routingState": _routing_json(routing),
        }
    )


def _lifecycle_json(lifecycle: DecodedMessage) -> Json:
    status = lifecycle.number(1)
    name = f"LIFECYCLE_{Lifecycle(status).name}" if status else None
    return without_zeros({"status": name, "reason": lifecycle.text(2)})


def _routing_json(routing: DecodedMessage) -> Json:
    role, rule = routing.number(1), routing.message(2)
    number = _rule_number(rule.number(1), rule.number(2)) if rule.fields else None
    return without_zeros({"role": f"ROUTING_ROLE_{Role(role).name}" if role else None, "rule": number})


def _rule_number(term: int, subterm: int) -> Json:
    return without_zeros(
        {"coordinatorTerm": str(term) if term else "", "leaderSubterm": str(subterm) if subterm else ""}
    )


def policy_json(policy: DurabilityPolicy) -> Json:
    prefix = "MULTI_CELL_" if policy.counts_cells else ""
    return {
        "policyName": f"{prefix}AT_LEAST_{policy.required}",
        "quorumType": f"QUORUM_TYPE_{prefix}AT_LEAST_N",
        "requiredCount": policy.required,
    }


def rule_json(rule: ShardRule) -> Json:
    return {
        "ruleNumber": _rule_number(rule.term, rule.subterm),
        "leaderId": id_json(rule.leader),
        "cohortMembers": ids_json(rule.cohort),
        "durabilityPolicy": policy_json(rule.policy),
    }


class StatusRequest(NamedTuple):
    """A server to report, its shard, and the wall clock's time."""

    view: ShardView
    server: ServerId
    shard: str
    time: datetime

    @property
    def is_primary(self) -> bool:
        return self.server in self.view.primaries()

    @property
    def is_ready(self) -> bool:
        return self.view.is_ready(self.server)


def status_json(asked: StatusRequest) -> Json:
    """The answer of the pooler about its Postgres, and the rule that it knows."""
    return {"status": _postgres_json(asked), "consensusStatus": _consensus_json(asked)}


def _postgres_json(asked: StatusRequest) -> Json:
    view, server = asked.view, asked.server
    is_running = view.is_running(server)
    is_starting = is_running and not asked.is_ready
    return without_zeros(
        {
            "poolerType": Role.PRIMARY.name if asked.is_primary else Role.REPLICA.name,
            "primaryStatus": _primary_json(asked) if asked.is_primary and asked.is_ready else None,
            "replicationStatus": _replication_json(asked)
            if asked.is_ready and not asked.is_primary
            else None,
            "isInitialized": view.has_data(server),
            "hasDataDirectory": view.has_data(server),
            "postgresRunning": is_running,
            "postgresStatus": _postgres_status(asked),
            "walPosition": _lsn(view) if asked.is_ready else "",
            "shardId": asked.shard,
            "postgresAction": "POSTGRES_ACTION_STARTING" if is_starting else None,
            "postgresActionDuration": "1s" if is_starting else None,
            "postgresReady": asked.is_ready,
        }
    )


def _postgres_status(asked: StatusRequest) -> str | None:
    if not asked.view.is_running(asked.server):
        return None
    if not asked.is_ready:
        return "POSTGRES_STATUS_STARTING"
    return "POSTGRES_STATUS_PRIMARY" if asked.is_primary else "POSTGRES_STATUS_STANDBY"


def _lsn(view: ShardView) -> str:
    return f"0/{0x3000000 + int(max(view.now, 0.0) * WAL_BYTES_PER_SECOND):X}"


def _primary_json(asked: StatusRequest) -> Json:
    view, rule = asked.view, asked.view.state.rule
    assert rule is not None
    standbys = _synchronous_standbys(rule, asked.server)
    synchronous = {
        "synchronousCommit": "SYNCHRONOUS_COMMIT_ON",
        "synchronousMethod": "SYNCHRONOUS_METHOD_ANY",
        "numSync": rule.policy.required - 1,
        "standbyIds": ids_json(standbys),
        "standbyApplicationNames": [f"{each.cell}_{each.name}" for each in sorted(standbys)],
    }
    return without_zeros(
        {
            "lsn": _lsn(view),
            "ready": True,
            "connectedFollowers": ids_json(view.followers()),
            "syncReplicationConfig": without_zeros(synchronous),
            "maxWalSenders": MAX_WAL_SENDERS,
        }
    )


def _synchronous_standbys(rule: ShardRule, primary: ServerId) -> frozenset[ServerId]:
    """The members that may confirm a write: all of them, or those of other cells."""
    if not rule.policy.counts_cells:
        return rule.cohort
    return frozenset(member for member in rule.cohort if member.cell != primary.cell)


def _replication_json(asked: StatusRequest) -> Json:
    view = asked.view
    is_streaming = view.is_streaming(asked.server)
    time = _timestamp(asked.time) if is_streaming else None
    return without_zeros(
        {
            "lastReplayLsn": _lsn(view) if is_streaming else "0/3000000",
            "lastReceiveLsn": _lsn(view) if is_streaming else "",
            "walReplayPauseState": "not paused",
            "primaryConnInfo": _connection_json(view, asked.server) if view.primary is not None else None,
            "walReceiverStatus": "streaming" if is_streaming else "",
            "lastMsgReceiveTime": time,
            "walReceiverStatusInterval": "10s",
            "lastReceiveLsnAdvanceTime": time,
        }
    )


def _connection_json(view: ShardView, server: ServerId) -> Json:
    assert view.primary is not None
    return {
        "host": view.primary.name,
        "port": 5432,
        "user": "postgres",
        "applicationName": f"{server.cell}_{server.name}",
    }


def _consensus_json(asked: StatusRequest) -> Json:
    rule = asked.view.state.known_rules.get(asked.server)
    position = {"position": {"decision": rule_json(rule)} if rule else None, "lsn": _lsn(asked.view)}
    primary = {"position": position["position"], "primary": {"id": id_json(rule.leader)}} if rule else None
    consensus = {"currentPosition": without_zeros(position), "replicationPrimary": primary}
    return {**without_zeros(consensus), "id": id_json(asked.server)}


def _timestamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
