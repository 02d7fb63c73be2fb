"""Requests to one endpoint, bounded in bytes and time.

An external topology server is not trusted, and its address may be any in the network. A request has no credentials but
the cluster's own client certificate. Redirects are not followed: they lead to addresses that the cluster does not name.
Only scheme, host and port of an endpoint are used: with a path or a user name, the author of a cluster could choose the
request. No compressed answer is read: a few kilobytes can inflate to gigabytes.
"""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import aiohttp
from yarl import URL

from steward.etcd.answers import describe_failure
from steward.etcd.errors import MalformedAnswer, RequestRejected, Unreachable
from steward.etcd.memory import AnswerReservation

Redirect = Callable[[str, int], tuple[str, int]]

ANSWER_BYTES = 2 << 20
"""The longest answer. A page has at most 500 keys, which are usually below 1 KiB each."""
ERROR_BYTES = 4 << 10
CHUNK_BYTES = 64 << 10
SHOWN_CHARACTERS = 100
HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}


class Request(NamedTuple):
    path: str
    body: bytes
    limit: "TimeLimit"


class TimeLimit(NamedTuple):
    """From the connection to the last byte of the answer."""

    seconds: float
    message: str
    """What to report when it ends: the same for every request, since a changed message is a status update."""


@dataclass(frozen=True)
class Endpoint:
    """One member of a server: where it is, and how messages name it."""

    url: URL
    name: str
    server_name: str | None
    """The name in its certificate, where that differs from the host."""


def find_endpoint(address: str, redirect: Redirect) -> Endpoint:
    """Raises Unreachable for an address without a scheme, host and port that can be used."""
    try:
        return _endpoint(address, redirect)
    except ValueError:
        message = "an endpoint is not of the form http://HOST:PORT or https://HOST:PORT"
        raise Unreachable(message) from None


def _endpoint(address: str, redirect: Redirect) -> Endpoint:
    has_scheme = "://" in address
    given = URL(address if has_scheme else f"http://{address}").origin()
    if given.scheme not in ("http", "https") or not given.host:
        raise ValueError("neither http nor https")
    host, port = redirect(given.host, given.port or 2379)
    # The certificate is issued for the original name, not for the redirected address.
    server_name = given.host if given.scheme == "https" and host != given.host else None
    name = str(given) if has_scheme else f"{given.host_subcomponent}:{given.port}"
    return Endpoint(
        URL.build(scheme=given.scheme, host=host, port=port), name[:SHOWN_CHARACTERS], server_name
    )


class HttpExchange:
    """The connections of one client."""

    def __init__(self, tls: ssl.SSLContext | None, reserved: AnswerReservation) -> None:
        self._tls = tls
        self._reserved = reserved
        self._session = aiohttp.ClientSession(
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=HEADERS,
            read_bufsize=CHUNK_BYTES,
        )

    async def close(self) -> None:
        self._reserved.release()
        await self._session.close()

    async def post(self, endpoint: Endpoint, request: Request) -> bytearray:
        """The body of a successful response; raises an EtcdError otherwise."""
        try:
            return await self._post(endpoint, request)
        except TimeoutError:
            raise Unreachable(request.limit.message) from None
        except (aiohttp.ClientConnectorError, OSError) as error:
            raise Unreachable(str(error) or type(error).__name__) from error
        except aiohttp.ServerDisconnectedError:
            raise Unreachable("it ended the connection without an answer") from None
        # The messages of the HTTP parser quote what it could not parse.
        except aiohttp.ClientError:
            raise MalformedAnswer("its answer is not valid HTTP, or ends too early") from None

    async def _post(self, endpoint: Endpoint, request: Request) -> bytearray:
        async with self._session.post(
            endpoint.url.with_path(request.path),
            data=request.body,
            ssl=self._tls or True,
            server_hostname=endpoint.server_name,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=request.limit.seconds),
        ) as response:
            _require_plain(response)
            if response.status != 200:
                answer = await self._read(response, ERROR_BYTES)
                raise RequestRejected(_describe_status(response.status, describe_failure(answer)))
            return await self._read(response, ANSWER_BYTES)

    async def _read(self, response: aiohttp.ClientResponse, limit: int) -> bytearray:
        """Counts while it reads: the length that a response announces may be missing or wrong."""
        content = bytearray()
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            if len(content) + len(chunk) > limit:
                raise MalformedAnswer(f"its answer ({response.status}) is longer than {limit} bytes")
            self._reserved.add(len(chunk))
            content += chunk
        return content


def _require_plain(response: aiohttp.ClientResponse) -> None:
    if 300 <= response.status < 400:
        raise MalformedAnswer(f"it answers with a redirect ({response.status}), which is not followed")
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise MalformedAnswer(f"its answer ({response.status}) is compressed, which was not asked for")


def _describe_status(status: int, meaning: str) -> str:
    return f"it answers with status {status}: {meaning}" if meaning else f"it answers with status {status}"
