"""An etcd in the memory of this process, for tests: its JSON gateway, without a process for each TopoServer.

It serves what `steward.etcd.client` calls: ranges, and transactions that compare revisions. Its data is lost with the
process; `steward up` and the tests of the topology run real servers.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from steward.etcd.answers import KeyValue
from steward.etcd.client import Endpoints, EtcdClient
from steward.testkit.fake_data_plane.listener import Listener


class StoredKey(NamedTuple):
    key: bytes
    value: bytes
    revision: int


class MemoryStore:
    """Keys, values and revisions."""

    def __init__(self) -> None:
        self.revision = 1
        self._keys: dict[bytes, KeyValue] = {}

    def range(self, first: bytes, end: bytes = b"") -> list[StoredKey]:
        """The keys from `first` up to `end`: without an end `first` only, with a zero byte all that follow."""
        if not end:
            found = self._keys.get(first)
            return [] if found is None else [StoredKey(first, *found)]
        keys = [key for key in self._keys if first <= key and (key < end or end == b"\0")]
        return [StoredKey(key, *self._keys[key]) for key in sorted(keys)]

    def has_revision(self, key: bytes, revision: int) -> bool:
        """Whether the key was changed last at this revision; 0: whether it does not exist."""
        found = self._keys.get(key)
        return revision == (0 if found is None else found.revision)

    def write(self, key: bytes, value: bytes) -> None:
        self.revision += 1
        self._keys[key] = KeyValue(value, self.revision)

    def delete(self, first: bytes, end: bytes = b"") -> None:
        self.revision += 1
        for found in self.range(first, end):
            del self._keys[found.key]


class DirectEtcdClient(EtcdClient):
    """A client in the same process, without HTTP."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(Endpoints(()))
        self._store = store

    async def __aenter__(self) -> EtcdClient:
        """Opens no HTTP session, which would take longer than all that is read here."""
        return self

    async def get(self, key: str) -> KeyValue | None:
        return (await self.list(key)).get(key)

    async def list(self, prefix: str) -> dict[str, KeyValue]:
        first = prefix.encode()
        found = self._store.range(first, b"\0")
        return {
            each.key.decode(): KeyValue(each.value, each.revision)
            for each in found
            if each.key.startswith(first)
        }

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        is_current = self._store.has_revision(key.encode(), revision)
        if is_current:
            self._store.write(key.encode(), value)
        return is_current

    async def delete(self, key: str, revision: int) -> bool:
        is_current = self._store.has_revision(key.encode(), revision)
        if is_current:
            self._store.delete(key.encode())
        return is_current


class MemoryEtcd:
    """The server of one TopoServer: the interface of `EtcdProcess`."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.is_paused = False
        self._listener = Listener(self._serve)
        self._resumed = asyncio.Event()

    @property
    def port(self) -> int:
        return self._listener.port

    def is_running(self) -> bool:
        return self._listener.is_listening

    async def start(self) -> None:
        self.resume()
        await self._listener.listen()

    async def pause(self) -> None:
        self._resumed.clear()
        self.is_paused = True

    def resume(self) -> None:
        self._resumed.set()
        self.is_paused = False

    async def stop(self) -> None:
        """Refuse connections, keep the data."""
        self.resume()
        await self._listener.refuse()

    async def remove(self) -> None:
        self.resume()
        await self._listener.close()

    def log_tail(self) -> str:
        return ""

    async def _serve(self, request: web.BaseRequest) -> web.Response:
        try:
            body = msgspec.json.decode(await request.read(), type=dict[str, Any])
        except msgspec.MsgspecError:
            # A port may have belonged to another server before, whose clients still call it.
            return web.Response(status=400)
        await self._resumed.wait()
        if request.path == "/v3/kv/range":
            return self._answer(self._range(body))
        if request.path == "/v3/kv/txn":
            return self._answer(self._transaction(body))
        return web.Response(status=404)

    def _answer(self, content: Mapping[str, Any]) -> web.Response:
        body = {"header": {"revision": str(self.store.revision)}, **content}
        return web.Response(body=msgspec.json.encode(body), content_type="application/json")

    def _range(self, request: Mapping[str, Any]) -> dict[str, Any]:
        found = self.store.range(*_keys(request))
        limit = int(request.get("limit", "0")) or len(found)
        return {
            "kvs": [_key_value(each) for each in found[:limit]],
            "more": len(found) > limit,
            "count": str(len(found)),
        }

    def _transaction(self, request: Mapping[str, Any]) -> dict[str, Any]:
        conditions = request.get("compare", [])
        succeeded = all(
            self.store.has_revision(_decoded(each["key"]), int(each.get("modRevision", "0")))
            for each in conditions
        )
        for change in request.get("success", []) if succeeded else []:
            if "requestPut" in change:
                self.store.write(
                    _decoded(change["requestPut"]["key"]), _decoded(change["requestPut"].get("value", ""))
                )
            else:
                self.store.delete(*_keys(change["requestDeleteRange"]))
        return {"succeeded": succeeded}


def _keys(request: Mapping[str, Any]) -> tuple[bytes, bytes]:
    return _decoded(request["key"]), _decoded(request.get("rangeEnd", ""))


def _key_value(found: StoredKey) -> dict[str, str]:
    return {
        "key": base64.b64encode(found.key).decode(),
        "value": base64.b64encode(found.value).decode(),
        "mod_revision": str(found.revision),
    }


def _decoded(text: str) -> bytes:
    return base64.b64decode(text)
