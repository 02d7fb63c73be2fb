"""Writes the topology records of one cluster's programs, as the programs themselves would.

A record is written when its pod is ready, its cell is registered and, for a pooler, its database is registered, as with
the real programs. On termination a pooler marks its record as shut down and keeps it; gateways and orchestrators delete
theirs. The record of a pod that is only not ready does not change, like that of a hanging program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from steward.etcd.answers import KeyValue
from steward.etcd.client import Endpoints, EtcdClient
from steward.multigres.topology.store_records import CellRecord, decode_cell, decode_pooler
from steward.runtime.manager.connect_to import Address
from steward.testkit.fake_data_plane import records
from steward.testkit.fake_data_plane.election import Instance, Leadership, elect, primary_names
from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.programs import COMPONENTS, POOLER, DataPlaneProgram, ShardKey
from steward.testkit.fake_data_plane.records import Role

TIMEOUT_SECONDS = 2.0


class RecordLocation(NamedTuple):
    """The etcd servers and the root under which a cell keeps its records."""

    addresses: tuple[str, ...]
    root: str


class ClusterState(NamedTuple):
    """The programs of a cluster, its injected faults, and the current time."""

    programs: Sequence[DataPlaneProgram]
    may_lead: Callable[[DataPlaneProgram], bool]
    now: float
    faults: DataPlaneFaults = NO_FAULTS


class TopologyRecords(NamedTuple):
    """Cells and databases that the operator has registered, and the records that programs have written."""

    cells: dict[str, CellRecord]
    databases: set[str]
    stored: dict[RecordLocation, dict[str, KeyValue]]


@dataclass
class ClusterRegistry:
    """The records of one cluster. A shard that lost its primary has none for `failover_seconds`."""

    redirect: Callable[[str, int], Address]
    failover_seconds: float
    _written: dict[tuple[RecordLocation, str], Instance] = field(default_factory=dict)
    _leads: dict[ShardKey, Leadership] = field(default_factory=dict)
    _has_written_stale: bool = False

    async def sync(self, cluster: ClusterState) -> bool:
        """Sync the records; return whether nothing is left to do until something changes."""
        if not cluster.programs:
            return True
        registered = await self._read(cluster.programs[0])
        ready = [program for program in cluster.programs if _may_register(program, registered)]
        primaries = self._elect(ready, cluster, registered)
        retired = await self._retire_records(cluster.programs, registered)
        writers = [*ready, *self._unready_with_record(cluster.programs, registered)]
        written = await self._write(writers, primaries, registered)
        await self._write_stale_poolers(ready, cluster.faults, registered)
        waiting = [program for program in cluster.programs if program.is_ready and program not in ready]
        is_done = retired and written and not waiting
        return is_done and not any(lead.is_vacant for lead in self._leads.values())

    def _unready_with_record(
        self, programs: Sequence[DataPlaneProgram], registered: TopologyRecords
    ) -> list[DataPlaneProgram]:
        """Programs that are no longer ready but have a record: they can still lose the primary role."""
        recorded = set(self._written.values())
        return [
            program
            for program in programs
            if not program.is_ready and program.cell in registered.cells and program.identity in recorded
        ]

    def _client(self, addresses: Iterable[str]) -> EtcdClient:
        return EtcdClient(Endpoints(tuple(addresses), None, self.redirect, TIMEOUT_SECONDS))

    async def _read(self, program: DataPlaneProgram) -> TopologyRecords:
        root = program.root
        async with self._client(program.addresses) as etcd:
            cells = {
                record.name: record
                for key, value in (await etcd.list(f"{root}/cells/")).items()
                if key.endswith("/Cell") and (record := decode_cell(value.value))
            }
            listed = await etcd.list(f"{root}/databases/")
        databases = {key.split("/")[-2] for key in listed if key.endswith("/Database")}
        locations = {_record_location(cell) for cell in cells.values()}
        return TopologyRecords(
            cells, databases, {location: await self._read_records(location) for location in locations}
        )

    async def _read_records(self, location: RecordLocation) -> dict[str, KeyValue]:
        async with self._client(location.addresses) as etcd:
            found = [
                await etcd.list(records.record_prefix(location.root, component)) for component in COMPONENTS
            ]
        return {key: value for listed in found for key, value in listed.items()}

    def _elect(
        self, ready: Sequence[DataPlaneProgram], cluster: ClusterState, registered: TopologyRecords
    ) -> frozenset[str]:
        """The names of the poolers that report to be primary."""
        shards: dict[ShardKey, list[Instance]] = defaultdict(list)
        for program in ready:
            if program.component == POOLER and cluster.may_lead(program):
                shards[program.shard].append(program.identity)
        known = {program.shard for program in cluster.programs if program.component == POOLER}
        previous = {shard: self._leads.get(shard) for shard in known if shards[shard] or shard in self._leads}
        self._leads = {
            shard: elect(
                shards[shard],
                lead or _adopt_leadership(shards[shard], registered, cluster.now),
                cluster.now,
                self.failover_seconds,
            )
            for shard, lead in previous.items()
        }
        return frozenset().union(
            *(primary_names(lead, shards[shard], cluster.faults) for shard, lead in self._leads.items())
        )

    async def _write(
        self, writers: Sequence[DataPlaneProgram], primaries: frozenset[str], registered: TopologyRecords
    ) -> bool:
        """Write changed records; False if one has changed since it was read."""
        done = True
        for location, programs in _by_location(writers, registered).items():
            async with self._client(location.addresses) as etcd:
                for program in programs:
                    key = records.record_key(location.root, program)
                    self._written[location, key] = program.identity
                    stored = registered.stored[location].get(key)
                    desired = _record(program, primaries)
                    if stored is None or stored.value != desired:
                        done &= await etcd.write(key, desired, 0 if stored is None else stored.revision)
        return done

    async def _retire_records(
        self, programs: Sequence[DataPlaneProgram], registered: TopologyRecords
    ) -> bool:
        """Shut down or delete the records of ended programs; False if one has changed since it was read."""
        present = {program.identity for program in programs if not program.is_terminating}
        done = True
        for (location, key), identity in list(self._written.items()):
            if identity in present:
                continue
            stored = registered.stored.get(location, {})
            if key not in stored or await self._retire_record(location, key, stored):
                del self._written[location, key]
            else:
                done = False
        return done

    async def _retire_record(self, location: RecordLocation, key: str, stored: dict[str, KeyValue]) -> bool:
        value, revision = stored.pop(key)
        async with self._client(location.addresses) as etcd:
            if not key.startswith(records.record_prefix(location.root, POOLER)):
                return await etcd.delete(key, revision)
            return await etcd.write(key, records.mark_shut_down(value), revision)

    async def _write_stale_poolers(
        self, ready: Sequence[DataPlaneProgram], faults: DataPlaneFaults, registered: TopologyRecords
    ) -> None:
        """Write stale records once per injection, so that their removal can be observed."""
        is_injected = DataPlaneFault.STALE_RECORDS in faults
        poolers = {program.cell: program for program in ready if program.component == POOLER}
        if is_injected and not self._has_written_stale:
            for cell, program in poolers.items():
                location = _record_location(registered.cells[cell])
                key = records.stale_pooler_key(location.root, cell, "stale")
                async with self._client(location.addresses) as etcd:
                    await etcd.write(key, records.stale_pooler(cell, "stale", program.shard), 0)
        self._has_written_stale = is_injected and (self._has_written_stale or bool(poolers))


def _may_register(program: DataPlaneProgram, registered: TopologyRecords) -> bool:
    if not program.is_ready or program.cell not in registered.cells:
        return False
    return program.component != POOLER or program.shard.database in registered.databases


def _record_location(cell: CellRecord) -> RecordLocation:
    return RecordLocation(cell.addresses, cell.root)


def _by_location(
    programs: Iterable[DataPlaneProgram], registered: TopologyRecords
) -> dict[RecordLocation, list[DataPlaneProgram]]:
    found: dict[RecordLocation, list[DataPlaneProgram]] = defaultdict(list)
    for program in programs:
        found[_record_location(registered.cells[program.cell])].append(program)
    return found


def _record(program: DataPlaneProgram, primaries: frozenset[str]) -> bytes:
    if program.component != POOLER:
        return records.service_record(program)
    role = Role.PRIMARY if program.record_name in primaries else Role.REPLICA
    return records.pooler_record(program, role)


def _adopt_leadership(
    candidates: Sequence[Instance], registered: TopologyRecords, now: float
) -> Leadership | None:
    """After a restart, take the primary of the previous process from the records."""
    leading_names = {
        key.split("/")[-2]
        for stored in registered.stored.values()
        for key, value in stored.items()
        if key.endswith("/Pooler") and decode_pooler(value.value).is_primary
    }
    found = [candidate for candidate in candidates if candidate.name in leading_names]
    return Leadership(found[0], False, now) if len(found) == 1 else None
