"""Removal of records from a topology server that other clients write to."""

import pytest

from steward.etcd.errors import EtcdError
from steward.multigres.controllers.common.deregistration import (
    RecordScope,
    remove_all_records,
    remove_cell_records,
    remove_scoped_records,
)
from steward.multigres.topology.protobuf import encode, message_field, text_field
from steward.multigres.topology.store_records import cell_key, database_key, pooler_prefix
from tests.multigres.support.memory_etcd import ROOT, MemoryEtcd
from tests.multigres.support.pooler_records import encode_pooler

CLAIM = f"{ROOT}/databases/postgres/default/0-inf/ShardInitClaim"
OWN = [cell_key(ROOT, "z1"), database_key(ROOT, "postgres"), CLAIM]
FOREIGN = [cell_key(ROOT, "z9"), database_key(ROOT, "foreign"), cell_key("/another/root", "z1")]


def server(*keys: str) -> MemoryEtcd:
    etcd = MemoryEtcd()
    for key in keys:
        etcd.set_value(key, b"")
    return etcd


async def test_the_record_of_a_cell_is_removed_and_no_other() -> None:
    etcd = server(*OWN, cell_key(ROOT, "z10"))
    await remove_cell_records(etcd, ROOT, "z1")
    assert set(etcd.records) == {*OWN[1:], cell_key(ROOT, "z10")}


async def test_an_unshared_root_is_emptied_and_other_roots_stay() -> None:
    etcd = server(*OWN, "/multigres/global-two/cells/z1/Cell")
    await remove_all_records(etcd, ROOT)
    assert set(etcd.records) == {"/multigres/global-two/cells/z1/Cell"}


async def test_below_a_shared_root_only_records_in_scope_are_removed() -> None:
    etcd = server(*OWN, *FOREIGN)
    mine, foreign = f"{pooler_prefix(ROOT)}a/Pooler", f"{pooler_prefix(ROOT)}b/Pooler"
    etcd.set_value(mine, encode_pooler("a"))
    etcd.set_value(foreign, encode([message_field(2, text_field(1, "foreign"))]))
    etcd.set_value(f"{pooler_prefix(ROOT)}c/Pooler", b"\xff no record")
    await remove_scoped_records(etcd, ROOT, RecordScope(["z1"], ["postgres"]))
    assert set(etcd.records) == {*FOREIGN, foreign, f"{pooler_prefix(ROOT)}c/Pooler"}


async def test_a_changed_record_is_read_again_before_it_is_removed() -> None:
    etcd = server(*OWN)
    faster = iter([True, False, False, False, False])
    etcd.before_write = lambda other_client: other_client.set_value(OWN[0], b"new") if next(faster) else None
    await remove_all_records(etcd, ROOT)
    assert not etcd.records


async def test_a_record_that_keeps_changing_is_an_error() -> None:
    etcd = server(*OWN)
    etcd.before_write = lambda other_client: other_client.set_value(OWN[0], b"new")
    with pytest.raises(EtcdError, match="keep changing"):
        await remove_cell_records(etcd, ROOT, "z1")
