"""A client of etcd's JSON gateway: range requests and conditional transactions, optionally over TLS.

A key is only written or deleted if it still has the revision that the caller read, so that no newer value is lost.
Endpoints are tried in turn; one that does not respond costs a timeout.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import aiohttp
import msgspec
from yarl import URL

from steward.etcd.errors import EtcdError, RequestRejected, Unreachable

Redirect = Callable[[str, int], tuple[str, int]]
T = TypeVar("T")


class KeyValue(NamedTuple):
    value: bytes
    revision: int


@dataclass(frozen=True)
class Endpoints:
    """URLs of etcd and how to connect. `redirect` maps addresses inside the cluster to reachable ones."""

    urls: Sequence[str]
    tls: ssl.SSLContext | None = None
    redirect: Redirect = field(default=lambda host, port: (host, port))
    timeout_seconds: float = 5.0


class _Range(msgspec.Struct):
    kvs: list[dict[str, Any]] = []
    more: bool = False


class _Transaction(msgspec.Struct):
    succeeded: bool = False


def prefix_end(prefix: str) -> bytes:
    """The first key after all keys that start with `prefix`."""
    end = bytearray(prefix.encode())
    while end and end[-1] == 0xFF:
        end.pop()
    if not end:
        return b"\0"
    end[-1] += 1
    return bytes(end)


class EtcdClient:
    """Use as `async with EtcdClient(endpoints) as etcd`."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> EtcdClient:
        timeout = aiohttp.ClientTimeout(total=self._endpoints.timeout_seconds)
        self._session = aiohttp.ClientSession(timeout=timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, key: str) -> KeyValue | None:
        return (await self._range(key, None)).get(key)

    async def list(self, prefix: str) -> dict[str, KeyValue]:
        return await self._range(prefix, prefix_end(prefix))

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        """Whether the value was written: False if the key no longer has `revision` (0: does not exist)."""
        request = {"requestPut": {"key": _encoded(key.encode()), "value": _encoded(value)}}
        return await self._write_if_unchanged(key, revision, request)

    async def delete(self, key: str, revision: int) -> bool:
        """Whether the key was deleted: False if it no longer has `revision`."""
        return await self._write_if_unchanged(
            key, revision, {"requestDeleteRange": {"key": _encoded(key.encode())}}
        )

    async def _range(self, key: str, end: bytes | None) -> dict[str, KeyValue]:
        request = {"key": _encoded(key.encode())}
        if end is not None:
            request["rangeEnd"] = _encoded(end)
        response = _decoded(await self._call("/v3/kv/range", request), _Range)
        return {base64.b64decode(kv["key"]).decode(): _key_value(kv) for kv in response.kvs}

    async def _write_if_unchanged(self, key: str, revision: int, request: Mapping[str, Any]) -> bool:
        condition = {
            "key": _encoded(key.encode()),
            "target": "MOD",
            "result": "EQUAL",
            "modRevision": str(revision),
        }
        body = {"compare": [condition], "success": [request]}
        response = await self._call("/v3/kv/txn", body)
        return _decoded(response, _Transaction).succeeded

    async def _call(self, path: str, body: Mapping[str, Any]) -> bytes:
        failures: list[str] = []
        for url in self._endpoints.urls:
            try:
                return await self._post(url, path, msgspec.json.encode(body))
            except TimeoutError:
                failures.append(f"{url}: no answer within {self._endpoints.timeout_seconds:g} s")
            except (aiohttp.ClientError, OSError) as error:
                failures.append(f"{url}: {str(error) or type(error).__name__}")
        raise Unreachable("; ".join(failures) or "no endpoint is configured")

    async def _post(self, url: str, path: str, body: bytes) -> bytes:
        if self._session is None:
            raise EtcdError("the client is used outside its `async with` block")
        target, name = self._target(url)
        async with self._session.post(
            f"{target}{path}", data=body, ssl=self._endpoints.tls or True, server_hostname=name
        ) as response:
            content = await response.read()
            if response.status != 200:
                raise RequestRejected(
                    f"{url}: {response.status} {content[:200].decode('utf-8', 'replace').strip()}"
                )
            return content

    def _target(self, url: str) -> tuple[str, str | None]:
        parsed = URL(url if "://" in url else f"http://{url}")
        host, port = parsed.host or "", parsed.port or 2379
        target_host, target_port = self._endpoints.redirect(host, port)
        # The certificate is issued for the original name, not for the redirected address.
        name = host if parsed.scheme == "https" and target_host != host else None
        return str(parsed.with_host(target_host).with_port(target_port)).rstrip("/"), name


def _decoded(response: bytes, of: type[T]) -> T:
    try:
        return msgspec.json.decode(response, type=of)
    except msgspec.DecodeError as error:
        raise RequestRejected(f"the response is not from etcd: {error}") from error


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _key_value(kv: Mapping[str, Any]) -> KeyValue:
    return KeyValue(base64.b64decode(kv.get("value", "")), int(kv["mod_revision"]))
