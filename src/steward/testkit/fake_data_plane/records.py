"""The records that the programs of the data plane write about themselves, as the topology server holds them. Pure."""

from collections.abc import Mapping
from enum import IntEnum

from steward.multigres.topology.protobuf import WHOLE as WHOLE_FIELD
from steward.multigres.topology.protobuf import Field, Record, encode, message, number, rewritten, text
from steward.testkit.fake_data_plane.programs import GATEWAY, ORCHESTRATOR, POOLER, Program, ShardKey


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
PLACES = {POOLER: ("poolers", "Pooler"), GATEWAY: ("gateways", "Gateway"), ORCHESTRATOR: ("orchs", "Orch")}
PORTS = {"http": "http-port", "grpc": "grpc-port", "postgres": "pg-port"}
_STATE = {7: WHOLE_FIELD, 12: {1: WHOLE_FIELD}}


def record_prefix(root: str, component: str) -> str:
    return f"{root}/{PLACES[component][0]}/"


def record_key(root: str, program: Program) -> str:
    return f"{record_prefix(root, program.component)}{program.record_name}/{PLACES[program.component][1]}"


def stale_pooler_key(root: str, cell: str, name: str) -> str:
    return f"{record_prefix(root, POOLER)}{POOLER}-{cell}-{name}/Pooler"


def pooler_record(program: Program, role: Role) -> bytes:
    """A pooler that serves."""
    return encode(
        [
            _identity(POOLER, program.cell, program.service_id),
            _shard_key(program.shard),
            *number(6, role),
            *text(8, program.flags["hostname"]),
            *_ports(9, program.flags),
            *text(10, program.flags.get("pooler-dir", "")),
            message(12, number(1, Lifecycle.ACTIVE)),
            message(13, number(1, role)),
        ]
    )


def stale_pooler(cell: str, name: str, shard: ShardKey) -> bytes:
    """What a pooler leaves behind that was killed: to all appearances it still serves."""
    return encode(
        [
            _identity(POOLER, cell, name),
            _shard_key(shard),
            *text(8, f"{name}.invalid"),
            message(12, number(1, Lifecycle.ACTIVE)),
            message(13, number(1, Role.REPLICA)),
        ]
    )


def shut_down(record: bytes) -> bytes:
    """As a pooler rewrites its own record on SIGTERM: SHUTDOWN and DISABLED, and the rest as it was."""
    state = [*number(7, Serving.DISABLED), message(12, number(1, Lifecycle.SHUTDOWN))]
    return rewritten(record, state, _STATE)


def service_record(program: Program) -> bytes:
    """A gateway or an orchestrator."""
    identity = _identity(program.component, program.cell, program.service_id)
    return encode([identity, *text(2, program.flags["hostname"]), *_ports(3, program.flags)])


def is_shut_down(record: bytes) -> bool:
    return Record.of(record).message(12).number(1) == Lifecycle.SHUTDOWN


def _identity(component: str, cell: str, name: str) -> Field:
    return message(1, [*number(1, COMPONENT_NUMBERS[component]), *text(2, cell), *text(3, name)])


def _shard_key(shard: ShardKey) -> Field:
    return message(2, [*text(1, shard.database), *text(2, shard.table_group), *text(3, shard.shard)])


def _ports(number_: int, flags: Mapping[str, str]) -> list[Field]:
    return [
        message(number_, [*text(1, name), *number(2, int(flags[flag]))])
        for name, flag in sorted(PORTS.items())
        if flag in flags
    ]
