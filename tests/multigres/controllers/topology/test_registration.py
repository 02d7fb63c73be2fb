"""Registration of records while other clients write to the same server."""

import pytest

from steward.etcd.errors import EtcdError
from steward.multigres.controllers.topology.registration import (
    RECORDS_PER_POD,
    living_poolers,
    register_records,
)
from steward.multigres.topology.protobuf import DecodedMessage, encode, text_field
from steward.multigres.topology.store_records import (
    SHUTDOWN,
    CellRecord,
    PoolerRecord,
    cell_key,
    database_key,
    decode_cell,
    decode_pooler,
    encode_cell,
)
from tests.multigres.support.memory_etcd import ROOT, MemoryEtcd
from tests.multigres.support.pooler_records import encode_pooler

KEY = cell_key(ROOT, "z1")
CELL = CellRecord("z1", ("topo:2379",), ROOT)
DESIRED = {KEY: encode_cell(CELL)}


def is_no_member(pooler: PoolerRecord) -> bool:
    return False


async def test_a_concurrent_write_is_read_again_and_not_overwritten() -> None:
    def newer_version(etcd: MemoryEtcd) -> None:
        etcd.before_write = lambda etcd: None
        etcd.set_value(KEY, encode([*text_field(1, "z1"), *text_field(99, "newer")]))

    etcd = MemoryEtcd(newer_version)
    await register_records(etcd, ROOT, DESIRED, None)
    assert decode_cell(etcd.records[KEY].value) == CELL
    assert DecodedMessage.decode(etcd.records[KEY].value).text(99) == "newer"


async def test_records_that_keep_changing_are_an_error() -> None:
    etcd = MemoryEtcd(lambda etcd: etcd.set_value(KEY, encode(text_field(1, f"at {etcd.revision}"))))
    with pytest.raises(EtcdError, match="keep changing"):
        await register_records(etcd, ROOT, DESIRED, None)


def init_claim(database: str) -> str:
    return f"{ROOT}/databases/{database}/default/0-inf/ShardInitClaim"


async def test_undesired_records_are_removed_with_everything_below_them() -> None:
    etcd = MemoryEtcd()
    gone = (cell_key(ROOT, "z9"), database_key(ROOT, "old"), init_claim("old"), init_claim("older"))
    for key in (*gone, init_claim("busy"), database_key(ROOT, "busy"), f"{ROOT}/databases/odd"):
        etcd.set_value(key, b"")
    await register_records(etcd, ROOT, DESIRED, None, retained={database_key(ROOT, "busy")})
    assert set(etcd.records) == {
        KEY,
        init_claim("busy"),
        database_key(ROOT, "busy"),
        f"{ROOT}/databases/odd",
    }


async def test_records_below_a_desired_database_stay() -> None:
    etcd = MemoryEtcd()
    etcd.set_value(init_claim("postgres"), b"")
    await register_records(
        etcd, ROOT, {**DESIRED, database_key(ROOT, "postgres"): encode(text_field(1, "postgres"))}, None
    )
    assert init_claim("postgres") in etcd.records


async def test_below_a_shared_root_records_of_foreign_databases_stay() -> None:
    etcd = MemoryEtcd()
    for database in ("ours", "theirs"):
        etcd.set_value(init_claim(database), b"")
        etcd.set_value(database_key(ROOT, database), b"")
    await register_records(etcd, ROOT, DESIRED, {database_key(ROOT, "ours")})
    assert set(etcd.records) == {KEY, init_claim("theirs"), database_key(ROOT, "theirs")}


async def test_below_a_shared_root_only_own_records_are_removed() -> None:
    etcd = MemoryEtcd()
    ours, theirs = cell_key(ROOT, "ours"), cell_key(ROOT, "theirs")
    etcd.set_value(ours, b"")
    etcd.set_value(theirs, b"")
    await register_records(etcd, ROOT, DESIRED, {ours})
    assert set(etcd.records) == {KEY, theirs}


async def test_only_stale_poolers_of_the_given_databases_are_retired() -> None:
    etcd = MemoryEtcd()
    for name in ("here", "gone"):
        etcd.set_value(f"{ROOT}/poolers/{name}/Pooler", encode_pooler(name))
    etcd.set_value(f"{ROOT}/poolers/odd/Pooler", b"\xff")
    assert await living_poolers(etcd, ROOT, {"another"}, set(), is_no_member) == []
    assert len(etcd.records) == 3
    for _ in range(2):
        found = await living_poolers(etcd, ROOT, {"postgres"}, {"here"}, is_no_member)
    assert [each.name for each in found] == ["here"]
    assert set(etcd.records) == {f"{ROOT}/poolers/here/Pooler", f"{ROOT}/poolers/odd/Pooler"}


@pytest.mark.parametrize("is_member", [True, None], ids=["member", "unknown"])
async def test_the_record_of_a_killed_pooler_is_marked_and_stays_until_the_cohort_has_dropped_it(
    is_member: bool | None,
) -> None:
    etcd, key = MemoryEtcd(), f"{ROOT}/poolers/gone/Pooler"
    etcd.set_value(key, encode_pooler("gone", role=1))
    for _ in range(3):
        assert await living_poolers(etcd, ROOT, {"postgres"}, set(), lambda pooler: is_member) == []
    left = decode_pooler((await etcd.list(key))[key].value)
    assert (left.name, left.lifecycle, left.is_primary) == ("gone", SHUTDOWN, False)


async def test_a_server_cannot_fill_the_memory_with_records_of_one_pod() -> None:
    etcd = MemoryEtcd()
    for number in range(1000):
        etcd.set_value(f"{ROOT}/poolers/{number}/Pooler", encode_pooler("here"))
    for number in (998, 999):
        etcd.set_value(f"{ROOT}/poolers/{number}/Pooler", encode_pooler("here", role=1))
    found = await living_poolers(etcd, ROOT, {"postgres"}, {"here"}, is_no_member)
    assert len(found) == RECORDS_PER_POD
    assert [each.is_primary for each in found[:3]] == [True, True, False], "both primaries are reported"


async def test_without_pruning_the_record_of_a_pooler_without_a_pod_stays_and_is_not_reported() -> None:
    etcd = MemoryEtcd()
    key = f"{ROOT}/poolers/gone/Pooler"
    etcd.set_value(key, encode_pooler("gone"))
    before = etcd.records[key]
    assert await living_poolers(etcd, ROOT, {"postgres"}, {"here"}, None) == []
    assert etcd.records[key] == before
