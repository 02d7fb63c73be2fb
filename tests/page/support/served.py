"""Runs the server of the page on an API server in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from steward.kube.client.client import Client
from steward.page.access.sessions import open_session
from steward.page.routes.context import PageContext, PageOptions
from steward.page.routes.one_time_key import OneTimeKey
from steward.page.routes.router import Router
from steward.serving.bounded_server import BoundedServer
from steward.serving.limits import ServerLimits
from tests.page.support.memory_api import MemoryApi


@dataclass
class Visitor:
    """A browser without a page: sends requests with its cookies."""

    http: aiohttp.ClientSession
    origin: str
    context: PageContext
    key: OneTimeKey | None
    csrf: str = ""

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self.http.get(self.origin + path, headers=headers, allow_redirects=False) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, await answer.json() if is_json else await answer.text()

    async def headers(self, path: str, **headers: str) -> tuple[int, Any]:
        async with self.http.get(self.origin + path, headers=headers, allow_redirects=False) as answer:
            return answer.status, answer.headers.copy()

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        sent = {"Origin": self.origin, "X-Steward-Csrf": self.csrf, **headers}
        async with self.http.post(self.origin + path, json=body, headers=sent) as answer:
            return answer.status, await answer.json()

    async def open(self) -> None:
        assert self.key is not None
        status, _ = await self.get(self.key.url(""))
        assert status == 303
        await self.read_session()

    async def log_in(self, token: str, namespaces: str = "") -> tuple[int, Any]:
        status, answer = await self.post("/api/login", {"token": token, "namespaces": namespaces})
        self.csrf = answer.get("csrfToken", "")
        return status, answer

    async def read_session(self) -> None:
        _, answer = await self.get("/api/session")
        self.csrf = answer["csrfToken"]


@asynccontextmanager
async def served_page(
    api: MemoryApi, options: PageOptions | None = None, key: OneTimeKey | None = None
) -> AsyncIterator[Visitor]:
    """With `needs_login` readers log in with a token of the API server; else the visitor has the one-time URL."""
    chosen = options or PageOptions()

    async def client_for_token(token: str) -> Client:
        return api.client(token)

    context = PageContext(chosen, client_for_token)
    if key is None and not chosen.needs_login:
        key = OneTimeKey(await open_session(api.client(), ()))
    server = BoundedServer(Router(context, key).handle, ServerLimits())
    await server.listen("127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
            yield Visitor(http, f"http://127.0.0.1:{server.port}", context, key)
    finally:
        await context.close()
        await server.stop(0.1)
