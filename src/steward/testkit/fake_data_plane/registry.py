"""Writes the records of one cluster's programs, as the programs themselves would.

A record exists from the moment its pod is ready, its cell is registered and, for a pooler, its database is: the real
ones wait for that too. A pooler that is told to end marks its record and leaves it; gateways and orchestrators take
theirs away. A pod that is merely not ready leaves its record as it is, as a program that hangs would.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from steward.etcd.client import Endpoints, EtcdClient, KeyValue
from steward.multigres.topology.store_records import CellRecord, decode_cell, decode_pooler
from steward.runtime.manager.connect_to import Address
from steward.testkit.fake_data_plane import records
from steward.testkit.fake_data_plane.election import Instance, Lead, elect, leading
from steward.testkit.fake_data_plane.faults import NONE, Misbehaviour, Misbehaviours
from steward.testkit.fake_data_plane.programs import COMPONENTS, POOLER, Program, ShardKey
from steward.testkit.fake_data_plane.records import Role

TIMEOUT_SECONDS = 2.0


class Place(NamedTuple):
    """Where a cell keeps its records."""

    addresses: tuple[str, ...]
    root: str


class Scene(NamedTuple):
    """All that is to be told about a cluster at one moment."""

    programs: Sequence[Program]
    may_lead: Callable[[Program], bool]
    now: float
    wrong: Misbehaviours = NONE


class Registered(NamedTuple):
    """What Steward has registered, and what stands in the places where programs write."""

    cells: dict[str, CellRecord]
    databases: set[str]
    stored: dict[Place, dict[str, KeyValue]]


@dataclass
class ClusterRegistry:
    """The records of one cluster. `failover_seconds`: how long a shard is without a primary when its own goes."""

    redirect: Callable[[str, int], Address]
    failover_seconds: float
    _served: dict[tuple[Place, str], Instance] = field(default_factory=dict)
    _leads: dict[ShardKey, Lead] = field(default_factory=dict)
    _has_left_stale: bool = False

    async def sync(self, scene: Scene) -> bool:
        """Whether there is nothing left to do until something changes."""
        if not scene.programs:
            return True
        registered = await self._read(scene.programs[0])
        ready = [each for each in scene.programs if _may_register(each, registered)]
        primaries = self._elect(ready, scene, registered)
        retired = await self._retire(scene.programs, registered)
        writers = [*ready, *self._hanging(scene.programs, registered)]
        written = await self._write(writers, primaries, registered)
        await self._leave_stale(ready, scene.wrong, registered)
        waiting = [each for each in scene.programs if each.is_ready and each not in ready]
        is_done = retired and written and not waiting
        return is_done and not any(lead.is_vacant for lead in self._leads.values())

    def _hanging(self, programs: Sequence[Program], registered: Registered) -> list[Program]:
        """Not ready any more, but there: it can still lose its lead."""
        served = set(self._served.values())
        return [
            each
            for each in programs
            if not each.is_ready and each.cell in registered.cells and each.identity in served
        ]

    def _client(self, addresses: Iterable[str]) -> EtcdClient:
        return EtcdClient(Endpoints(tuple(addresses), None, self.redirect, TIMEOUT_SECONDS))

    async def _read(self, program: Program) -> Registered:
        root = program.root
        async with self._client(program.addresses) as etcd:
            cells = {
                record.name: record
                for key, value in (await etcd.list(f"{root}/cells/")).items()
                if key.endswith("/Cell") and (record := decode_cell(value.value))
            }
            listed = await etcd.list(f"{root}/databases/")
        databases = {key.split("/")[-2] for key in listed if key.endswith("/Database")}
        places = {_place(cell) for cell in cells.values()}
        return Registered(cells, databases, {place: await self._stored(place) for place in places})

    async def _stored(self, place: Place) -> dict[str, KeyValue]:
        async with self._client(place.addresses) as etcd:
            found = [await etcd.list(records.record_prefix(place.root, each)) for each in COMPONENTS]
        return {key: value for each in found for key, value in each.items()}

    def _elect(self, ready: Sequence[Program], scene: Scene, registered: Registered) -> frozenset[str]:
        """The names of the poolers that say that they lead."""
        shards: dict[ShardKey, list[Instance]] = defaultdict(list)
        for each in ready:
            if each.component == POOLER and scene.may_lead(each):
                shards[each.shard].append(each.identity)
        known = {each.shard for each in scene.programs if each.component == POOLER}
        leads = {shard: self._leads.get(shard) for shard in known if shards[shard] or shard in self._leads}
        self._leads = {
            shard: elect(
                shards[shard],
                before or _adopted(shards[shard], registered, scene.now),
                scene.now,
                self.failover_seconds,
            )
            for shard, before in leads.items()
        }
        return frozenset().union(
            *(leading(lead, shards[shard], scene.wrong) for shard, lead in self._leads.items())
        )

    async def _write(
        self, writers: Sequence[Program], primaries: frozenset[str], registered: Registered
    ) -> bool:
        """Whether all went through; false when a record has moved since it was read."""
        done = True
        for place, programs in _by_place(writers, registered).items():
            async with self._client(place.addresses) as etcd:
                for program in programs:
                    key = records.record_key(place.root, program)
                    self._served[place, key] = program.identity
                    stored = registered.stored[place].get(key)
                    wanted = _record(program, primaries)
                    if stored is None or stored.value != wanted:
                        done &= await etcd.put(key, wanted, 0 if stored is None else stored.revision)
        return done

    async def _retire(self, programs: Sequence[Program], registered: Registered) -> bool:
        """What ended, ended in order: it was told to. False when a record has moved since it was read."""
        present = {each.identity for each in programs if not each.is_leaving}
        done = True
        for (place, key), identity in list(self._served.items()):
            if identity in present:
                continue
            stored = registered.stored.get(place, {})
            if key not in stored or await self._end(place, key, stored):
                del self._served[place, key]
            else:
                done = False
        return done

    async def _end(self, place: Place, key: str, stored: dict[str, KeyValue]) -> bool:
        value, revision = stored.pop(key)
        async with self._client(place.addresses) as etcd:
            if not key.startswith(records.record_prefix(place.root, POOLER)):
                return await etcd.delete(key, revision)
            return await etcd.put(key, records.shut_down(value), revision)

    async def _leave_stale(
        self, ready: Sequence[Program], wrong: Misbehaviours, registered: Registered
    ) -> None:
        """Once for each time that it is asked for: whether it is cleaned away must show."""
        asked = Misbehaviour.STALE_RECORDS in wrong
        poolers = {each.cell: each for each in ready if each.component == POOLER}
        if asked and not self._has_left_stale:
            for cell, program in poolers.items():
                place = _place(registered.cells[cell])
                key = records.stale_pooler_key(place.root, cell, "stale")
                async with self._client(place.addresses) as etcd:
                    await etcd.put(key, records.stale_pooler(cell, "stale", program.shard), 0)
        self._has_left_stale = asked and (self._has_left_stale or bool(poolers))


def _may_register(program: Program, registered: Registered) -> bool:
    if not program.is_ready or program.cell not in registered.cells:
        return False
    return program.component != POOLER or program.shard.database in registered.databases


def _place(cell: CellRecord) -> Place:
    return Place(cell.addresses, cell.root)


def _by_place(programs: Iterable[Program], registered: Registered) -> dict[Place, list[Program]]:
    found: dict[Place, list[Program]] = defaultdict(list)
    for program in programs:
        found[_place(registered.cells[program.cell])].append(program)
    return found


def _record(program: Program, primaries: frozenset[str]) -> bytes:
    if program.component != POOLER:
        return records.service_record(program)
    role = Role.PRIMARY if program.record_name in primaries else Role.REPLICA
    return records.pooler_record(program, role)


def _adopted(candidates: Sequence[Instance], registered: Registered, now: float) -> Lead | None:
    """A stand-in that starts anew finds the primary of its predecessor in the records."""
    leading_names = {
        key.split("/")[-2]
        for stored in registered.stored.values()
        for key, value in stored.items()
        if key.endswith("/Pooler") and decode_pooler(value.value).is_primary
    }
    found = [each for each in candidates if each.name in leading_names]
    return Lead(found[0], False, now) if len(found) == 1 else None
