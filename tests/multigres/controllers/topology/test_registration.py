"""Records brought up to date while others write to the same server."""

from collections.abc import Callable

import pytest

from steward.etcd.client import Endpoints, EtcdClient, KeyValue
from steward.etcd.errors import EtcdError
from steward.multigres.controllers.topology.registration import living_poolers, register
from steward.multigres.topology.protobuf import Record, encode, text
from steward.multigres.topology.store_records import (
    CellRecord,
    cell_key,
    database_key,
    decode_cell,
    encode_cell,
)
from tests.multigres.topology.test_store_records import pooler

ROOT = "/multigres/global"
KEY = cell_key(ROOT, "z1")
CELL = CellRecord("z1", ("topo:2379",), ROOT)
DESIRED = {KEY: encode_cell(CELL)}


class MemoryEtcd(EtcdClient):
    """An etcd in memory. `before_write` is somebody else, who is faster."""

    def __init__(self, before_write: Callable[["MemoryEtcd"], None] = lambda etcd: None) -> None:
        super().__init__(Endpoints(()))
        self.kept: dict[str, KeyValue] = {}
        self.revision = 0
        self.before_write = before_write

    def write(self, key: str, value: bytes) -> None:
        self.revision += 1
        self.kept[key] = KeyValue(value, self.revision)

    async def list(self, prefix: str) -> dict[str, KeyValue]:
        return {key: value for key, value in self.kept.items() if key.startswith(prefix)}

    async def put(self, key: str, value: bytes, revision: int) -> bool:
        self.before_write(self)
        if self._stands_at(key) != revision:
            return False
        self.write(key, value)
        return True

    async def delete(self, key: str, revision: int) -> bool:
        self.before_write(self)
        return self._stands_at(key) == revision and self.kept.pop(key, None) is not None

    def _stands_at(self, key: str) -> int:
        return self.kept[key].revision if key in self.kept else 0


async def test_who_was_faster_is_read_again_and_not_overwritten() -> None:
    def newer_version(etcd: MemoryEtcd) -> None:
        etcd.before_write = lambda etcd: None
        etcd.write(KEY, encode([*text(1, "z1"), *text(99, "newer")]))

    etcd = MemoryEtcd(newer_version)
    await register(etcd, ROOT, DESIRED, None)
    assert decode_cell(etcd.kept[KEY].value) == CELL
    assert Record.of(etcd.kept[KEY].value).text(99) == "newer"


async def test_records_that_never_stand_still_are_not_called_registered() -> None:
    etcd = MemoryEtcd(lambda etcd: etcd.write(KEY, encode(text(1, f"at {etcd.revision}"))))
    with pytest.raises(EtcdError, match="keep changing"):
        await register(etcd, ROOT, DESIRED, None)


def init_claim(database: str) -> str:
    return f"{ROOT}/databases/{database}/default/0-inf/ShardInitClaim"


async def test_what_nobody_wants_goes_with_all_that_stands_below_it() -> None:
    etcd = MemoryEtcd()
    gone = (cell_key(ROOT, "z9"), database_key(ROOT, "old"), init_claim("old"), init_claim("older"))
    for key in (*gone, init_claim("busy"), database_key(ROOT, "busy"), f"{ROOT}/databases/odd"):
        etcd.write(key, b"")
    await register(etcd, ROOT, DESIRED, None, still_used={database_key(ROOT, "busy")})
    assert set(etcd.kept) == {
        KEY,
        init_claim("busy"),
        database_key(ROOT, "busy"),
        f"{ROOT}/databases/odd",
    }


async def test_what_stands_below_a_database_that_is_wanted_stays() -> None:
    etcd = MemoryEtcd()
    etcd.write(init_claim("postgres"), b"")
    await register(etcd, ROOT, {**DESIRED, database_key(ROOT, "postgres"): encode(text(1, "postgres"))}, None)
    assert init_claim("postgres") in etcd.kept


async def test_below_a_shared_root_what_stands_below_databases_of_others_stays() -> None:
    etcd = MemoryEtcd()
    for database in ("ours", "theirs"):
        etcd.write(init_claim(database), b"")
        etcd.write(database_key(ROOT, database), b"")
    await register(etcd, ROOT, DESIRED, {database_key(ROOT, "ours")})
    assert set(etcd.kept) == {KEY, init_claim("theirs"), database_key(ROOT, "theirs")}


async def test_below_a_shared_root_only_our_own_records_go() -> None:
    etcd = MemoryEtcd()
    ours, theirs = cell_key(ROOT, "ours"), cell_key(ROOT, "theirs")
    etcd.write(ours, b"")
    etcd.write(theirs, b"")
    await register(etcd, ROOT, DESIRED, {ours})
    assert set(etcd.kept) == {KEY, theirs}


async def test_only_poolers_of_our_databases_whose_pods_are_gone_are_taken_away() -> None:
    etcd = MemoryEtcd()
    for name in ("here", "gone"):
        etcd.write(f"{ROOT}/poolers/{name}/Pooler", pooler(name))
    etcd.write(f"{ROOT}/poolers/odd/Pooler", b"\xff")
    assert await living_poolers(etcd, ROOT, {"another"}, set()) == []
    assert len(etcd.kept) == 3
    found = await living_poolers(etcd, ROOT, {"postgres"}, {"here"})
    assert [each.name for each in found] == ["here"]
    assert set(etcd.kept) == {f"{ROOT}/poolers/here/Pooler", f"{ROOT}/poolers/odd/Pooler"}
