"""HTTP and HTTPS servers for metrics and probes.

The certificate is reloaded when its files change, into the SSL context in use, so that a renewal needs no restart.
Without a certificate the process makes a self-signed one at start: it encrypts the traffic and proves no identity,
which is what scrapers inside a cluster are configured for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from steward.certificates.errors import CertificateError
from steward.certificates.self_signed import write_self_signed
from steward.kube.clock import Clock
from steward.serving.bounded_server import BoundedServer
from steward.serving.connections import Connection
from steward.serving.limits import ServerLimits

log = logging.getLogger(__name__)

Page = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

RELOAD_SECONDS = 10.0
STOP_SECONDS = 10.0
METHODS = ("GET", "HEAD")
# Scrapers and kubelets are few, and their requests have no body.
LIMITS = ServerLimits(connections=64, header_bytes=32 << 10, header_fields=32, request_seconds=30.0)


class ServingError(OSError):
    """Cannot listen on an address, or cannot read a certificate; the message names it and the cure."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        return self.host in ("localhost", "127.0.0.1", "::1") or self.host.startswith("127.")


def parse_address(text: str) -> Address | None:
    """`:8081`, `127.0.0.1:8081`, `[::1]:8081`; None for `0` and the empty text, which turn the server off."""
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ServingError(f"{text} is no address to listen on: write HOST:PORT, :PORT or 0 for none")
    return Address(host.strip("[]"), int(port))


class CertificateFiles(NamedTuple):
    certificate: Path
    key: Path

    def modification_times(self) -> tuple[float, float]:
        """Change with the files. A mounted Secret is replaced through a symlink, which stat follows."""
        return self.certificate.stat().st_mtime, self.key.stat().st_mtime


class ReloadingTls:
    """A server's SSL context, reloaded when its certificate files change."""

    def __init__(self, files: CertificateFiles, clock: Clock) -> None:
        self._files = files
        self._clock = clock
        self._is_fixed = False
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._loaded_times = self._load()

    def _load(self) -> tuple[float, float]:
        try:
            modification_times = self._files.modification_times()
            self.context.load_cert_chain(self._files.certificate, self._files.key)
        except OSError as error:  # ssl.SSLError is one
            raise ServingError(f"certificate {self._files.certificate} cannot be used: {error}") from error
        return modification_times

    def without_reload(self) -> ReloadingTls:
        """Keeps the loaded certificate: its files do not exist any more."""
        self._is_fixed = True
        return self

    async def reload_on_change(self) -> None:
        while not self._is_fixed:
            await self._clock.sleep(RELOAD_SECONDS)
            self.reload_if_changed()

    def reload_if_changed(self) -> None:
        try:
            if self._files.modification_times() != self._loaded_times:
                self._loaded_times = self._load()
                log.info("reloaded certificate %s", self._files.certificate)
        except OSError as error:
            # Half-written files: keep serving the old certificate and try again at the next check.
            log.warning("%s", error)


def self_signed_files(directory: Path, names: tuple[str, ...]) -> CertificateFiles:
    files = CertificateFiles(directory / "tls.crt", directory / "tls.key")
    try:
        write_self_signed(files.certificate, files.key, names)
    except CertificateError as error:
        raise ServingError(str(error)) from error
    return files


def self_signed_tls(clock: Clock) -> ReloadingTls:
    """A self-signed certificate for this process; its files are deleted once they are loaded."""
    with tempfile.TemporaryDirectory() as directory:
        return ReloadingTls(
            self_signed_files(Path(directory), (os.uname().nodename, "localhost")), clock
        ).without_reload()


class HttpServer:
    """Serves pages on one address between `start` and `stop`."""

    def __init__(self, address: Address, pages: Mapping[str, Page], tls: ReloadingTls | None = None) -> None:
        self._address = address
        self._tls = tls
        self._pages = pages
        self._server = BoundedServer(self._respond, LIMITS, tls.context if tls else None)
        self._reloader: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The actual port, also where port 0 was requested."""
        return self._server.port

    async def start(self) -> None:
        try:
            await self._server.listen(self._address.host or None, self._address.port)
        except OSError as error:
            raise ServingError(f"cannot listen on {self._address}: {error.strerror or error}") from error
        if self._tls:
            self._reloader = asyncio.create_task(
                self._tls.reload_on_change(), name=f"certificate of {self._address}"
            )

    async def stop(self) -> None:
        if self._reloader is not None:
            self._reloader.cancel()
        await self._server.stop(STOP_SECONDS)

    async def _respond(self, request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        page = self._pages.get(request.path)
        if page is None:
            return web.Response(status=404, text="not found\n")
        if request.method not in METHODS:
            return web.Response(status=405, text="GET only\n", headers={"Allow": ", ".join(METHODS)})
        if request.content.is_eof():
            connection.process()
        return await page(request)
