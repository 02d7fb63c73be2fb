"""A server with scripted responses that a real API server does not give on demand."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from steward.kube.config.settings import AuthSettings, ConnectionSettings
from steward.kube.transport.transport import Transport, TransportOptions

LARGEST_BODY = 1 << 24

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    url: str
    seen: list[web.BaseRequest] = field(default_factory=list)

    @property
    def calls(self) -> list[str]:
        return [f"{request.method} {request.path_qs}" for request in self.seen]

    @property
    def settings(self) -> ConnectionSettings:
        return ConnectionSettings(server=self.url, auth=AuthSettings(token="t0ken"))


@asynccontextmanager
async def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server("")

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        request = request.clone(client_max_size=LARGEST_BODY)
        await request.read()
        server.seen.append(request)
        return await answer(request)

    runner = web.ServerRunner(
        web.Server(handle, handler_cancellation=True), handle_signals=False, shutdown_timeout=0.1
    )
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    port = runner.addresses[0][1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def transport_to(server: Server, options: TransportOptions | None = None) -> AsyncIterator[Transport]:
    transport = Transport(server.settings, options)
    try:
        yield transport
    finally:
        await transport.close()
        await asyncio.sleep(0)


def in_turn(*answers: web.Response | Exception | None) -> Answer:
    """Sends each response once and repeats the last one; None cuts the connection."""
    left = list(answers)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        now = left.pop(0) if len(left) > 1 else left[0]
        if now is None:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        assert isinstance(now, web.Response)
        return web.Response(status=now.status, body=now.body, headers=now.headers)

    return answer


def status(
    code: int, reason: str = "", headers: dict[str, str] | None = None, **more: object
) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, **more}
    return web.json_response(body, status=code, headers=headers)


def ok(**body: object) -> web.Response:
    return web.json_response(body or {"kind": "ConfigMap"})
