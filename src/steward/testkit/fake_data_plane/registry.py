"""Writes the topology records of one cluster's programs, as the programs themselves would.

A record is written when its pod is ready, its cell is registered and, for a pooler, its database is registered, as with
the real programs. On termination a pooler marks its record as shut down and keeps it; gateways and orchestrators delete
theirs. The record of a pod that is only not ready does not change, like that of a hanging program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from steward.etcd.answers import KeyValue
from steward.etcd.client import EtcdClient
from steward.etcd.errors import EtcdError
from steward.multigres.topology.store_records import decode_pooler
from steward.testkit.fake_data_plane import records
from steward.testkit.fake_data_plane.backups.stored import ClusterRepositories
from steward.testkit.fake_data_plane.faults import DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.programs import POOLER, DataPlaneProgram, Instance
from steward.testkit.fake_data_plane.records import Lifecycle, PoolerStatus
from steward.testkit.fake_data_plane.rule import ServerId, ShardRule
from steward.testkit.fake_data_plane.shards import ClusterShards, ClusterState, RegisteredPoolers
from steward.testkit.fake_data_plane.topology_reader import RecordLocation, TopologyRecords, read_topology

IDLE_SECONDS = 10.0
BUSY_SECONDS = 0.5


@dataclass
class ClusterRegistry:
    """The records of one cluster, and the shards that they are derived from."""

    connect: Callable[[tuple[str, ...]], EtcdClient]
    shards: ClusterShards
    repositories: ClusterRepositories
    _source: DataPlaneProgram | None = None
    """A program that names the topology server, also after the last program has ended."""
    _written: dict[tuple[RecordLocation, str], Instance] = field(default_factory=dict)
    _has_written_stale: bool = False

    async def sync(self, cluster: ClusterState) -> float:
        """Sync the records; return after how many seconds there may be something to do without another change."""
        self._source = next(iter(cluster.programs), self._source)
        if self._source is None or not (cluster.programs or self._written):
            return IDLE_SECONDS
        registered = await self._retire_ended(self._source, cluster.programs)
        ready = [program for program in cluster.programs if _may_register(program, registered)]
        self.repositories.locate(registered.object_stores)
        poolers = RegisteredPoolers(
            ready, registered.poolers(), registered.policies, self.repositories.lineage
        )
        self.shards.advance(cluster, poolers)
        writers = [*ready, *self._unready_with_record(cluster.programs, registered)]
        is_written = await self._write(writers, registered)
        await self._write_stale_poolers(ready, cluster.faults, registered)
        is_waiting = any(program.is_ready and program not in ready for program in cluster.programs)
        return self._next_sync(cluster.now, is_waiting or not is_written)

    async def _retire_ended(
        self, source: DataPlaneProgram, programs: Sequence[DataPlaneProgram]
    ) -> TopologyRecords:
        """The topology after all ended programs have retired their records."""
        try:
            registered = await read_topology(self.connect, source)
            while await self._retire_records(programs, registered):
                registered = await read_topology(self.connect, source)
        except EtcdError:
            if not programs:
                # Its etcd was probably deleted with it: the records stay, like those of killed programs.
                self._written.clear()
            raise
        return registered

    def _next_sync(self, now: float, has_work: bool) -> float:
        # The operator and users write to the same servers: a member without a record is noticed only by reading.
        is_busy = has_work or self.shards.has_absent_members()
        return min(self.shards.next_change() - now, BUSY_SECONDS if is_busy else IDLE_SECONDS)

    def _unready_with_record(
        self, programs: Sequence[DataPlaneProgram], registered: TopologyRecords
    ) -> list[DataPlaneProgram]:
        """Programs that are no longer ready but have a record: they can still lose the primary role."""
        recorded = set(self._written.values())
        return [
            program
            for program in programs
            if not (program.is_ready or program.is_terminating)
            and program.cell in registered.cells
            and program.identity in recorded
        ]

    async def _write(self, writers: Sequence[DataPlaneProgram], registered: TopologyRecords) -> bool:
        """Write changed records; False if one has changed since it was read."""
        done, primaries = True, self.shards.primaries()
        for location, programs in _by_location(writers, registered).items():
            async with self.connect(location.addresses) as etcd:
                for program in programs:
                    key = records.record_key(location.root, program)
                    self._written[location, key] = program.identity
                    stored = registered.stored[location].get(key)
                    desired = self._record(program, primaries, stored)
                    if stored is None or stored.value != desired:
                        done &= await etcd.write(key, desired, 0 if stored is None else stored.revision)
        return done

    def _record(
        self, program: DataPlaneProgram, primaries: dict[ServerId, ShardRule], stored: KeyValue | None
    ) -> bytes:
        if program.component != POOLER:
            return records.service_record(program)
        server = ServerId(program.cell, program.service_id)
        before = 0 if stored is None else decode_pooler(stored.value).lifecycle
        return records.pooler_record(
            program, PoolerStatus(self._lifecycle(server, before), primaries.get(server))
        )

    def _lifecycle(self, server: ServerId, before: int) -> Lifecycle:
        """A pooler is active from the first time that its Postgres runs; nothing but its end changes that."""
        view = self.shards.view_of(server)
        if view is not None and DataPlaneFault.QUARANTINED in view.poolers[server].faults:
            return Lifecycle.QUARANTINED
        is_active = before == Lifecycle.ACTIVE or view is None or view.is_ready(server)
        return Lifecycle.ACTIVE if is_active else Lifecycle.STARTING

    async def _retire_records(
        self, programs: Sequence[DataPlaneProgram], registered: TopologyRecords
    ) -> bool:
        """Shut down or delete the records of ended programs; whether there were any, and records changed."""
        present = {program.identity for program in programs if not program.is_terminating}
        ended = [(place, identity) for place, identity in self._written.items() if identity not in present]
        for (location, key), _ in ended:
            if await self._retire_record(location, key, registered):
                del self._written[location, key]
        return bool(ended)

    async def _retire_record(self, location: RecordLocation, key: str, registered: TopologyRecords) -> bool:
        """Whether it is done: False if the record has changed since it was read."""
        stored = registered.stored.get(location, {}).get(key)
        if stored is None:
            return True
        async with self.connect(location.addresses) as etcd:
            if not key.startswith(records.record_prefix(location.root, POOLER)):
                return await etcd.delete(key, stored.revision)
            return await etcd.write(key, records.mark_shut_down(stored.value), stored.revision)

    async def _write_stale_poolers(
        self, ready: Sequence[DataPlaneProgram], faults: DataPlaneFaults, registered: TopologyRecords
    ) -> None:
        """Write stale records once per injection, so that their removal can be observed."""
        is_injected = DataPlaneFault.STALE_RECORDS in faults
        poolers = {program.cell: program for program in ready if program.component == POOLER}
        if is_injected and not self._has_written_stale:
            for cell, program in poolers.items():
                location = registered.location(cell)
                key = records.stale_pooler_key(location.root, cell, "stale")
                async with self.connect(location.addresses) as etcd:
                    await etcd.write(key, records.stale_pooler(cell, "stale", program.shard), 0)
        self._has_written_stale = is_injected and (self._has_written_stale or bool(poolers))


def _may_register(program: DataPlaneProgram, registered: TopologyRecords) -> bool:
    if not program.is_ready or program.cell not in registered.cells:
        return False
    return program.component != POOLER or program.shard.database in registered.policies


def _by_location(
    programs: Iterable[DataPlaneProgram], registered: TopologyRecords
) -> dict[RecordLocation, list[DataPlaneProgram]]:
    found: dict[RecordLocation, list[DataPlaneProgram]] = defaultdict(list)
    for program in programs:
        found[registered.location(program.cell)].append(program)
    return found
