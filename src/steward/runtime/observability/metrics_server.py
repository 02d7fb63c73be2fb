"""Serves /metrics to those who may read it.

Over HTTPS the API server decides: the caller's token is reviewed, then its right to `get` the path `/metrics`, as a
ClusterRole with `nonResourceURLs` grants it. Answers are kept for a moment, by a digest of the token and never by the
token itself, so that a scrape costs no two calls each time. Plain HTTP is for one's own machine and for loopback only.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from enum import Enum
from typing import NamedTuple

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import KubeError
from steward.kube.objects.auth_reviews import Access, Subject
from steward.runtime.observability.http_server import Address, Server, ServingError, Tls

log = logging.getLogger(__name__)

PATH = "/metrics"
ALLOWED_SECONDS = 60.0
REFUSED_SECONDS = 10.0
REMEMBERED = 1000


class Verdict(Enum):
    ALLOWED = 200
    UNKNOWN = 401
    FORBIDDEN = 403


class Remembered(NamedTuple):
    verdict: Verdict
    until: float


class Gate:
    """Whether the holder of a token may read metrics, asked of the API server and remembered for a moment."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._known: OrderedDict[bytes, Remembered] = OrderedDict()

    async def judge(self, token: str) -> Verdict:
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None and known.until > self._clock.monotonic():
            return known.verdict
        verdict = await self._ask(token)
        self._remember(digest, verdict)
        return verdict

    async def _ask(self, token: str) -> Verdict:
        who = await self._client.review_token(token)
        if not who.authenticated:
            return Verdict.UNKNOWN
        subject = Subject(user=who.user, uid=who.uid, groups=who.groups, extra=who.extra)
        answer = await self._client.review_access(Access(verb="get", path=PATH), subject)
        return Verdict.ALLOWED if answer.allowed else Verdict.FORBIDDEN

    def _remember(self, digest: bytes, verdict: Verdict) -> None:
        seconds = ALLOWED_SECONDS if verdict is Verdict.ALLOWED else REFUSED_SECONDS
        self._known[digest] = Remembered(verdict, self._clock.monotonic() + seconds)
        self._known.move_to_end(digest)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


class MetricsPage:
    def __init__(self, registry: CollectorRegistry, gate: Gate | None) -> None:
        self._registry = registry
        self._gate = gate

    async def show(self, request: web.BaseRequest) -> web.StreamResponse:
        refusal = await self._refusal(request) if self._gate is not None else None
        return refusal or self._page(request)

    async def _refusal(self, request: web.BaseRequest) -> web.Response | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return web.Response(status=401, text="a bearer token is needed\n")
        assert self._gate is not None
        try:
            verdict = await self._gate.judge(token.strip())
        except KubeError as error:
            log.warning("a request for metrics could not be judged: %s", error)
            return web.Response(status=503, text="the API server could not be asked who you are\n")
        if verdict is Verdict.ALLOWED:
            return None
        return web.Response(status=verdict.value, text="not allowed to get /metrics\n")

    def _page(self, request: web.BaseRequest) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        response = web.Response(body=encode(self._registry), headers={"Content-Type": content_type})
        response.enable_compression()
        return response


def open_server(address: Address, registry: CollectorRegistry) -> Server:
    """Plain HTTP, for loopback only: what is unguarded must not be reachable from elsewhere."""
    if not address.is_loopback:
        raise ServingError(
            f"plain metrics are served on loopback only, not on {address}: "
            f"use 127.0.0.1:{address.port}, or --metrics-secure=true"
        )
    return Server(address, {PATH: MetricsPage(registry, None).show})


def guarded_server(address: Address, registry: CollectorRegistry, gate: Gate, tls: Tls) -> Server:
    return Server(address, {PATH: MetricsPage(registry, gate).show}, tls)
