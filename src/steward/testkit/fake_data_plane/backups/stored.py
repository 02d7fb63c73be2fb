"""The repositories of all clusters, each in a file of its own, which stays when its cluster is deleted.

A repository in an object store belongs to its location, as the record of the database names it: a cluster in another
namespace with the same location finds its backups, and two databases with the same one find each other's. A repository
on volumes belongs to a shard of a cluster.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from steward.local.state import replace_file
from steward.testkit.fake_data_plane.backups.repository import FakeBackup, Repository
from steward.testkit.fake_data_plane.programs import ShardKey

log = logging.getLogger(__name__)


class RepositoryStore:
    """`directory` is None if nothing is kept over a restart of the fake data plane."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self._repositories: dict[str, Repository] = {}

    def get(self, location: str) -> Repository:
        if location not in self._repositories:
            self._repositories[location] = Repository(self._read(location))
        return self._repositories[location]

    def replace(self, location: str, repository: Repository) -> None:
        before = self.get(location)
        self._repositories[location] = repository
        if self._directory is not None and before.backups != repository.backups:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._file(location), msgspec.json.encode(repository.backups).decode())

    def _read(self, location: str) -> tuple[FakeBackup, ...]:
        if self._directory is None or not self._file(location).exists():
            return ()
        try:
            return msgspec.json.decode(self._file(location).read_bytes(), type=tuple[FakeBackup, ...])
        except msgspec.MsgspecError as error:
            log.warning("%s is ignored: %s", self._file(location), error)
            return ()

    def _file(self, location: str) -> Path:
        assert self._directory is not None
        return self._directory / f"{hashlib.sha256(location.encode()).hexdigest()[:24]}.json"


class ClusterRepositories:
    """The repositories of the shards of one cluster."""

    def __init__(self, store: RepositoryStore, cluster: str) -> None:
        self._store = store
        self._cluster = cluster
        self._object_stores: Mapping[str, str] = {}
        self._shards: set[ShardKey] = set()

    def locate(self, object_stores: Mapping[str, str]) -> None:
        """The locations of databases whose repository is in an object store."""
        self._object_stores = object_stores

    def shards(self) -> list[ShardKey]:
        return sorted(self._shards)

    def get(self, shard: ShardKey) -> Repository:
        self._shards.add(shard)
        return self._store.get(self._location(shard))

    def replace(self, shard: ShardKey, repository: Repository) -> None:
        self._store.replace(self._location(shard), repository)

    def lineage(self, shard: ShardKey) -> str:
        """What a server with an empty volume restores: the data of the newest backup; "" if there is none."""
        backups = self.get(shard).backups
        return backups[-1].lineage if backups else ""

    def _location(self, shard: ShardKey) -> str:
        return self._object_stores.get(shard.database) or "/".join((self._cluster, *shard))
