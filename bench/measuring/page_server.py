"""A running `steward page serve`, and readers that log in and follow a view."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

from bench.measuring.process import process_usage
from steward.local.control_plane import ControlPlane
from steward.local.ports import free_ports

START_SECONDS = 30.0
SECTIONS = b"event: sections\n"


@dataclass(frozen=True)
class PageServer:
    origin: str
    pid: int

    @property
    def rss_mb(self) -> float:
        return process_usage(self.pid).rss_mb


@asynccontextmanager
async def running_page(plane: ControlPlane) -> AsyncIterator[PageServer]:
    (port,) = free_ports(1)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "steward.cli.main", "page", "serve", f"--listen=127.0.0.1:{port}"),
        *(f"--api-server={plane.url}", f"--api-server-ca={plane.ca_file}"),
        stdout=asyncio.subprocess.DEVNULL,
    )
    server = PageServer(f"https://127.0.0.1:{port}", process.pid)
    try:
        await _wait_until_served(server)
        yield server
    finally:
        process.terminate()
        await process.wait()


async def _wait_until_served(server: PageServer) -> None:
    async with asyncio.timeout(START_SECONDS), aiohttp.ClientSession() as http:
        while True:
            with suppress(aiohttp.ClientError):
                async with http.get(f"{server.origin}/healthz", ssl=False):
                    return
            await asyncio.sleep(0.1)


@dataclass
class Reader:
    """`login` is the time of the login with its access reviews; `seconds` is from the first request after it to the
    first event of the stream. `sections` is what the view has."""

    login: float
    seconds: float
    stream: aiohttp.ClientResponse
    sections: dict[str, Any]
    _began: float

    async def wait_for_change(self) -> None:
        self.sections |= await _read_sections(self.stream)

    async def wait_complete(self) -> float:
        """Seconds from the first request until the view shows everything."""
        while self.sections.get("reading"):
            await self.wait_for_change()
        return time.perf_counter() - self._began


async def _read_sections(stream: aiohttp.ClientResponse) -> dict[str, Any]:
    await stream.content.readuntil(SECTIONS)
    line = await stream.content.readuntil(b"\n")
    changed: dict[str, Any] = msgspec.json.decode(line.removeprefix(b"data: "))
    return changed


@asynccontextmanager
async def reading(server: PageServer, token: str, view: str) -> AsyncIterator[Reader]:
    """Logs in, then opens the shell and the stream of a view."""
    connector = aiohttp.TCPConnector(ssl=False)
    # The first event of a large fleet is longer than the usual limit of a line.
    async with aiohttp.ClientSession(connector=connector, read_bufsize=1 << 24) as http:
        login, began = {"token": token, "namespaces": ""}, time.perf_counter()
        async with http.post(
            f"{server.origin}/api/login", json=login, headers={"Origin": server.origin}
        ) as answer:
            answer.raise_for_status()
            secret = answer.cookies["__Host-steward-page"].value
        cookie = {"Cookie": f"__Host-steward-page={secret}"}
        login_seconds, began = time.perf_counter() - began, time.perf_counter()
        async with http.get(server.origin) as shell:
            await shell.read()
        async with http.get(f"{server.origin}/api/stream", params={"view": view}, headers=cookie) as stream:
            stream.raise_for_status()
            sections = await _read_sections(stream)
            yield Reader(login_seconds, time.perf_counter() - began, stream, sections, began)
