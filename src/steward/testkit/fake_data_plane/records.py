"""Encodes the records that data plane programs write about themselves into the topology server. Pure."""

from collections.abc import Mapping
from enum import IntEnum

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


class Role(IntEnum):
    PRIMARY = 1
    REPLICA = 2


class Lifecycle(IntEnum):
    STARTING = 1
    ACTIVE = 2
    STOPPING = 3
    SHUTDOWN = 4


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
_STATE = {7: WHOLE_FIELD, 12: {1: WHOLE_FIELD}}


def record_prefix(root: str, component: str) -> str:
    return f"{root}/{RECORD_PATHS[component][0]}/"


def record_key(root: str, program: DataPlaneProgram) -> str:
    return (
        f"{record_prefix(root, program.component)}{program.record_name}/{RECORD_PATHS[program.component][1]}"
    )


def stale_pooler_key(root: str, cell: str, name: str) -> str:
    return f"{record_prefix(root, POOLER)}{POOLER}-{cell}-{name}/Pooler"


def pooler_record(program: DataPlaneProgram, role: Role) -> bytes:
    """The record of a serving pooler."""
    return encode(
        [
            _identity(POOLER, program.cell, program.service_id),
            _shard_key(program.shard),
            *number_field(6, role),
            *text_field(8, program.flags["hostname"]),
            *_ports(9, program.flags),
            *text_field(10, program.flags.get("pooler-dir", "")),
            message_field(12, number_field(1, Lifecycle.ACTIVE)),
            message_field(13, number_field(1, role)),
        ]
    )


def stale_pooler(cell: str, name: str, shard: ShardKey) -> bytes:
    """The record that a killed pooler leaves behind: it looks as if it still serves."""
    return encode(
        [
            _identity(POOLER, cell, name),
            _shard_key(shard),
            *text_field(8, f"{name}.invalid"),
            message_field(12, number_field(1, Lifecycle.ACTIVE)),
            message_field(13, number_field(1, Role.REPLICA)),
        ]
    )


def mark_shut_down(record: bytes) -> bytes:
    """The record as a pooler rewrites it on SIGTERM: SHUTDOWN and DISABLED, other fields unchanged."""
    state = [*number_field(7, Serving.DISABLED), message_field(12, number_field(1, Lifecycle.SHUTDOWN))]
    return merge_owned_fields(record, state, _STATE)


def service_record(program: DataPlaneProgram) -> bytes:
    """The record of a gateway or an orchestrator."""
    identity = _identity(program.component, program.cell, program.service_id)
    return encode([identity, *text_field(2, program.flags["hostname"]), *_ports(3, program.flags)])


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
