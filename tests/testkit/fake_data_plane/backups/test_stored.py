"""Repositories that stay when their cluster is deleted, and which clusters and databases share one."""

from pathlib import Path

from steward.testkit.fake_data_plane.backups.repository import FakeBackup, Repository
from steward.testkit.fake_data_plane.backups.stored import ClusterRepositories, RepositoryStore
from steward.testkit.fake_data_plane.programs import ShardKey

SHARD = ShardKey("postgres", "default", "0-inf")
ORDERS = ShardKey("orders", "default", "0-inf")
BACKUP = FakeBackup("20260821-120000F", "full", "a1", "job", 1.0, 2.0, lineage="data")


def test_repository_on_volumes_belongs_to_one_cluster() -> None:
    store = RepositoryStore()
    ClusterRepositories(store, "a/shop").replace(SHARD, Repository((BACKUP,)))
    assert ClusterRepositories(store, "a/shop").lineage(SHARD) == "data"
    assert ClusterRepositories(store, "b/shop").lineage(SHARD) == ""


def test_repository_in_an_object_store_belongs_to_all_clusters_that_name_it() -> None:
    store = RepositoryStore()
    old, new = ClusterRepositories(store, "a/shop"), ClusterRepositories(store, "b/shop")
    old.locate({"postgres": "s3:///bucket/shop"})
    old.replace(SHARD, Repository((BACKUP,)))
    new.locate({"postgres": "s3:///bucket/shop", "orders": "s3:///bucket/orders"})
    assert (new.lineage(SHARD), new.lineage(ORDERS)) == ("data", "")


def test_backups_are_kept_and_jobs_are_not(tmp_path: Path) -> None:
    before = ClusterRepositories(RepositoryStore(tmp_path), "a/shop")
    before.replace(SHARD, Repository((BACKUP,), None, {"job": None}))  # type: ignore[dict-item]
    after = ClusterRepositories(RepositoryStore(tmp_path), "a/shop").get(SHARD)
    assert (after.backups, after.finished) == ((BACKUP,), {})


def test_damaged_file_is_ignored(tmp_path: Path) -> None:
    ClusterRepositories(RepositoryStore(tmp_path), "a/shop").replace(SHARD, Repository((BACKUP,)))
    [file] = tmp_path.iterdir()
    file.write_text("{")
    assert ClusterRepositories(RepositoryStore(tmp_path), "a/shop").get(SHARD) == Repository()
