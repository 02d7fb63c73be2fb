"""One process for all who have certificates decided at the same time; it ends when nobody has come for a while.

A fleet that comes up asks for a hundred certificates within seconds, and to start a process for each would cost more
than to make them. The pipe carries one question at a time; askers between two of theirs let others pass.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import ParamSpec, TypeVar

from steward.certificates.worker_process import Decide, in_another_process

P = ParamSpec("P")
R = TypeVar("R")

LINGER_SECONDS = 10.0


class SharedNotary:
    """A service of the manager: it starts nothing before somebody asks, and leaves nothing behind."""

    name = "notary"

    def __init__(self, linger: float = LINGER_SECONDS) -> None:
        self._linger = linger
        self._turn = asyncio.Lock()
        self._askers = 0
        self._child: AsyncExitStack | None = None
        self._decide: Decide | None = None
        self._ending: asyncio.Task[None] | None = None

    def problem(self) -> str:
        return ""

    async def start(self) -> None:
        return

    async def stop(self) -> None:
        self._stay()
        async with self._turn:
            await self._end()

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Decide]:
        self._askers += 1
        self._stay()
        try:
            yield self._ask
        finally:
            self._askers -= 1
            if not self._askers:
                self._ending = asyncio.create_task(self._end_later(), name="notary ends")

    async def _ask(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        async with self._turn:
            decide = self._decide or await self._begin()
            try:
                return await decide(function, *args, **kwargs)
            except BaseException:
                # Whoever is interrupted between question and answer would leave the answer to the next asker.
                await self._end()
                raise

    async def _begin(self) -> Decide:
        self._child = AsyncExitStack()
        self._decide = await self._child.enter_async_context(in_another_process())
        return self._decide

    async def _end(self) -> None:
        child, self._child, self._decide = self._child, None, None
        if child is not None:
            await child.aclose()

    async def _end_later(self) -> None:
        await asyncio.sleep(self._linger)
        async with self._turn:
            self._ending = None
            await self._end()

    def _stay(self) -> None:
        """Somebody came while the process was about to end, unless it is ending already: then a new one is begun."""
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
