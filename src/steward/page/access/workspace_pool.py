"""Workspaces by identity and scope. One runs while a reader uses it, and a minute longer.

Readers share a workspace only if their identity and their own access reviews are equal. Its watches use the credentials
of the reader who opened it. When that reader's session ends, the workspace is closed: streams of the others end, their
browsers reconnect, and one of them opens it again with its own credentials.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from steward.kube.client.client import Client
from steward.page.access.identity import Identity, ReadScope
from steward.page.live.workspace import Workspace

LINGER_SECONDS: Final = 60.0


@dataclass(frozen=True)
class WorkspaceKey:
    identity: Identity
    scope: ReadScope


@dataclass
class _Shared:
    workspace: Workspace
    opened_by: Client
    readers: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    closing: asyncio.TimerHandle | None = None


class WorkspacePool:
    def __init__(self, linger: float = LINGER_SECONDS) -> None:
        self._linger = linger
        self._shared: dict[WorkspaceKey, _Shared] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._shared)

    @asynccontextmanager
    async def use(self, key: WorkspaceKey, client: Client) -> AsyncIterator[tuple[Workspace, asyncio.Event]]:
        """The workspace, and an event that is set when it is closed."""
        shared = self._shared.get(key)
        if shared is None:
            scope = key.scope
            shared = _Shared(Workspace(client, dict(scope.allowed), scope.denied), client)
            self._shared[key] = shared
            await shared.workspace.start()
        shared.readers += 1
        if shared.closing is not None:
            shared.closing.cancel()
        try:
            yield shared.workspace, shared.closed
        finally:
            shared.readers -= 1
            if not shared.readers:
                loop = asyncio.get_running_loop()
                shared.closing = loop.call_later(self._linger, self._close_soon, key, shared)

    async def close_opened_by(self, client: Client) -> None:
        for key, shared in list(self._shared.items()):
            if shared.opened_by is client:
                await self._close(key, shared)

    async def close(self) -> None:
        for key, shared in list(self._shared.items()):
            await self._close(key, shared)

    def _close_soon(self, key: WorkspaceKey, shared: _Shared) -> None:
        task = asyncio.create_task(self._close(key, shared))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close(self, key: WorkspaceKey, shared: _Shared) -> None:
        if self._shared.get(key) is shared:
            del self._shared[key]
        if shared.closing is not None:
            shared.closing.cancel()
        shared.closed.set()
        await shared.workspace.stop()
