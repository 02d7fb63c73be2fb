"""`steward psql`: runs psql against a cluster through one of its gateways, by a port-forward of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click

from steward.cli.connection import load_connection_settings, run_async, with_client
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.operations.forward_server import LOCALHOST, ForwardServer
from steward.cli.operations.gateway_session import (
    PORTS,
    PRIMARY,
    GatewaySession,
    client_environment,
    read_session,
    socket_path,
    tls_environment,
)
from steward.cli.operations.outcome import RequestError
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key
from steward.kube.transport.port_forward import PortForwarder

_EPILOG = """\b
Examples:
  steward psql db -n shop
  steward psql db -n shop --role replica -- -c 'SELECT now()'
  steward psql db -n shop -U app -d orders
  steward psql db -n shop --listen 15432
\b
Exit codes: 0 done, 2 the connection failed, 3 an error in a script, as psql has them; 1 an error of psql, there is no
such cluster, no gateway is ready, or psql is not installed.
\b
The user and the password are those of the Secret {cluster}-app; without the right to read it, psql asks for them.
Needs the right to get multigresclusters, to list pods, to get and create pods/portforward, and to get that Secret.
"""
_MISSING = (
    "there is no psql on this machine: install PostgreSQL's client (Debian: postgresql-client, Fedora: postgresql, "
    "Homebrew: libpq), or pass --listen PORT for another client"
)


@click.command("psql", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- PSQL-OPTIONS]")
@click.option(
    "--role",
    type=click.Choice([*PORTS]),
    default=PRIMARY,
    show_default=True,
    help="primary reads and writes; replica only reads, from standbys.",
)
@click.option("-U", "--user", default="", help="Database user. Default: that of the connection Secret.")
@click.option("-d", "--dbname", default="", help="Database. Default: that of the connection Secret.")
@click.option(
    "--listen",
    type=click.IntRange(0, 65535),
    default=None,
    metavar="PORT",
    help="Listen on this port of 127.0.0.1 for other clients instead of running psql; 0: any free one.",
)
@namespace_options
def command(
    *,
    cluster: str,
    arguments: tuple[str, ...],
    role: str,
    user: str,
    dbname: str,
    listen: int | None,
    **options: Any,
) -> None:
    """Connect to a cluster with psql from this machine, through a gateway and the API server."""
    source, namespace = selected_namespace(options)
    if listen is None and shutil.which("psql") is None:
        raise click.ClickException(_MISSING)
    with expected_errors(RequestError):
        session = with_client(source, lambda client: read_session(client, Key(namespace, cluster), role))
    session = _with_login(session, user, dbname)
    if listen is not None:
        run_async(_listen(source, session, listen))
        return
    click.get_current_context().exit(run_async(_run_psql(source, session, arguments)))


def _with_login(session: GatewaySession, user: str, database: str) -> GatewaySession:
    """Another user has another password, which psql asks for."""
    login = session.login
    if user and user != login.user:
        login = login._replace(user=user, password="")
    return session._replace(login=login._replace(database=database or login.database))


def _server(source: ConfigSource, session: GatewaySession) -> ForwardServer:
    with expected_errors(KubeError):
        settings = load_connection_settings(source)
    return ForwardServer(PortForwarder(settings), session.target, lambda text: click.echo(text, err=True))


async def _listen(source: ConfigSource, session: GatewaySession, port: int) -> None:
    async with _server(source, session).on_port(port) as opened:
        login = session.login
        mode = "require" if session.requires_tls else "disable"
        address = f"host={LOCALHOST} port={opened} user={login.user} dbname={login.database} sslmode={mode}"
        click.echo(f'Listening until interrupted: psql "{address}"')
        await asyncio.Event().wait()


async def _run_psql(source: ConfigSource, session: GatewaySession, arguments: tuple[str, ...]) -> int:
    with tempfile.TemporaryDirectory(prefix="steward-psql-") as name:
        async with _forwarding(_server(source, session), session, Path(name)) as environment:
            # Ctrl-C belongs to psql, which cancels its query. A handler, unlike SIG_IGN, is not inherited.
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
            process = await asyncio.create_subprocess_exec("psql", *arguments, env=environment)
            return await process.wait()


@asynccontextmanager
async def _forwarding(
    server: ForwardServer, session: GatewaySession, directory: Path
) -> AsyncIterator[dict[str, str]]:
    """The environment of psql."""
    if session.requires_tls:
        async with server.on_port(0) as port:
            yield tls_environment(session.login, directory, port, os.environ)
    else:
        async with server.on_unix_socket(socket_path(directory)):
            yield client_environment(session.login, directory, os.environ)
