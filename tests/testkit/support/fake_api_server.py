"""A fake API server that records requests and streams the events that a test gives it."""

import asyncio
import ssl
import time
from pathlib import Path

import msgspec
import yaml
from aiohttp import web

from steward.certificates.authority import Profile, Subject, Usage, Validity, make_authority, sign_leaf

NAME = Subject("fake-api-server", ("tests",))


class FakeApiServer:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.received: list[tuple[str, str]] = []
        self.identities: list[str] = []
        self.agents: list[str] = []
        self.events: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.watch_code = 200

    async def start(self) -> None:
        self.authority = make_authority(NAME, Validity(time.time() - 60, time.time() + 3600))
        self._runner = web.ServerRunner(web.Server(self._serve, access_log=None), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls()).start()
        self.url = f"https://127.0.0.1:{self._runner.addresses[0][1]}"
        self.kubeconfig = self.directory / "kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(self._config()))

    async def stop(self) -> None:
        await self._runner.cleanup()

    def send(self, kind: str, name: str) -> None:
        event = {"type": kind, "object": {"kind": "Pod", "metadata": {"name": name}}}
        self.events.put_nowait(msgspec.json.encode(event) + b"\n")

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.received.append((request.method, request.raw_path))
        self.agents.append(request.headers.get("User-Agent", ""))
        self.identities.append(self._identity(request))
        if request.query.get("watch"):
            return await self._watch(request)
        body = await request.content.read()
        return web.json_response({"got": body.decode(), "path": request.raw_path}, status=201)

    async def _watch(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.watch_code != 200:
            return web.json_response({"kind": "Status", "code": self.watch_code}, status=self.watch_code)
        out = web.StreamResponse(headers={"Content-Type": "application/json"})
        await out.prepare(request)
        while (line := await self.events.get()) is not None:
            await out.write(line)
        return out

    def _identity(self, request: web.BaseRequest) -> str:
        certificate = request.get_extra_info("peercert")
        names = dict(pair for part in certificate["subject"] for pair in part) if certificate else {}
        return request.headers.get("Authorization") or names.get("commonName", "")

    def _tls(self) -> ssl.SSLContext:
        span = Validity(time.time() - 60, time.time() + 3600)
        leaf = sign_leaf(self.authority, Profile(NAME, ip_addresses=("127.0.0.1",)), span)
        admin = Profile(Subject("admin", ("system:masters",)), usages=(Usage.CLIENT,))
        self.admin = sign_leaf(self.authority, admin, span)
        for name, content in (("ca.pem", self.authority.certificate), ("leaf.pem", b"".join(leaf))):
            (self.directory / name).write_bytes(content)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.directory / "ca.pem")
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_cert_chain(self.directory / "leaf.pem")
        return context

    def _config(self) -> dict[str, object]:
        (self.directory / "admin.crt").write_bytes(self.admin.certificate)
        (self.directory / "admin.key").write_bytes(self.admin.key)
        user = {"client-certificate": "admin.crt", "client-key": "admin.key"}
        return {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.url, "certificate-authority": "ca.pem"}}],
            "users": [{"name": "u", "user": user}],
        }
