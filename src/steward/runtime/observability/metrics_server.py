"""Serves /metrics to authorized clients.

Over HTTPS the API server authorizes each client: TokenReview, then SubjectAccessReview for `get /metrics`, as a
ClusterRole with `nonResourceURLs` grants it. Decisions are cached briefly, keyed by a digest of the token and never by
the token itself, so that not every scrape costs two calls. Plain HTTP is for development and served on loopback only.
"""

from __future__ import annotations

import hashlib
import logging
from enum import Enum
from typing import NamedTuple

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from steward.kube.bounded_cache import LruCache
from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import KubeError
from steward.kube.objects.auth_reviews import Access, Subject
from steward.runtime.observability.http_server import Address, HttpServer, ReloadingTls, ServingError

log = logging.getLogger(__name__)

PATH = "/metrics"
ALLOWED_SECONDS = 60.0
DENIED_SECONDS = 10.0
CACHE_CAPACITY = 1000


class AccessDecision(Enum):
    ALLOWED = 200
    UNAUTHENTICATED = 401
    FORBIDDEN = 403


class _CachedDecision(NamedTuple):
    decision: AccessDecision
    expires_at: float


class MetricsAuthorizer:
    """Asks the API server whether a token may read metrics, and caches the decision briefly."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._decisions: LruCache[bytes, _CachedDecision] = LruCache(CACHE_CAPACITY)

    async def authorize(self, token: str) -> AccessDecision:
        digest = hashlib.sha256(token.encode()).digest()
        cached = self._decisions.get(digest)
        if cached is not None and cached.expires_at > self._clock.monotonic():
            return cached.decision
        decision = await self._review(token)
        seconds = ALLOWED_SECONDS if decision is AccessDecision.ALLOWED else DENIED_SECONDS
        self._decisions.set(digest, _CachedDecision(decision, self._clock.monotonic() + seconds))
        return decision

    async def _review(self, token: str) -> AccessDecision:
        user = await self._client.review_token(token)
        if not user.authenticated:
            return AccessDecision.UNAUTHENTICATED
        subject = Subject(user=user.user, uid=user.uid, groups=user.groups, extra=user.extra)
        access = await self._client.review_access(Access(verb="get", path=PATH), subject)
        return AccessDecision.ALLOWED if access.allowed else AccessDecision.FORBIDDEN


class MetricsPage:
    def __init__(self, registry: CollectorRegistry, authorizer: MetricsAuthorizer | None) -> None:
        self._registry = registry
        self._authorizer = authorizer

    async def show(self, request: web.BaseRequest) -> web.StreamResponse:
        denial = await self._denial(request) if self._authorizer is not None else None
        return denial or self._page(request)

    async def _denial(self, request: web.BaseRequest) -> web.Response | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return web.Response(status=401, text="a bearer token is needed\n")
        assert self._authorizer is not None
        try:
            decision = await self._authorizer.authorize(token.strip())
        except KubeError as error:
            log.warning("cannot authorize a request for metrics: %s", error)
            return web.Response(
                status=503, text="the API server cannot be reached to authorize the request\n"
            )
        if decision is AccessDecision.ALLOWED:
            return None
        return web.Response(status=decision.value, text="not allowed to get /metrics\n")

    def _page(self, request: web.BaseRequest) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        response = web.Response(body=encode(self._registry), headers={"Content-Type": content_type})
        response.enable_compression()
        return response


def plain_server(address: Address, registry: CollectorRegistry) -> HttpServer:
    """Plain HTTP without authorization, on loopback only."""
    if not address.is_loopback:
        raise ServingError(
            f"plain metrics are served on loopback only, not on {address}: "
            f"use 127.0.0.1:{address.port}, or --metrics-secure=true"
        )
    return HttpServer(address, {PATH: MetricsPage(registry, None).show})


def authorized_server(
    address: Address, registry: CollectorRegistry, authorizer: MetricsAuthorizer, tls: ReloadingTls
) -> HttpServer:
    return HttpServer(address, {PATH: MetricsPage(registry, authorizer).show}, tls)
