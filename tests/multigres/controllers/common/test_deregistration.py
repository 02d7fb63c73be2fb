"""Records taken out of a topology server, while others write to it and keep their own there."""

import pytest

from steward.etcd.errors import EtcdError
from steward.multigres.controllers.common.deregistration import (
    Whose,
    remove_cell,
    remove_everything,
    remove_own,
)
from steward.multigres.topology.protobuf import encode, message, text
from steward.multigres.topology.store_records import cell_key, database_key, pooler_prefix
from tests.multigres.controllers.topology.test_registration import ROOT, MemoryEtcd
from tests.multigres.topology.test_store_records import pooler

CLAIM = f"{ROOT}/databases/postgres/default/0-inf/ShardInitClaim"
OURS = [cell_key(ROOT, "z1"), database_key(ROOT, "postgres"), CLAIM]
THEIRS = [cell_key(ROOT, "z9"), database_key(ROOT, "theirs"), cell_key("/another/root", "z1")]


def server(*keys: str) -> MemoryEtcd:
    etcd = MemoryEtcd()
    for key in keys:
        etcd.write(key, b"")
    return etcd


async def test_a_cells_record_goes_and_no_other() -> None:
    etcd = server(*OURS, cell_key(ROOT, "z10"))
    await remove_cell(etcd, ROOT, "z1")
    assert set(etcd.kept) == {*OURS[1:], cell_key(ROOT, "z10")}


async def test_a_root_of_ones_own_is_emptied_and_its_neighbours_stay() -> None:
    etcd = server(*OURS, "/multigres/global-two/cells/z1/Cell")
    await remove_everything(etcd, ROOT)
    assert set(etcd.kept) == {"/multigres/global-two/cells/z1/Cell"}


async def test_below_a_shared_root_only_our_own_goes() -> None:
    etcd = server(*OURS, *THEIRS)
    mine, foreign = f"{pooler_prefix(ROOT)}a/Pooler", f"{pooler_prefix(ROOT)}b/Pooler"
    etcd.write(mine, pooler("a"))
    etcd.write(foreign, encode([message(2, text(1, "theirs"))]))
    etcd.write(f"{pooler_prefix(ROOT)}c/Pooler", b"\xff no record")
    await remove_own(etcd, ROOT, Whose(["z1"], ["postgres"]))
    assert set(etcd.kept) == {*THEIRS, foreign, f"{pooler_prefix(ROOT)}c/Pooler"}


async def test_a_record_that_changes_is_read_again_before_it_goes() -> None:
    etcd = server(*OURS)
    faster = iter([True, False, False, False, False])
    etcd.before_write = lambda seen: seen.write(OURS[0], b"new") if next(faster) else None
    await remove_everything(etcd, ROOT)
    assert not etcd.kept


async def test_a_record_that_never_stands_still_is_an_error() -> None:
    etcd = server(*OURS)
    etcd.before_write = lambda seen: seen.write(OURS[0], b"new")
    with pytest.raises(EtcdError, match="keep changing"):
        await remove_cell(etcd, ROOT, "z1")
