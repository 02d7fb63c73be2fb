"""A small multiadmin: answers with the next of the answers that a test gives it, or with the status of a pooler."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from steward.multiadmin.client import Address


@dataclass
class SmallMultiadmin:
    answers: list[web.Response]
    address: Address
    requests: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    statuses: dict[str, Any] = field(default_factory=dict)
    """By name of the pooler; one that is missing does not answer."""

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append(f"{request.method} {request.raw_path}")
        self.bodies.append(await request.text())
        return self.answers.pop(0) if self.answers else self._status(request.path.split("/")[-2])

    def _status(self, pooler: str) -> web.Response:
        if pooler not in self.statuses:
            return rejected(14, "failed to get status from pooler: connection refused", 503)
        return ok(self.statuses[pooler])


@asynccontextmanager
async def small_multiadmin(*answers: web.Response) -> AsyncIterator[SmallMultiadmin]:
    server = SmallMultiadmin(list(answers), Address("", 0))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    [(host, port, *_)] = runner.addresses
    server.address = Address(host, port)
    try:
        yield server
    finally:
        await runner.cleanup()


def ok(document: Any) -> web.Response:
    return web.json_response(document)


def rejected(code: int, message: str, status: int = 500) -> web.Response:
    return web.json_response({"code": code, "message": message, "details": []}, status=status)
