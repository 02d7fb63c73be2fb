"""The shards of a cluster, from its programs and records, and over a restart."""

from pathlib import Path

import pytest

from steward.multigres.topology.store_records import SHUTDOWN, PoolerRecord
from steward.testkit.fake_data_plane.programs import POOLER, DataPlaneProgram, ShardKey
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId
from steward.testkit.fake_data_plane.shard_model import Timing
from steward.testkit.fake_data_plane.shards import ClusterShards, ClusterState, RegisteredPoolers

SHARD = ShardKey("postgres", "default", "0-inf")
NAMES = ("a1", "b1", "c1")
TIMING = Timing(start=2.0, stream=1.0, failover=5.0)
POLICIES = {"postgres": DurabilityPolicy(2)}


def program(name: str) -> DataPlaneProgram:
    flags = {
        "cell": name[0],
        "service-id": name,
        "database": "postgres",
        "table-group": "default",
        "shard": "0-inf",
    }
    return DataPlaneProgram(POOLER, f"uid-{name}", "main", is_ready=True, is_terminating=False, flags=flags)


def record(name: str, lifecycle: int = 2) -> PoolerRecord:
    return PoolerRecord(name[0], name, f"{name}.pools", *SHARD, is_primary=False, lifecycle=lifecycle)


def advance(shards: ClusterShards, now: float, *names: str, ended: tuple[str, ...] = ()) -> None:
    programs = [program(name) for name in names]
    recorded = [*(record(name) for name in names), *(record(name, SHUTDOWN) for name in ended)]
    state = ClusterState(programs, lambda each: True, now)
    shards.advance(state, RegisteredPoolers(programs, recorded, POLICIES))


def settled(file: Path) -> ClusterShards:
    shards = ClusterShards(TIMING, file)
    for now in range(10):
        advance(shards, float(now), *NAMES)
    return shards


def test_a_pooler_with_a_record_and_no_program_has_shut_down_or_is_away(tmp_path: Path) -> None:
    shards = settled(tmp_path / "shards.json")
    advance(shards, 10.0, "a1", "b1", ended=("c1",))
    rule = shards.views[SHARD].state.rule
    assert rule is not None
    assert rule.cohort == {ServerId("a", "a1"), ServerId("b", "b1")}
    assert not shards.has_absent_members()


def test_a_member_without_a_program_is_absent(tmp_path: Path) -> None:
    shards = settled(tmp_path / "shards.json")
    advance(shards, 10.0, "a1", "b1")
    assert shards.has_absent_members()


def test_after_a_restart_the_primary_leads_and_its_standbys_stream_at_once(tmp_path: Path) -> None:
    before = settled(tmp_path / "shards.json").views[SHARD]
    later = ClusterShards(TIMING, tmp_path / "shards.json")
    advance(later, 0.0, *NAMES)
    view = later.views[SHARD]
    assert (view.state.rule, view.primary, view.takes_writes) == (before.state.rule, before.primary, True)


def test_a_primary_that_ended_during_a_restart_is_replaced(tmp_path: Path) -> None:
    settled(tmp_path / "shards.json")
    later = ClusterShards(TIMING, tmp_path / "shards.json")
    advance(later, 0.0, "b1", "c1")
    assert later.views[SHARD].primary is None
    advance(later, 5.0, "b1", "c1")
    assert later.views[SHARD].primary == ServerId("b", "b1")


@pytest.mark.parametrize("content", ["", "[]", '[{"key": 1}]', "{"])
def test_a_damaged_file_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "shards.json").write_text(content)
    assert settled(tmp_path / "shards.json").views[SHARD].primary == ServerId("a", "a1")


def test_a_shard_without_pods_and_records_is_forgotten(tmp_path: Path) -> None:
    shards = settled(tmp_path / "shards.json")
    advance(shards, 10.0)
    assert shards.views == {}
    shards.delete()
    assert not (tmp_path / "shards.json").exists()
