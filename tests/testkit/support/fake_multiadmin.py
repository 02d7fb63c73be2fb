"""multiadmin of the fake data plane in front of one shard, without a topology server."""

from typing import Any

import aiohttp

from steward.etcd.answers import KeyValue
from steward.kube.clock import SystemClock
from steward.multigres.topology.store_records import CellRecord
from steward.testkit.fake_data_plane import records
from steward.testkit.fake_data_plane.programs import POOLER, DataPlaneProgram, ShardKey
from steward.testkit.fake_data_plane.records import Lifecycle, PoolerStatus
from steward.testkit.fake_data_plane.shard_model import PoolerState, ShardState, ShardView
from steward.testkit.fake_data_plane.topology_reader import RecordLocation, TopologyRecords
from tests.testkit.support.fake_shard import FakeShard, server

ROOT = "/multigres/global"
SHARD = ShardKey("postgres", "default", "0-inf")
NOON = 1_787_313_600.0  # 2026-08-21 12:00:00 UTC


class FakeCluster:
    """The cluster of one shard."""

    def __init__(self, shard: FakeShard) -> None:
        self.shard = shard

    async def read_topology(self) -> TopologyRecords:
        location = RecordLocation(("etcd:2379",), ROOT)
        stored = {
            records.record_key(ROOT, program(each.name)): KeyValue(self._record(each.name), 1)
            for each in self.shard.poolers
        }
        cells = {each.cell: CellRecord(each.cell, location.addresses, ROOT) for each in self.shard.poolers}
        return TopologyRecords(cells, {}, {location: stored})

    def _record(self, name: str) -> bytes:
        view = self.shard.view
        rule = view.state.rule if server(name) in view.primaries() else None
        record = records.pooler_record(program(name), PoolerStatus(Lifecycle.ACTIVE, rule))
        is_ended = view.poolers[server(name)].state is PoolerState.SHUT_DOWN
        return records.mark_shut_down(record) if is_ended else record

    def view(self, shard: ShardKey) -> ShardView | None:
        return self.shard.view if shard == SHARD else None

    def replace_state(self, shard: ShardKey, state: ShardState) -> None:
        self.shard.state = state


def program(name: str) -> DataPlaneProgram:
    flags = {
        "cell": name[0],
        "service-id": name,
        "hostname": f"{name}.pools",
        "grpc-port": "15270",
        "database": "postgres",
        "table-group": "default",
        "shard": "0-inf",
    }
    return DataPlaneProgram(POOLER, "uid", "main", is_ready=True, is_terminating=False, flags=flags)


class QuickClock(SystemClock):
    async def sleep(self, seconds: float) -> None:
        pass


class WallClock(QuickClock):
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> float:
        return self.time


async def get(http: aiohttp.ClientSession, path: str) -> tuple[int, Any]:
    async with http.get(path) as response:
        return response.status, await response.json()


async def post(http: aiohttp.ClientSession, path: str, body: object) -> tuple[int, Any]:
    async with http.post(path, json=body) as response:
        return response.status, await response.json()
