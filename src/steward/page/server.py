"""The server of the page: on a laptop for one reader, or in a cluster for readers who log in."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace as changed

from steward.kube.client.client import Client, connect
from steward.kube.config.settings import AuthSettings, ConnectionSettings, TlsSettings
from steward.page.access.sessions import Session, open_session
from steward.page.live.watch_rules import Namespaces
from steward.page.routes.context import PageContext, PageOptions
from steward.page.routes.one_time_key import OneTimeKey
from steward.page.routes.router import Router
from steward.serving.bounded_server import BoundedServer
from steward.serving.limits import ServerLimits

LOOPBACK: Final = "127.0.0.1"
_LIMITS: Final = ServerLimits(connections=400)
_STOP_SECONDS: Final = 1.0


class RunningPage(NamedTuple):
    """`url` is the one-time URL, or the address of the login."""

    url: str
    port: int
    context: PageContext


class LocalPage(NamedTuple):
    """`url_file` gets the one-time URL, and a new one whenever it was used."""

    namespaces: Namespaces = ()
    port: int = 0
    allows_actions: bool = False
    url_file: Path | None = None


@asynccontextmanager
async def local_page(settings: ConnectionSettings, options: LocalPage) -> AsyncIterator[RunningPage]:
    """Serves the user of a kubeconfig, on the loopback address only."""
    session = await _local_session(await connect(settings), options.namespaces, settings.namespace)

    async def refuse(_: str) -> Client:
        raise AssertionError("there is no login")

    chosen = await _free_port(options.port)
    page_options = PageOptions(
        allows_actions=options.allows_actions,
        hosts=frozenset({f"{LOOPBACK}:{chosen}", f"localhost:{chosen}"}),
        # Browsers send the cookies of one port to all others.
        cookie=f"steward-page-{chosen}",
        cluster=settings.origin or settings.server,
    )
    context = PageContext(page_options, refuse)
    base = f"http://{LOOPBACK}:{chosen}"
    url_file = options.url_file

    def write_url() -> None:
        assert url_file is not None
        _write_private(url_file, key.url(base))

    key = OneTimeKey(session, write_url if url_file else None)
    async with _serving(Router(context, key), context, LOOPBACK, chosen, None):
        if url_file:
            write_url()
        yield RunningPage(key.url(base), chosen, context)


def _write_private(path: Path, text: str) -> None:
    """Whole or not at all, and for this user only: the URL opens a session."""
    incomplete = path.with_suffix(".writing")
    incomplete.unlink(missing_ok=True)
    incomplete.touch(mode=0o600)
    incomplete.write_text(f"{text}\n")
    incomplete.replace(path)


@asynccontextmanager
async def shared_page(
    settings: ConnectionSettings, options: PageOptions, listen: tuple[str, int], tls: ssl.SSLContext
) -> AsyncIterator[RunningPage]:
    """Serves readers who log in. Of the settings only the address and the CA of the API server are used."""
    bare = changed(
        settings,
        auth=AuthSettings(),
        tls=TlsSettings(
            server_name=settings.tls.server_name,
            insecure=settings.tls.insecure,
            authority=settings.tls.authority,
        ),
        impersonation=None,
    )

    async def client_for_token(token: str) -> Client:
        return await connect(changed(bare, auth=AuthSettings(token=token)))

    context = PageContext(options, client_for_token)
    host, port = listen
    async with _serving(Router(context), context, host, port, tls) as bound:
        yield RunningPage(options.public_url or f"https://{host or LOOPBACK}:{bound}", bound, context)


@asynccontextmanager
async def _serving(
    router: Router, context: PageContext, host: str, port: int, tls: ssl.SSLContext | None
) -> AsyncIterator[int]:
    server = BoundedServer(router.handle, _LIMITS, tls)
    await server.listen(host or None, port)
    reviews = asyncio.create_task(context.sessions.review_for_ever())
    try:
        yield server.port
    finally:
        reviews.cancel()
        await asyncio.gather(reviews, return_exceptions=True)
        await context.close()
        await server.stop(_STOP_SECONDS)


async def _local_session(client: Client, namespaces: Namespaces, default: str) -> Session:
    """Without chosen namespaces all of them, or the namespace of the context if the user may not read all."""
    session = await open_session(client, namespaces)
    if session.scope.is_empty and not namespaces:
        return await open_session(client, (default,))
    return session


async def _free_port(port: int) -> int:
    """The port of the URL must be known before the server listens: its hosts name it."""
    if port:
        return port
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, LOOPBACK, 0)
    chosen = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return chosen
