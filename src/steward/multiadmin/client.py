"""A client of multiadmin's REST interface.

All clusters of a process share one client and its connections. The servers are not trusted: their images are those of
the clusters' authors. A request has no credentials, redirects are not followed, no compressed answer is read, and the
bytes of an answer, the time of a request and the connections to one server are bounded: with `HOST_CONNECTIONS` of
`CONNECTIONS` a slow server delays its own cluster only.

multiadmin keeps connections to pods that no longer exist: the first request after a pod was replaced may fail with
"no route to host". Such a request is sent once more.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec
from yarl import URL

from steward.multiadmin.answers import PoolerStatus, decode_pooler_status, decode_refusal, decode_switch
from steward.multiadmin.errors import (
    INTERNAL,
    UNAVAILABLE,
    MalformedAnswer,
    RequestRejected,
    Unreachable,
    names_dead_connection,
)

T = TypeVar("T")
Redirect = Callable[[str, int], tuple[str, int]]

ANSWER_BYTES = 128 << 10
"""The longest answer. The status of a pooler in a cohort of 100 members has about 50 KiB."""
ERROR_BYTES = 4 << 10
CHUNK_BYTES = 16 << 10
STATUS_SECONDS = 5.0
SWITCH_SECONDS = 30.0
"""multiadmin waits up to 5 s after an election, then until the primary has finished its transactions."""
CONNECTIONS, HOST_CONNECTIONS = 100, 4
IDLE_SECONDS = 5.0
"""When an unused connection is closed: between two checks of servers at rest none is kept."""
HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Request(NamedTuple):
    method: str
    path: str
    seconds: float
    body: bytes | None = None
    query: str = ""
    answer_bytes: int = ANSWER_BYTES


class MultiadminClient:
    """The connections of a process; a service of the manager, which closes them on stop."""

    name = "multiadmin client"

    def __init__(self, redirect: Redirect) -> None:
        self._redirect = redirect
        self._session: aiohttp.ClientSession | None = None

    def problem(self) -> str:
        return ""

    async def start(self) -> None:
        return

    async def stop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def at(self, address: Address) -> "Multiadmin":
        return Multiadmin(self, address)

    async def send(self, address: Address, request: Request) -> bytearray:
        """The body of a successful response; raises a MultiadminError otherwise."""
        try:
            return await self._send(address, request)
        except TimeoutError:
            raise Unreachable(f"{address}: no answer within {request.seconds:g} s") from None
        except (aiohttp.ClientConnectorError, OSError) as error:
            raise Unreachable(f"{address}: {_cause(error)}") from error
        except aiohttp.ServerDisconnectedError:
            raise Unreachable(f"{address}: it ended the connection without an answer") from None
        # The messages of the HTTP parser quote what it could not parse.
        except aiohttp.ClientError:
            raise MalformedAnswer(f"{address}: its answer is not valid HTTP, or ends too early") from None

    async def _send(self, address: Address, request: Request) -> bytearray:
        host, port = self._redirect(*address)
        url = URL.build(
            scheme="http", host=host, port=port, path=request.path, query_string=request.query, encoded=True
        )
        headers = {"Content-Type": "application/json"} if request.body is not None else {}
        async with self._open_session().request(
            request.method,
            url,
            data=request.body,
            headers=headers,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=request.seconds),
        ) as response:
            _require_plain(address, response)
            if response.status != 200:
                raise await _rejection(address, response)
            return await _read(address, response, request.answer_bytes)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=CONNECTIONS, limit_per_host=HOST_CONNECTIONS, keepalive_timeout=IDLE_SECONDS
                ),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=HEADERS,
                read_bufsize=CHUNK_BYTES,
            )
        return self._session


class Multiadmin:
    """The multiadmin of one cluster."""

    def __init__(self, client: MultiadminClient, address: Address) -> None:
        self._client = client
        self._address = address

    async def pooler_status(self, cell: str, name: str) -> PoolerStatus:
        """Raises RequestRejected with NOT_FOUND if no such pooler is registered, UNAVAILABLE if it does not answer."""
        request = Request(
            "GET", f"/api/v1/poolers/{path_part(cell)}/{path_part(name)}/status", STATUS_SECONDS
        )
        try:
            return await self.call(request, decode_pooler_status)
        except RequestRejected as error:
            if error.code not in (INTERNAL, UNAVAILABLE):
                raise
        return await self.call(request, decode_pooler_status)

    async def switch_primary(self, database: str, table_group: str, shard: str, reason: str) -> None:
        """Returns when the primary no longer takes writes; the new one is elected after that.

        Raises RequestRejected with FAILED_PRECONDITION if no standby could take over, NOT_FOUND if there is no primary.
        """
        path = (
            f"/api/v1/shards/{path_part(database)}/{path_part(table_group)}/{path_part(shard)}/switch-primary"
        )
        request = Request("POST", path, SWITCH_SECONDS, msgspec.json.encode({"reason": reason}))
        # Any other failure may come after the primary has resigned: a second request would fail in another way.
        await self.call_over_dead_connection(request, decode_switch)

    async def call_over_dead_connection(self, request: Request, decode: Callable[[bytearray], T]) -> T:
        """Sends the request once more if multiadmin has kept a connection to a pod that no longer exists."""
        try:
            return await self.call(request, decode)
        except RequestRejected as error:
            if not has_dead_connection(error):
                raise
        return await self.call(request, decode)

    async def call(self, request: Request, decode: Callable[[bytearray], T]) -> T:
        answer = await self._client.send(self._address, request)
        try:
            return decode(answer)
        except MalformedAnswer as error:
            raise MalformedAnswer(f"{self._address}: {error}") from None


def path_part(name: str) -> str:
    return quote(name, safe="")


def has_dead_connection(error: RequestRejected) -> bool:
    return error.code in (INTERNAL, UNAVAILABLE) and names_dead_connection(error.sentence)


async def _rejection(address: Address, response: aiohttp.ClientResponse) -> RequestRejected:
    refusal = decode_refusal(await _read(address, response, ERROR_BYTES))
    said = f": {refusal.sentence}" if refusal.sentence else ""
    message = f"{address}: it answers with status {response.status}{said}"
    return RequestRejected(message, refusal.code, refusal.sentence)


async def _read(address: Address, response: aiohttp.ClientResponse, limit: int) -> bytearray:
    """Counts while it reads: the length that a response announces may be missing or wrong."""
    content = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        if len(content) + len(chunk) > limit:
            raise MalformedAnswer(f"{address}: its answer is longer than {limit} bytes")
        content += chunk
    return content


def _require_plain(address: Address, response: aiohttp.ClientResponse) -> None:
    if 300 <= response.status < 400:
        raise MalformedAnswer(
            f"{address}: it answers with a redirect ({response.status}), which is not followed"
        )
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise MalformedAnswer(f"{address}: its answer is compressed, which was not asked for")


def _cause(error: Exception) -> str:
    """The same words for the same failure: a message that changes with the pod's address is a status update."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its host name cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorError | ConnectionError):
        return "it accepts no connection"
    return type(error).__name__
