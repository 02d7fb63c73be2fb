"""A call as a value: what is asked, what it may do to the cluster, and whether asking twice is harmless."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from steward.kube.transport.retry import RetryPolicy

DEADLINE_SECONDS = 60.0

Headers = Mapping[str, str] | tuple[tuple[str, str], ...]
"""Pairs where a name may come more than once."""


class Effect(Enum):
    READ = "read"
    """Changes nothing: reads, reviews and dry runs."""
    WRITE = "write"
    """Changes the cluster: only a leader may, and `before_write` is asked right before the socket."""
    ELECTION = "election"
    """Reads or changes the lease that decides who leads: it cannot ask who leads, and must not wait its turn."""


class Request(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    query: Mapping[str, str] = {}
    body: bytes | None = None
    content_type: str = "application/json"
    headers: Headers = ()
    effect: Effect = Effect.READ
    repeatable: bool = False
    """May be sent again after an attempt of which nobody knows whether it was carried out. A read always may."""
    timeout: float = DEADLINE_SECONDS
    """Seconds for the call with all its attempts; for a stream, until its first byte."""
    retry: RetryPolicy | None = None
    """None is the transport's own policy."""

    @property
    def is_harmless_twice(self) -> bool:
        return self.repeatable or self.effect is Effect.READ

    def __repr__(self) -> str:
        # A body may be a Secret.
        return f"Request({self.method} {self.path})"


BeforeWrite = Callable[[Request], None]
"""Called synchronously as the last step before the socket; raises to stop the write."""


def permit(request: Request) -> None:
    """Lets every write pass."""


class Terms(Struct, frozen=True, kw_only=True):
    """What is the same in every call of one client."""

    headers: Headers = ()
    election: bool = False
    timeout: float = DEADLINE_SECONDS
    retry: RetryPolicy | None = None

    def of(self, request: Request) -> Request:
        if self == _USUAL:
            return request
        effect = Effect.ELECTION if self.election else request.effect
        return replace(request, headers=self.headers, effect=effect, timeout=self.timeout, retry=self.retry)


_USUAL = Terms()


class Response(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Response({self.status}, {len(self.body)} bytes)"


class Messenger(Protocol):
    """Carries requests to one API server."""

    async def request(self, request: Request) -> Response:
        """The answer, always of 2xx; anything else is raised, after the attempts that are harmless."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The answer's lines as they come."""

    async def close(self) -> None: ...
