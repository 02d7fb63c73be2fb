"""A request as a value: its HTTP parts, its effect on the cluster, and whether it may be sent twice."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from steward.kube.transport.retry import RetryPolicy

DEADLINE_SECONDS = 60.0

Headers = Mapping[str, str] | tuple[tuple[str, str], ...]
"""Pairs where a name may occur more than once."""


class Effect(Enum):
    READ = "read"
    """Changes nothing: reads, reviews and dry runs."""
    WRITE = "write"
    """Changes the cluster: only the leader may, and `before_write` is called right before the request is sent."""
    ELECTION = "election"
    """Reads or changes the lease that decides which replica leads: it skips `before_write` and all limits."""


class Request(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    query: Mapping[str, str] = {}
    body: bytes | None = None
    content_type: str = "application/json"
    headers: Headers = ()
    effect: Effect = Effect.READ
    idempotent: bool = False
    """May be sent again after an attempt that the server may have carried out. A read always may."""
    timeout: float = DEADLINE_SECONDS
    """Seconds for the request with all its attempts; for a stream, until its first byte."""
    retry: RetryPolicy | None = None
    """None means the transport's own policy."""

    @property
    def is_idempotent(self) -> bool:
        return self.idempotent or self.effect is Effect.READ

    def __repr__(self) -> str:
        # A body may be a Secret.
        return f"Request({self.method} {self.path})"


BeforeWrite = Callable[[Request], None]
"""Called synchronously as the last step before the request is sent; raises to stop the write."""


def allow_write(request: Request) -> None:
    """Allows every write."""


class CallOptions(Struct, frozen=True, kw_only=True):
    """The options that all requests of one client share."""

    headers: Headers = ()
    election: bool = False
    timeout: float = DEADLINE_SECONDS
    retry: RetryPolicy | None = None

    def apply_to(self, request: Request) -> Request:
        if self == _DEFAULT_OPTIONS:
            return request
        effect = Effect.ELECTION if self.election else request.effect
        return replace(request, headers=self.headers, effect=effect, timeout=self.timeout, retry=self.retry)


_DEFAULT_OPTIONS = CallOptions()


class Response(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Response({self.status}, {len(self.body)} bytes)"


class ApiTransport(Protocol):
    """Sends requests to one API server."""

    async def request(self, request: Request) -> Response:
        """Returns a response of 2xx. Anything else is raised, after the retries that are harmless."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The lines of the response as they arrive."""

    async def close(self) -> None: ...
