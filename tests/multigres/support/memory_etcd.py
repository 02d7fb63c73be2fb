"""An etcd in memory."""

from collections.abc import Callable

from steward.etcd.answers import KeyValue
from steward.etcd.client import Endpoints, EtcdClient

ROOT = "/multigres/global"


class MemoryEtcd(EtcdClient):
    """`before_write` simulates another client that writes first."""

    def __init__(self, before_write: Callable[["MemoryEtcd"], None] = lambda etcd: None) -> None:
        super().__init__(Endpoints(()))
        self.records: dict[str, KeyValue] = {}
        self.revision = 0
        self.before_write = before_write

    def set_value(self, key: str, value: bytes) -> None:
        self.revision += 1
        self.records[key] = KeyValue(value, self.revision)

    async def list(self, prefix: str) -> dict[str, KeyValue]:
        return {key: value for key, value in self.records.items() if key.startswith(prefix)}

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        self.before_write(self)
        if self._revision_of(key) != revision:
            return False
        self.set_value(key, value)
        return True

    async def delete(self, key: str, revision: int) -> bool:
        self.before_write(self)
        return self._revision_of(key) == revision and self.records.pop(key, None) is not None

    def _revision_of(self, key: str) -> int:
        return self.records[key].revision if key in self.records else 0
