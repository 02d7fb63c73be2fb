"""A client of etcd's JSON gateway: range requests and conditional transactions, optionally over TLS.

A key is only written or deleted if it still has the revision that the caller read, so that no newer value is lost.
Endpoints are tried in turn; one that does not respond costs a timeout. The server is not trusted: answers, keys and the
time of all requests of a client are bounded.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from steward.etcd.answers import KeyRange, KeyValue, RangePage, decode_range, decode_transaction
from steward.etcd.errors import EtcdError, MalformedAnswer, Unreachable
from steward.etcd.exchange import HttpExchange, Redirect, Request, TimeLimit, find_endpoint
from steward.etcd.memory import AnswerMemory, AnswerReservation

T = TypeVar("T")

PAGE_KEYS = 500
LIST_KEYS = 20_000
SHOWN_ENDPOINTS = 3


@dataclass(frozen=True)
class Endpoints:
    """URLs of etcd and how to connect. `redirect` maps addresses inside the cluster to reachable ones."""

    urls: Sequence[str]
    tls: ssl.SSLContext | None = None
    redirect: Redirect = field(default=lambda host, port: (host, port))
    timeout_seconds: float = 5.0
    """The time limit of one request to one endpoint."""
    session_seconds: float = 30.0
    """The time limit of all requests of a client: a slow server must not hold its caller for ever."""
    memory: AnswerMemory = field(default_factory=AnswerMemory)


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
        self._exchange: HttpExchange | None = None
        self._ends = 0.0

    async def __aenter__(self) -> EtcdClient:
        endpoints = self._endpoints
        self._exchange = HttpExchange(endpoints.tls, AnswerReservation(endpoints.memory))
        self._ends = asyncio.get_running_loop().time() + endpoints.session_seconds
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._exchange is not None:
            await self._exchange.close()

    async def get(self, key: str) -> KeyValue | None:
        first = key.encode()
        request = {"key": _encoded(first)}
        return (await self._range(request, KeyRange(first, first + b"\0", 1))).found.get(key)

    async def list(self, prefix: str) -> dict[str, KeyValue]:
        found: dict[str, KeyValue] = {}
        page = await self._page(prefix.encode(), prefix_end(prefix))
        found |= page.found
        while page.has_more:
            page = await self._page(page.last + b"\0", prefix_end(prefix))
            found |= page.found
            if len(found) > LIST_KEYS:
                raise MalformedAnswer(f"the server has more than {LIST_KEYS} keys below {prefix}")
        return found

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        """Whether the value was written: False if the key no longer has `revision` (0: does not exist)."""
        request = {"requestPut": {"key": _encoded(key.encode()), "value": _encoded(value)}}
        return await self._write_if_unchanged(key, revision, request)

    async def delete(self, key: str, revision: int) -> bool:
        """Whether the key was deleted: False if it no longer has `revision`."""
        return await self._write_if_unchanged(
            key, revision, {"requestDeleteRange": {"key": _encoded(key.encode())}}
        )

    async def _page(self, first: bytes, end: bytes) -> RangePage:
        request = {"key": _encoded(first), "rangeEnd": _encoded(end), "limit": str(PAGE_KEYS)}
        return await self._range(request, KeyRange(first, end, PAGE_KEYS))

    async def _range(self, request: Mapping[str, Any], keys: KeyRange) -> RangePage:
        return await self._call("/v3/kv/range", request, lambda answer: decode_range(answer, keys))

    async def _write_if_unchanged(self, key: str, revision: int, request: Mapping[str, Any]) -> bool:
        condition = {
            "key": _encoded(key.encode()),
            "target": "MOD",
            "result": "EQUAL",
            "modRevision": str(revision),
        }
        body = {"compare": [condition], "success": [request]}
        return await self._call("/v3/kv/txn", body, decode_transaction)

    async def _call(self, path: str, body: Mapping[str, Any], decode: Callable[[bytearray], T]) -> T:
        failures: list[EtcdError] = []
        content = msgspec.json.encode(body)
        for address in self._endpoints.urls:
            try:
                return await self._call_endpoint(address, path, content, decode)
            except EtcdError as error:
                failures.append(error)
        raise _combined(failures)

    async def _call_endpoint(
        self, address: str, path: str, content: bytes, decode: Callable[[bytearray], T]
    ) -> T:
        if self._exchange is None:
            raise EtcdError("the client is used outside its `async with` block")
        endpoint = find_endpoint(address, self._endpoints.redirect)
        try:
            return decode(await self._exchange.post(endpoint, Request(path, content, self._time_limit())))
        except EtcdError as error:
            raise type(error)(f"{endpoint.name}: {error}") from error.__cause__

    def _time_limit(self) -> TimeLimit:
        endpoints = self._endpoints
        left = self._ends - asyncio.get_running_loop().time()
        if left >= endpoints.timeout_seconds:
            return TimeLimit(endpoints.timeout_seconds, f"no answer within {endpoints.timeout_seconds:g} s")
        # aiohttp takes 0 as no limit at all.
        return TimeLimit(max(left, 0.001), f"not all answers within {endpoints.session_seconds:g} s")


def _combined(failures: Sequence[EtcdError]) -> EtcdError:
    """One error for all endpoints. An answer tells more than none: its kind wins."""
    shown = [str(failure) for failure in failures[:SHOWN_ENDPOINTS]]
    hidden = len(failures) - len(shown)
    kinds = [type(failure) for failure in failures if not isinstance(failure, Unreachable)]
    message = "; ".join([*shown, *([f"and {hidden} more endpoints"] if hidden else [])])
    return (kinds or [Unreachable])[0](message or "no endpoint is configured")


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()


class ReadOnlyEtcdClient(EtcdClient):
    """Writes and deletions count as done and are not sent."""

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        return True

    async def delete(self, key: str, revision: int) -> bool:
        return True
