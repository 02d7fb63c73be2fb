"""Listening sockets for what others ask of this process: metrics and probes.

A certificate is read again when its files change, into the context that is already in use, so a renewal needs no
restart. Where no certificate is given one is made for this life of the process: it hides the traffic and proves
nothing, which is what scrapers inside a cluster are set up for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aiohttp import web
from aiohttp.typedefs import Handler

from steward.kube.clock import Clock

log = logging.getLogger(__name__)

RELOAD_SECONDS = 10.0
SELF_SIGNED_DAYS = 365

_SELF_SIGNED = Path(__file__).with_name("self_signed.py")


class ServingError(OSError):
    """An address cannot be listened on, or a certificate not be read; the message says which and the cure."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        return self.host in ("localhost", "127.0.0.1", "::1") or self.host.startswith("127.")


def parse_address(text: str) -> Address | None:
    """`:8081`, `127.0.0.1:8081`, `[::1]:8081`; `0` and the empty text mean: not at all."""
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ServingError(f"{text} is no address to listen on: write HOST:PORT, :PORT or 0 for none")
    return Address(host.strip("[]"), int(port))


class CertificateFiles(NamedTuple):
    certificate: Path
    key: Path

    def stamp(self) -> tuple[float, float]:
        """Changes when the files do. A mounted Secret changes by a symlink, which stat follows."""
        return self.certificate.stat().st_mtime, self.key.stat().st_mtime


class Tls:
    """A server context, and the files that it was loaded from, for as long as these can change."""

    def __init__(self, files: CertificateFiles, clock: Clock) -> None:
        self._files = files
        self._clock = clock
        self._is_final = False
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._stamp = self._load()

    def _load(self) -> tuple[float, float]:
        try:
            stamp = self._files.stamp()
            self.context.load_cert_chain(self._files.certificate, self._files.key)
        except OSError as error:  # ssl.SSLError is one
            raise ServingError(f"certificate {self._files.certificate} cannot be used: {error}") from error
        return stamp

    def made_final(self) -> Tls:
        """What was loaded stays: there are no files any more to look at."""
        self._is_final = True
        return self

    async def keep_fresh(self) -> None:
        while not self._is_final:
            await self._clock.sleep(RELOAD_SECONDS)
            self.reload_if_changed()

    def reload_if_changed(self) -> None:
        try:
            if self._files.stamp() != self._stamp:
                self._stamp = self._load()
                log.info("certificate %s was read again", self._files.certificate)
        except OSError as error:
            # Half-written files: the old certificate serves on, the next look tries again.
            log.warning("%s", error)


def self_signed(directory: Path, names: tuple[str, ...]) -> CertificateFiles:
    files = CertificateFiles(directory / "tls.crt", directory / "tls.key")
    command = [sys.executable, "-P", str(_SELF_SIGNED), *map(str, files), str(SELF_SIGNED_DAYS), *names]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise ServingError(f"no certificate could be made: {error.stderr.strip()}") from error
    return files


def self_signed_tls(clock: Clock) -> Tls:
    """The files live only until they are loaded."""
    with tempfile.TemporaryDirectory() as directory:
        return Tls(self_signed(Path(directory), (os.uname().nodename, "localhost")), clock).made_final()


class Server:
    """Pages on one address, until it is stopped."""

    def __init__(self, address: Address, pages: Mapping[str, Handler], tls: Tls | None = None) -> None:
        self._address = address
        self._tls = tls
        self._pages = pages
        self._runner: web.AppRunner | None = None
        self._reloader: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that is really listened on, where 0 was asked for."""
        assert self._runner is not None
        port: int = self._runner.addresses[0][1]
        return port

    async def start(self) -> None:
        application = web.Application()
        application.add_routes([web.get(path, page) for path, page in self._pages.items()])
        self._runner = web.AppRunner(application, access_log=None)
        await self._runner.setup()
        context = self._tls.context if self._tls else None
        site = web.TCPSite(self._runner, self._address.host or None, self._address.port, ssl_context=context)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise ServingError(f"cannot listen on {self._address}: {error.strerror or error}") from error
        if self._tls:
            self._reloader = asyncio.create_task(
                self._tls.keep_fresh(), name=f"certificate of {self._address}"
            )

    async def stop(self) -> None:
        if self._reloader is not None:
            self._reloader.cancel()
        if self._runner is not None:
            await self._runner.cleanup()
