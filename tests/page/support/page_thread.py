"""The page in a thread of its own, so that a test can drive a browser and change the cluster at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from steward.kube.objects.kinds import Manifest, Ref
from steward.page.routes.context import PageOptions
from tests.page.support.memory_api import MemoryApi
from tests.page.support.served import Visitor, served_page


@dataclass
class PageThread:
    """`url` opens the page: the one-time URL, or the address of the login."""

    api: MemoryApi
    visitor: Visitor
    loop: asyncio.AbstractEventLoop

    @property
    def origin(self) -> str:
        return self.visitor.origin

    @property
    def url(self) -> str:
        return self.visitor.key.url(self.origin) if self.visitor.key else self.origin

    def apply(self, *manifests: Manifest) -> None:
        self._call(lambda: self.api.apply(*manifests))

    def send_withheld(self) -> None:
        self._call(self.api.send_withheld)

    def delete(self, ref: Ref) -> None:
        self._call(lambda: self.api.delete(ref))

    def refuse(self, token: str) -> None:
        """The API server refuses the token from now on."""
        self._call(lambda: self.api.users.pop(token))

    def expire(self, token: str) -> None:
        """The API server refuses the token from now on, and the page notices."""

        async def review() -> None:
            self.api.users.pop(token)
            for session in self.visitor.context.sessions.all():
                session.reviewed_at -= 3600
                await self.visitor.context.sessions.review(session)

        asyncio.run_coroutine_threadsafe(review(), self.loop).result(20)

    def cut_streams(self) -> None:
        """Ends the streams of all readers, as a restart of a proxy does."""
        asyncio.run_coroutine_threadsafe(self.visitor.context.pool.close(), self.loop).result(20)

    def _call(self, work: Callable[[], Any]) -> None:
        async def call() -> None:
            work()

        asyncio.run_coroutine_threadsafe(call(), self.loop).result(20)


@contextmanager
def page_thread(api: MemoryApi, options: PageOptions | None = None) -> Iterator[PageThread]:
    loop, started, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    visitors: list[Visitor] = []

    async def serve() -> None:
        async with served_page(api, options) as visitor:
            visitors.append(visitor)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(20)
        yield PageThread(api, visitors[0], loop)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
