"""`steward page`: the page on a laptop, for the user of a kubeconfig; `steward page serve`: in a cluster."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steward.cli.connection import (
    cluster_options,
    config_source,
    load_connection_settings,
)
from steward.cli.main import expected_errors
from steward.kube.config.settings import ConnectionSettings, Pem, TlsSettings
from steward.kube.errors import KubeError

if TYPE_CHECKING:
    from steward.page.server import LocalPage

_EPILOG = """\b
Examples:
  steward page
  steward page -n shop -n saas --port 8080
  steward page --local --no-open
\b
Exit codes: 0 stopped, 1 the cluster cannot be read, 130 after Ctrl-C.
\b
Shows what the user of the kubeconfig may list and watch; Secrets are never read. It listens on 127.0.0.1 only.
"""
_SERVE_EPILOG = """\b
Example:
  steward page serve --listen :8443 --certificate tls.crt --key tls.key
\b
Exit codes: 0 stopped, 1 it cannot listen, or a file cannot be read.
\b
The server has no rights of its own: readers log in with a token of theirs, or a proxy adds it to each request.
"""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("page", epilog=_EPILOG, invoke_without_command=True)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    multiple=True,
    help="Show these namespaces. Default: all, or the namespace of the context if you may not read all.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1.  [default: a free one]"
)
@click.option("--open/--no-open", "opens", default=None, help="Open the browser.  [default: on a desktop]")
@click.option("--actions", is_flag=True, help="Also offer actions, as far as your rights go.")
@click.option(
    "--url-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the address to this file, and a new one whenever it was used.",
)
@cluster_options
def command(
    *,
    namespaces: tuple[str, ...],
    port: int,
    opens: bool | None,
    actions: bool,
    url_file: Path | None,
    **options: Any,
) -> None:
    """Show both operators live in a browser, with your own rights."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    # Imported here: `steward --help` must not import aiohttp.
    from steward.page.server import LocalPage

    with expected_errors(KubeError, OSError):
        settings = load_connection_settings(config_source(options))
        _run(_run_local(settings, LocalPage(namespaces, port, actions, url_file), opens))


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Runs until a signal arrives."""
    from steward.local import signals

    with suppress(signals.Interrupted):
        signals.run(work)


async def _run_local(settings: ConnectionSettings, options: LocalPage, opens: bool | None) -> None:
    from steward.page.server import local_page

    async with local_page(settings, options) as page:
        click.echo(f"The page is at {page.url}")
        click.echo("The address works once; Ctrl-C stops the page.")
        if opens if opens is not None else _has_desktop():
            webbrowser.open(page.url)
        await asyncio.Event().wait()


def _has_desktop() -> bool:
    has_display = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return sys.stdout.isatty() and has_display


@command.command("serve", epilog=_SERVE_EPILOG)
@click.option("--listen", default=":8443", show_default=True, help="Address and port.")
@click.option("--certificate", type=_FILE, help="TLS certificate.  [default: a self-signed one]")
@click.option("--key", type=_FILE, help="Its private key.")
@click.option(
    "--api-server", default="https://kubernetes.default.svc", show_default=True, help="URL of the API server."
)
@click.option("--api-server-ca", type=_FILE, help="Certificates that sign the API server's.")
@click.option(
    "--public-url", default="", help="The address under which readers reach the page, behind a proxy."
)
@click.option("--actions", is_flag=True, help="Also offer actions, as far as the rights of a reader go.")
def serve(
    *,
    listen: str,
    certificate: Path | None,
    key: Path | None,
    api_server: str,
    api_server_ca: Path | None,
    public_url: str,
    actions: bool,
) -> None:
    """Serve the page to readers who log in with a token of their own."""
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    host, _, port = listen.rpartition(":")
    if not port.isdigit():
        raise click.UsageError(f"--listen {listen} has no port: write ADDRESS:PORT, or :PORT")
    authority = Pem(file=str(api_server_ca)) if api_server_ca else Pem()
    settings = ConnectionSettings(server=api_server, tls=TlsSettings(authority=authority))
    files = (str(certificate), str(key)) if certificate and key else None
    with expected_errors(KubeError, OSError):
        _run(_serve(settings, (host, int(port)), files, public_url, actions))


async def _serve(
    settings: ConnectionSettings,
    listen: tuple[str, int],
    files: tuple[str, str] | None,
    public_url: str,
    actions: bool,
) -> None:
    from steward.page.routes.context import PageOptions
    from steward.page.server import shared_page
    from steward.page.serving_certificate import ServingCertificate

    options = PageOptions(
        needs_login=True,
        allows_actions=actions,
        is_secure=True,
        public_url=public_url,
        cookie="__Host-steward-page",
        cluster=settings.server,
    )
    with ServingCertificate.load(files) as certificate:
        async with shared_page(settings, options, listen, certificate.context) as page:
            click.echo(f"The page listens at {page.url}")
            await certificate.reload_for_ever()
