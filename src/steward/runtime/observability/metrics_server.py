"""Serves /metrics to authorized clients.

Over HTTPS the API server authorizes each client: TokenReview, then SubjectAccessReview for `get /metrics`, as a
ClusterRole with `nonResourceURLs` grants it. Decisions are cached briefly, keyed by a digest of the token and never by
the token itself, so that not every scrape costs two calls. Any pod can send invented tokens, and each costs a call: the
calls are limited in number a second, and clients take turns by address, so that a scraper is served meanwhile.

Plain HTTP is for development and served on loopback only.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
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
from steward.serving.fair_limit import FairLimit, LimitExceeded

log = logging.getLogger(__name__)

PATH = "/metrics"
ALLOWED_SECONDS = 60.0
DENIED_SECONDS = 10.0
ALLOWED_CAPACITY = 100
DENIED_CAPACITY = 1000
REVIEWS_A_SECOND = 10
WAITING_REVIEWS = 32

# A token as RFC 6750 defines it. Anything else is no token of an API server.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*", re.ASCII)


class AccessDecision(Enum):
    ALLOWED = 200
    UNAUTHENTICATED = 401
    FORBIDDEN = 403


class _CachedDecision(NamedTuple):
    decision: AccessDecision
    expires_at: float


class MetricsAuthorizer:
    """Asks the API server whether a token may read metrics, and caches the decision briefly.

    Denied tokens have a cache of their own: any client can fill it.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._allowed: LruCache[bytes, _CachedDecision] = LruCache(ALLOWED_CAPACITY)
        self._denied: LruCache[bytes, _CachedDecision] = LruCache(DENIED_CAPACITY)
        self._limit = FairLimit(REVIEWS_A_SECOND, WAITING_REVIEWS)

    async def authorize(self, token: str, address: str) -> AccessDecision:
        """Raises LimitExceeded when too many unknown tokens wait for a review."""
        if not _TOKEN.fullmatch(token):
            return AccessDecision.UNAUTHENTICATED
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known(digest)
        if known is not None:
            return known
        await self._limit.take(address)
        # The slot is free again after a second, not after the review: this limits reviews a second.
        asyncio.get_running_loop().call_later(1.0, self._limit.release)
        known = self._known(digest)
        if known is None:
            known = await self._review(token)
            self._remember(digest, known)
        return known

    def _known(self, digest: bytes) -> AccessDecision | None:
        cached = self._allowed.get(digest) or self._denied.get(digest)
        if cached is None or cached.expires_at <= self._clock.monotonic():
            return None
        return cached.decision

    def _remember(self, digest: bytes, decision: AccessDecision) -> None:
        is_allowed = decision is AccessDecision.ALLOWED
        cache, seconds = (self._allowed, ALLOWED_SECONDS) if is_allowed else (self._denied, DENIED_SECONDS)
        self._allowed.forget(digest)
        cache.set(digest, _CachedDecision(decision, self._clock.monotonic() + seconds))

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
            decision = await self._authorizer.authorize(token.strip(), request.remote or "")
        except LimitExceeded:
            text = "too many unknown tokens wait for a review by the API server; try again\n"
            return web.Response(status=429, text=text, headers={"Retry-After": "1"})
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
