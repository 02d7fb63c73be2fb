"""Sessions of readers, in memory. A session has a client with the credentials of its reader, and a CSRF token.

The cookie holds a random number; the server keeps its hash, so that a dump of memory opens no session.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from steward.kube.client.client import Client
from steward.kube.errors import KubeError, Unauthorized
from steward.page.access.identity import Identity, ReadScope, read_identity, read_scope
from steward.page.access.workspace_pool import WorkspaceKey
from steward.page.live.watch_rules import Namespaces

MOST_SESSIONS: Final = 500
MOST_STREAMS: Final = 12
IDLE_SECONDS: Final = 8 * 3600.0
REVIEW_SECONDS: Final = 60.0


class TooManySessions(Exception):
    """No further reader can log in now."""


@dataclass(eq=False)
class Session:
    client: Client
    identity: Identity
    scope: ReadScope
    requested: Namespaces
    csrf_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    used_at: float = field(default_factory=time.monotonic)
    reviewed_at: float = field(default_factory=time.monotonic)
    streams: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def workspace_key(self) -> WorkspaceKey:
        return WorkspaceKey(self.identity, self.scope)


OnEnd = Callable[[Session], Awaitable[None]]


async def open_session(client: Client, requested: Namespaces) -> Session:
    """Raises KubeError if the API server does not accept the credentials."""
    identity = await read_identity(client)
    return Session(client, identity, await read_scope(client, requested), requested)


class Sessions:
    def __init__(self, on_end: OnEnd, most: int = MOST_SESSIONS) -> None:
        self._on_end = on_end
        self._most = most
        self._by_hash: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._by_hash)

    def add(self, session: Session, secret: str = "") -> str:
        """The secret that names the session; a new one unless the reader brings one."""
        if len(self._by_hash) >= self._most:
            raise TooManySessions
        secret = secret or secrets.token_urlsafe(32)
        self._by_hash[_hashed(secret)] = session
        return secret

    def find(self, secret: str) -> Session | None:
        session = self._by_hash.get(_hashed(secret)) if secret else None
        if session is not None:
            session.used_at = time.monotonic()
        return session

    def all(self) -> list[Session]:
        return list(self._by_hash.values())

    async def end(self, session: Session) -> None:
        for key, known in list(self._by_hash.items()):
            if known is session:
                del self._by_hash[key]
                session.ended.set()
                await self._on_end(session)

    async def end_all(self) -> None:
        for session in self.all():
            await self.end(session)

    async def review_for_ever(self) -> None:
        """Ends sessions whose credentials the API server refuses, and those that nobody uses."""
        while True:
            await asyncio.sleep(REVIEW_SECONDS / 4)
            for session in self.all():
                await self.review(session)

    async def review(self, session: Session) -> None:
        now = time.monotonic()
        if not session.streams and now - session.used_at > IDLE_SECONDS:
            await self.end(session)
        elif session.streams and now - session.reviewed_at > REVIEW_SECONDS:
            session.reviewed_at = now
            await self._review_access(session)

    async def _review_access(self, session: Session) -> None:
        try:
            identity = await read_identity(session.client)
            scope = await read_scope(session.client, session.requested)
        except Unauthorized:
            await self.end(session)
            return
        except KubeError:
            return  # the API server is not there: nothing new can be read either
        if (identity, scope) != (session.identity, session.scope):
            await self.end(session)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
