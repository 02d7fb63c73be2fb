"""A fault proxy between a client and an API server.

It forwards all calls unchanged, watches unbuffered, and applies faults to the calls and events that rules select. It
records all calls in `recorded`, in order.

    async with FaultProxy(control_plane.kubeconfig) as proxy:
        rule = proxy.add(Rule(Match(verb="patch", resource="deployments"), Answer(409), count=1))
        ...                                          # any client of proxy.kubeconfig: kubectl, a controller
        await rule.until_hit()
        proxy.remove(rule)
        assert [call.code for call in proxy.calls(Match(verb="patch"))] == [409, 200]

Identity: a request with an Authorization header keeps it; others get the credentials of the kubeconfig that the proxy
was given, so the kubeconfig that it writes contains none. Impersonate headers are forwarded. Upgraded connections
(exec, port-forward) are not.

A controller in another process needs only `proxy.kubeconfig`. The proxy can be another process too: start it with
`python -m steward.testkit --kubeconfig FILE --write-kubeconfig FILE` and control it with
`steward.testkit.proxy.control.RemoteProxy`.
"""

import asyncio
import itertools
import ssl
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml
from aiohttp import web

from steward.certificates.authority import KeyPair, Profile, Subject, Validity, make_authority, sign_leaf
from steward.kube.clock import Clock, SystemClock
from steward.testkit.proxy import control
from steward.testkit.proxy.faults import Match, Rule
from steward.testkit.proxy.forward import Forwarder, RecordedCall
from steward.testkit.proxy.requests import Call, parse_call
from steward.testkit.proxy.rules import ActiveRule, RuleSet
from steward.testkit.proxy.upstream import read_upstream

RECORDED_LIMIT = 100_000
HEADER_LIMIT = 64 * 1024
LIFETIME = 7 * 24 * 3600
NAME = Subject("fault proxy", ("Steward",))


class FaultProxy:
    """See the module docstring. Use it as an async context manager, or call `start` and `stop`."""

    def __init__(self, kubeconfig: Path | str, clock: Clock | None = None) -> None:
        self.rules = RuleSet()
        self.recorded: deque[RecordedCall] = deque(maxlen=RECORDED_LIMIT)
        self._clock = clock or SystemClock()
        self._upstream = read_upstream(kubeconfig)
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[Call, asyncio.WriteTransport]] = {}
        self._closed = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        """Listen on loopback (on a free port by default) and write the kubeconfig for clients."""
        self._directory = tempfile.TemporaryDirectory(prefix="fault-proxy-", ignore_cleanup_errors=True)
        authority = make_authority(NAME, self._validity())
        self.authority = Path(self._directory.name, "ca.crt")
        self.authority.write_bytes(authority.certificate)
        self._forwarder = Forwarder(self._upstream, self.rules, self._clock)
        server = web.Server(
            self._serve,
            access_log=None,
            handler_cancellation=True,
            max_line_size=HEADER_LIMIT,
            max_field_size=HEADER_LIMIT,
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port, ssl_context=self._tls(authority)).start()
        self.url = f"https://127.0.0.1:{self._runner.addresses[0][1]}"
        self.kubeconfig = self.write_kubeconfig(Path(self._directory.name, "kubeconfig"))

    async def stop(self) -> None:
        """Close all connections, release held calls, delete the files."""
        connections = list(self._runner.server.connections) if self._runner.server else []
        for connection in connections:
            if connection.transport is not None:
                connection.transport.abort()
        self.rules.clear()
        await self._runner.cleanup()
        await self._forwarder.close()
        self._directory.cleanup()

    def add(self, rule: Rule) -> ActiveRule:
        """Add a rule; the result counts its hits and lets a test wait for them."""
        return self.rules.add(rule)

    def remove(self, entry: ActiveRule) -> None:
        """Remove a rule and release the calls that it holds."""
        self.rules.remove(entry.id)

    def calls(self, match: Match) -> Iterator[RecordedCall]:
        """The recorded calls that match, in order."""
        return (recorded for recorded in list(self.recorded) if match.matches(recorded.call))

    def cut(self, match: Match | None = None) -> int:
        """Close the connections of matching calls in progress (or of all), and return their number."""
        transports = [wire for call, wire in self._open.values() if match is None or match.matches(call)]
        for wire in transports:
            wire.abort()
        return len(transports)

    async def until_idle(self, match: Match) -> None:
        """Wait until no call in progress matches."""
        while any(match.matches(call) for call, _ in self._open.values()):
            self._closed.clear()
            await self._closed.wait()

    def write_kubeconfig(self, path: Path, token: str = "") -> Path:
        """Write a kubeconfig for clients of the proxy, with their own token if one is given."""
        cluster = {"server": self.url, "certificate-authority": str(self.authority)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "proxy",
            "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
            "clusters": [{"name": "proxy", "cluster": cluster}],
            "users": [{"name": "proxy", "user": {"token": token} if token else {}}],
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config))
        return path

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith(control.PREFIX):
            return await control.handle_control_request(self, request)
        if "Upgrade" in request.headers:
            return web.Response(status=501, text="the fault proxy does not forward upgraded connections")
        agent = request.headers.get("User-Agent", "")
        call = parse_call(request.method, request.path, request.query, agent)
        body = await request.content.read()
        recorded = RecordedCall(call, next(self._numbers), self._clock.now(), body)
        self.recorded.append(recorded)
        if request.transport is not None:
            self._open[recorded.number] = call, request.transport
        try:
            return await self._forwarder.forward(request, recorded)
        finally:
            self._open.pop(recorded.number, None)
            self._closed.set()

    def _tls(self, authority: KeyPair) -> ssl.SSLContext:
        profile = Profile(NAME, ("localhost",), ("127.0.0.1",))
        leaf = sign_leaf(authority, profile, self._validity())
        file = Path(self._directory.name, "server.pem")
        file.touch(mode=0o600)
        file.write_bytes(leaf.certificate + leaf.key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context

    def _validity(self) -> Validity:
        # Clients check certificates against the real time, whatever clock the test injects.
        now = SystemClock().now()
        return Validity(now - 3600, now + LIFETIME)
