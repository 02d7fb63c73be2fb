"""Reads all records of a cluster: cells and databases, which the operator writes, and those of the programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from steward.etcd.answers import KeyValue
from steward.etcd.client import EtcdClient
from steward.multigres.topology.protobuf import DecodedMessage
from steward.multigres.topology.store_records import CellRecord, PoolerRecord, decode_cell, decode_pooler
from steward.testkit.fake_data_plane import records
from steward.testkit.fake_data_plane.programs import COMPONENTS, POOLER, DataPlaneProgram
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId

MULTI_CELL = 4
Connect = Callable[[tuple[str, ...]], EtcdClient]


class RecordLocation(NamedTuple):
    """The etcd servers and the root under which a cell keeps its records."""

    addresses: tuple[str, ...]
    root: str


class TopologyRecords(NamedTuple):
    """Cells, policies of databases, and the records that programs have written."""

    cells: dict[str, CellRecord]
    policies: dict[str, DurabilityPolicy]
    stored: dict[RecordLocation, dict[str, KeyValue]]
    object_stores: Mapping[str, str] = MappingProxyType({})
    """The backup repositories of databases, if they are in object stores."""

    def location(self, cell: str) -> RecordLocation:
        return RecordLocation(self.cells[cell].addresses, self.cells[cell].root)

    def pooler_values(self) -> list[bytes]:
        return [
            value.value
            for location, stored in self.stored.items()
            for key, value in sorted(stored.items())
            if key.startswith(records.record_prefix(location.root, POOLER)) and key.endswith("/Pooler")
        ]

    def poolers(self) -> list[PoolerRecord]:
        return [decode_pooler(value) for value in self.pooler_values()]

    def primaries(self) -> frozenset[ServerId]:
        """The poolers that are primary by their records."""
        return frozenset(
            ServerId(record.cell, record.name)
            for value in self.pooler_values()
            if DecodedMessage.decode(value).message(13).number(1) == records.Role.PRIMARY
            and (record := decode_pooler(value))
        )


async def read_topology(connect: Connect, program: DataPlaneProgram) -> TopologyRecords:
    """The topology that this program is configured with."""
    root = program.root
    async with connect(program.addresses) as etcd:
        cells = {
            record.name: record
            for key, value in (await etcd.list(f"{root}/cells/")).items()
            if key.endswith("/Cell") and (record := decode_cell(value.value))
        }
        listed = await etcd.list(f"{root}/databases/")
    databases = {
        key.split("/")[-2]: value.value for key, value in listed.items() if key.endswith("/Database")
    }
    policies = {name: _policy(value) for name, value in databases.items()}
    object_stores = {name: found for name, value in databases.items() if (found := _object_store(value))}
    locations = {RecordLocation(cell.addresses, cell.root) for cell in cells.values()}
    stored = {location: await _read_records(connect, location) for location in sorted(locations)}
    return TopologyRecords(cells, policies, stored, object_stores)


async def _read_records(connect: Connect, location: RecordLocation) -> dict[str, KeyValue]:
    async with connect(location.addresses) as etcd:
        found = [await etcd.list(records.record_prefix(location.root, component)) for component in COMPONENTS]
    return {key: value for listed in found for key, value in listed.items()}


def _policy(database: bytes) -> DurabilityPolicy:
    policy = DecodedMessage.decode(database).message(4)
    return DurabilityPolicy(policy.number(4) or 2, policy.number(3) == MULTI_CELL)


def _object_store(database: bytes) -> str:
    """Where poolers have their repository; "" for a volume. Nothing in it names the cluster or the database."""
    s3 = DecodedMessage.decode(database).message(2).message(2)
    bucket = s3.text(1)
    return f"s3://{s3.text(3)}/{bucket}/{s3.text(4).strip('/')}" if bucket else ""
