"""An object store that pods can reach: moto behind TLS, with a certificate of an authority of its own.

moto is not a dependency of the project: it brings 60 packages, and one that conflicts with ours. `uv tool run` gives it
an environment of its own. The proxy in front of it ends TLS as pgBackRest expects, which moto's own server does not.
"""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from aiohttp import web

from steward.certificates.authority import Profile, Subject, Validity, make_authority, sign_leaf

MOTO = "moto[s3,server]==5.2.5"
START_SECONDS = 180.0
REGION = "us-east-1"
ACCESS_KEY, SECRET_KEY = "access", "secret"
OBJECT_BYTES = 1 << 30
HOP_BY_HOP = {"connection", "content-length", "date", "server", "transfer-encoding"}


@dataclass(frozen=True)
class ObjectStore:
    """`authority` is the certificate that clients have to trust, as PEM."""

    endpoint: str
    bucket: str
    authority: str


@contextmanager
def running_object_store(host: str, directory: Path) -> Iterator[ObjectStore]:
    backend, port = f"http://127.0.0.1:{_free_port()}", _free_port()
    authority, context = _certificates(host, directory)
    with _running_moto(backend, directory / "moto.log"), _running_proxy(backend, host, port, context):
        store = ObjectStore(f"https://{host}:{port}", "backups", authority)
        asyncio.run(_create_bucket(backend, store.bucket))
        yield store


def _free_port() -> int:
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _certificates(host: str, directory: Path) -> tuple[str, ssl.SSLContext]:
    now = time.time()
    validity = Validity(now - 3600, now + 24 * 3600)
    authority = make_authority(Subject("object store"), validity)
    # pgBackRest compares the host with the DNS names of a certificate only, also if it is an address.
    leaf = sign_leaf(authority, Profile(Subject(host), dns_names=(host,), ip_addresses=(host,)), validity)
    certificate, key = directory / "tls.crt", directory / "tls.key"
    certificate.write_bytes(leaf.certificate)
    key.write_bytes(leaf.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return authority.certificate.decode(), context


@contextmanager
def _running_moto(backend: str, log: Path) -> Iterator[None]:
    uv, port = Path(sys.executable).parent / "uv", backend.rpartition(":")[2]
    command = [str(uv), "tool", "run", "--from", MOTO, "moto_server", "-H", "127.0.0.1", "-p", port]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _wait(process, int(port), log)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with closing(socket.socket()) as found:
            if found.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"moto has not started: {log.read_text()}")


@contextmanager
def _running_proxy(backend: str, host: str, port: int, context: ssl.SSLContext) -> Iterator[None]:
    """In a thread: tests block their own event loop."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_serve(backend, host, port, context), loop).result(30)
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)


async def _serve(backend: str, host: str, port: int, context: ssl.SSLContext) -> web.AppRunner:
    application = web.Application(client_max_size=OBJECT_BYTES)

    async def forward(request: web.Request) -> web.Response:
        return await _forward(backend, request)

    application.router.add_route("*", "/{path:.*}", forward)
    runner = web.AppRunner(application, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, host, port, ssl_context=context).start()
    return runner


async def _forward(backend: str, request: web.Request) -> web.Response:
    headers = {name: value for name, value in request.headers.items() if name.lower() != "content-length"}
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.request(
            request.method,
            f"{backend}{request.raw_path}",
            # Not the bytes themselves: aiohttp warns of more than 1 MB, and a warning is an error in tests.
            data=io.BytesIO(await request.read()),
            headers=headers,
            skip_auto_headers=("Content-Type", "Accept-Encoding", "User-Agent"),
            allow_redirects=False,
        ) as answer,
    ):
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
        if request.method == "HEAD":
            kept["Content-Length"] = answer.headers.get("Content-Length", "0")
        return web.Response(status=answer.status, body=await answer.read(), headers=kept)


async def _create_bucket(backend: str, bucket: str) -> None:
    signed = {"Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/{REGION}/s3/aws4_request"}
    async with (
        aiohttp.ClientSession() as session,
        session.put(f"{backend}/{bucket}", headers=signed) as answer,
    ):
        assert answer.status == 200, await answer.text()
