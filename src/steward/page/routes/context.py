"""What the requests of one server share: options, sessions, workspaces and limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from steward.kube.client.client import Client
from steward.page.access.rate_limit import RateLimit
from steward.page.access.sessions import Session, Sessions
from steward.page.access.workspace_pool import WorkspacePool

ClientForToken = Callable[[str], Awaitable[Client]]


@dataclass(frozen=True)
class PageOptions:
    """`hosts` are the accepted Host headers, all if empty; `public_url` is the address behind a proxy."""

    needs_login: bool = False
    allows_actions: bool = False
    is_secure: bool = False
    hosts: frozenset[str] = frozenset()
    public_url: str = ""
    cookie: str = "steward-page"
    cluster: str = ""
    """The cluster as the reader knows it: the context of a kubeconfig, or the address of the API server."""


@dataclass
class PageContext:
    options: PageOptions
    client_for_token: ClientForToken
    pool: WorkspacePool = field(default_factory=WorkspacePool)
    requests: RateLimit = field(default_factory=lambda: RateLimit(per_second=30, burst=150))
    logins: RateLimit = field(default_factory=lambda: RateLimit(per_second=2, burst=30))

    def __post_init__(self) -> None:
        self.sessions = Sessions(self._end)

    async def _end(self, session: Session) -> None:
        await self.pool.close_opened_by(session.client)
        await session.client.close()

    async def close(self) -> None:
        await self.pool.close()
        await self.sessions.end_all()
