"""Encodes the records that data plane programs write about themselves into the topology server. Pure."""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from steward.multigres.topology.protobuf import (
    WHOLE_FIELD,
    EncodedField,
    encode,
    merge_owned_fields,
    message_field,
    number_field,
    text_field,
)
from steward.testkit.fake_data_plane.programs import GATEWAY, ORCHESTRATOR, POOLER, DataPlaneProgram, ShardKey
from steward.testkit.fake_data_plane.rule import ShardRule


class Role(IntEnum):
    PRIMARY = 1
    REPLICA = 2


class Lifecycle(IntEnum):
    STARTING = 1
    ACTIVE = 2
    STOPPING = 3
    SHUTDOWN = 4
    QUARANTINED = 5


REASONS = {
    Lifecycle.STARTING: "process starting",
    Lifecycle.ACTIVE: "pooler active",
    Lifecycle.SHUTDOWN: "pooler shutdown",
    Lifecycle.QUARANTINED: "postgres could not be started",
}


class PoolerStatus(NamedTuple):
    """What a pooler publishes about itself; `rule` is that of the primary."""

    lifecycle: Lifecycle
    rule: ShardRule | None = None

    @property
    def role(self) -> Role:
        return Role.REPLICA if self.rule is None else Role.PRIMARY


class Serving(IntEnum):
    SERVING = 0
    DISABLED = 1


COMPONENT_NUMBERS = {POOLER: 1, GATEWAY: 2, ORCHESTRATOR: 3}
RECORD_PATHS = {
    POOLER: ("poolers", "Pooler"),
    GATEWAY: ("gateways", "Gateway"),
    ORCHESTRATOR: ("orchs", "Orch"),
}
PORTS = {"http": "http-port", "grpc": "grpc-port", "postgres": "pg-port"}
_STATE = {6: WHOLE_FIELD, 7: WHOLE_FIELD, 12: WHOLE_FIELD, 13: WHOLE_FIELD}


def record_prefix(root: str, component: str) -> str:
    return f"{root}/{RECORD_PATHS[component][0]}/"


def record_key(root: str, program: DataPlaneProgram) -> str:
    return (
        f"{record_prefix(root, program.component)}{program.record_name}/{RECORD_PATHS[program.component][1]}"
    )


def stale_pooler_key(root: str, cell: str, name: str) -> str:
    return f"{record_prefix(root, POOLER)}{POOLER}-{cell}-{name}/Pooler"


def pooler_record(program: DataPlaneProgram, status: PoolerStatus) -> bytes:
    """The record of a pooler that is not shut down."""
    return encode(
        [
            _identity(POOLER, program.cell, program.service_id),
            _shard_key(program.shard),
            *number_field(6, status.role),
            *text_field(8, program.flags["hostname"]),
            *_ports(9, program.flags),
            *text_field(10, program.flags.get("pooler-dir", "")),
            _lifecycle(status.lifecycle),
            _routing_state(status),
        ]
    )


def stale_pooler(cell: str, name: str, shard: ShardKey) -> bytes:
    """The record that a killed pooler leaves behind: it looks as if it still serves."""
    return encode(
        [
            _identity(POOLER, cell, name),
            _shard_key(shard),
            *text_field(8, f"{name}.invalid"),
            _lifecycle(Lifecycle.ACTIVE),
            message_field(13, number_field(1, Role.REPLICA)),
        ]
    )


def mark_shut_down(record: bytes) -> bytes:
    """The record as a pooler rewrites it on SIGTERM: SHUTDOWN and DISABLED, without a role."""
    state = [*number_field(7, Serving.DISABLED), _lifecycle(Lifecycle.SHUTDOWN)]
    return merge_owned_fields(record, state, _STATE)


def service_record(program: DataPlaneProgram) -> bytes:
    """The record of a gateway or an orchestrator."""
    identity = _identity(program.component, program.cell, program.service_id)
    return encode([identity, *text_field(2, program.flags["hostname"]), *_ports(3, program.flags)])


def _lifecycle(status: Lifecycle) -> EncodedField:
    return message_field(12, [*number_field(1, status), *text_field(2, REASONS.get(status, ""))])


def _routing_state(status: PoolerStatus) -> EncodedField:
    """Only the primary publishes its rule: that of a replica would be a write for every change."""
    role = number_field(1, status.role)
    if status.rule is None:
        return message_field(13, role)
    number = [*number_field(1, status.rule.term), *number_field(2, status.rule.subterm)]
    return message_field(13, [*role, message_field(2, number)])


def _identity(component: str, cell: str, name: str) -> EncodedField:
    kind = number_field(1, COMPONENT_NUMBERS[component])
    return message_field(1, [*kind, *text_field(2, cell), *text_field(3, name)])


def _shard_key(shard: ShardKey) -> EncodedField:
    database, table_group = text_field(1, shard.database), text_field(2, shard.table_group)
    return message_field(2, [*database, *table_group, *text_field(3, shard.shard)])


def _ports(number_: int, flags: Mapping[str, str]) -> list[EncodedField]:
    return [
        message_field(number_, [*text_field(1, name), *number_field(2, int(flags[flag]))])
        for name, flag in sorted(PORTS.items())
        if flag in flags
    ]
