"""The webhook server: AdmissionReviews over HTTPS, each answered within its deadline.

Only a handler denies a request. Every other failure (a failing handler, a missed deadline, too many reviews at once) is
an HTTP error with a message, so that the webhook's failurePolicy decides; an `allowed: false` would deny the request
even where the policy is Ignore.

    server = WebhookServer(ServerSettings(port=9443), ServingCertificate("/var/run/secrets/webhook"))
    server.add(Webhook("/validate-shop-io-v1-basket", validate_basket))
    await server.start()
"""

import asyncio
import logging
import time
from asyncio.trsock import TransportSocket
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from aiohttp import web

from steward.admission.concurrency_limit import ReviewLimit
from steward.admission.errors import (
    DeadlineError,
    HandlerFailedError,
    ListenError,
    NotAWebhookError,
    ReviewError,
    ReviewTooDeepError,
    ReviewTooLargeError,
    WrongMethodError,
)
from steward.admission.review import AdmissionResponse, Denied, Review, decode_review, encode_response
from steward.certificates.errors import UnusableCertificateError
from steward.certificates.serving_certificate import ServingCertificate
from steward.kube.clock import Clock, SystemClock
from steward.kube.objects.durations import parse_duration

Handler = Callable[[Review], Awaitable[AdmissionResponse]]

START_CHECK_SECONDS = 1.0
DEFAULT_DEADLINE_SECONDS = 9.0
"""For a webhook that leaves timeoutSeconds at 10."""
MAX_MARGIN_SECONDS = 1.0
CLOSE_CHECKS = 50
CLOSE_CHECK_SECONDS = 0.005

log = logging.getLogger(__name__)


class WebhookPurpose(StrEnum):
    """The purpose of a webhook, as metrics and spans name it."""

    DEFAULT = "DEFAULT"
    VALIDATE = "VALIDATE"


class ReviewResult(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    ERROR = "error"


@dataclass(frozen=True)
class Webhook:
    """A path and its handler."""

    path: str
    handler: Handler
    purpose: WebhookPurpose = WebhookPurpose.VALIDATE


@dataclass(frozen=True)
class ReviewRecord:
    """One answered review, for metrics. `resource` is the plural of `kind`, as in `cells`."""

    purpose: WebhookPurpose
    resource: str
    result: ReviewResult
    seconds: float
    kind: str = ""
    path: str = ""


@dataclass(frozen=True)
class ServerHooks:
    """`on_review` is called after each review, `around` encloses its handler (a span)."""

    on_review: Callable[[ReviewRecord], None] = lambda record: None
    around: Callable[[Webhook, Review], AbstractContextManager[object]] = lambda webhook, review: (
        nullcontext()
    )


@dataclass(frozen=True)
class ServerSettings:
    """`host` None listens on every address, port 0 on a free one. The API server limits an object to 3 MiB; a review
    of an update holds two objects."""

    host: str | None = None
    port: int = 9443
    concurrent_reviews: int = 20
    waiting_reviews: int = 200
    body_limit: int = 8 * 1024 * 1024
    stop_seconds: float = 10.0
    hooks: ServerHooks = field(default_factory=ServerHooks)


class EncodedResponse(NamedTuple):
    result: ReviewResult
    body: bytes


class WebhookServer:
    """Serves the registered webhooks between `start` and `stop`; `problem` is for the readiness probe."""

    name = "webhook server"

    def __init__(
        self, settings: ServerSettings, certificate: ServingCertificate, clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._certificate = certificate
        self._clock = clock or SystemClock()
        self._webhooks: dict[str, Webhook] = {}
        self._review_limit = ReviewLimit(settings.concurrent_reviews, settings.waiting_reviews)
        self._runner: web.ServerRunner | None = None
        self._following: asyncio.Task[None] | None = None
        self._problem = "the webhook server has not started"

    @property
    def port(self) -> int:
        """The port in use, once the server serves."""
        assert self._runner is not None, "the server does not serve yet"
        return int(self._runner.addresses[0][1])

    def problem(self) -> str:
        """Empty while the server serves, else one sentence for the readiness probe."""
        return self._problem

    def add(self, webhook: Webhook) -> None:
        if webhook.path in self._webhooks:
            raise ValueError(f"two webhooks at {webhook.path}")
        self._webhooks[webhook.path] = webhook

    async def start(self) -> None:
        """Listen, at once if there is a certificate, else as soon as one appears."""
        if self._has_certificate():
            await self._listen()
        self._following = asyncio.create_task(self._follow(), name=self.name)

    async def stop(self) -> None:
        """Accept no more connections, finish running reviews, close."""
        self._problem = "the webhook server has stopped"
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        if self._runner is not None:
            connections = open_connections(self._runner)
            await self._runner.cleanup()
            await close_connections(connections)

    async def _listen(self) -> None:
        settings = self._settings
        server = web.Server(self._serve, access_log=None)
        self._runner = web.ServerRunner(server, shutdown_timeout=settings.stop_seconds)
        await self._runner.setup()
        context = self._certificate.context
        try:
            await web.TCPSite(self._runner, settings.host, settings.port, ssl_context=context).start()
        except OSError as error:
            await self._runner.cleanup()
            self._runner = None
            raise ListenError(
                f"the webhook server cannot listen on {settings.host or '*'}:{settings.port} ({error.strerror}): "
                "free the port or choose another"
            ) from error
        self._problem = ""

    async def _follow(self) -> None:
        while self._runner is None:
            await self._clock.sleep(START_CHECK_SECONDS)
            if self._has_certificate():
                await self._listen_or_report()
        await self._certificate.follow(self._clock)

    async def _listen_or_report(self) -> None:
        try:
            await self._listen()
        except ListenError as error:
            if str(error) != self._problem:
                log.error("%s", error)  # noqa: TRY400 the message is enough
            self._problem = str(error)

    def _has_certificate(self) -> bool:
        try:
            self._certificate.reload()
        except UnusableCertificateError as error:
            if str(error) != self._problem:
                log.warning("the webhook server waits for its certificate: %s", error)
            self._problem = str(error)
        return self._certificate.is_loaded

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        started = time.perf_counter()
        webhook = self._webhooks.get(request.path)
        review: Review | None = None
        try:
            if webhook is None:
                raise NotAWebhookError(
                    f"no webhook at {request.path}; there are: {', '.join(self._webhooks)}"
                )
            review = decode_review(await self._read(request))
            result, body = await self._respond_in_time(webhook, review, request.query.get("timeout"))
            self._record_review(webhook, review, result, started)
            return web.Response(body=body, content_type="application/json")
        except ReviewError as error:
            self._record_review(webhook, review, ReviewResult.ERROR, started)
            return _error_response(error)

    async def _read(self, request: web.BaseRequest) -> bytes:
        if request.method != "POST":
            raise WrongMethodError(f"{request.path} takes AdmissionReviews by POST, not {request.method}")
        limit = self._settings.body_limit
        body = bytearray()
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > limit:
                raise ReviewTooLargeError(
                    f"the review is larger than {limit / 1024 / 1024:g} MiB: the object is too large"
                )
        return bytes(body)

    async def _respond_in_time(
        self, webhook: Webhook, review: Review, timeout: str | None
    ) -> EncodedResponse:
        seconds = deadline_seconds(timeout)
        try:
            async with asyncio.timeout(seconds), self._review_limit.acquire():
                return await self._respond(webhook, review)
        except TimeoutError:
            log.warning(
                "no response within the deadline", extra={"webhook": webhook.path, "object": str(review)}
            )
            raise DeadlineError(
                f"{review}: the webhook {webhook.path} did not respond within {seconds:g} s; try again"
            ) from None

    async def _respond(self, webhook: Webhook, review: Review) -> EncodedResponse:
        try:
            with self._settings.hooks.around(webhook, review):
                response = await webhook.handler(review)
            result = ReviewResult.DENIED if isinstance(response, Denied) else ReviewResult.ALLOWED
            return EncodedResponse(result, encode_response(review, response))
        except RecursionError:
            raise ReviewTooDeepError(f"{review.kind.kind} {review.namespace}/{review.name}") from None
        except Exception as error:
            log.exception("a webhook failed", extra={"webhook": webhook.path, "object": str(review)})
            # The message of an unexpected error may quote the object, which may be a Secret: it is only logged.
            raise HandlerFailedError(
                f"{review}: the webhook {webhook.path} failed ({type(error).__name__}); see the log of the operator"
            ) from error

    def _record_review(
        self, webhook: Webhook | None, review: Review | None, result: ReviewResult, started: float
    ) -> None:
        if webhook is None:
            return
        resource, kind = (review.resource.resource, review.kind.kind) if review else ("", "")
        seconds = time.perf_counter() - started
        record = ReviewRecord(webhook.purpose, resource, result, seconds, kind, webhook.path)
        with suppress(Exception):
            self._settings.hooks.on_review(record)


def _error_response(error: ReviewError) -> web.Response:
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return web.Response(status=error.code, text=str(error), headers=headers)


def deadline_seconds(timeout: str | None) -> float:
    """A little less than the API server waits, from the query of its call (`?timeout=10s`).

    The API server ignores a later response and shows its user a timeout instead of the problem.
    """
    try:
        seconds = parse_duration(timeout or "")
    except ValueError:
        return DEFAULT_DEADLINE_SECONDS
    return seconds - min(MAX_MARGIN_SECONDS, seconds / 10) if seconds else DEFAULT_DEADLINE_SECONDS


class OpenConnection(NamedTuple):
    transport: asyncio.Transport
    socket: TransportSocket

    @property
    def is_open(self) -> bool:
        return self.socket.fileno() >= 0


def open_connections(runner: web.ServerRunner) -> list[OpenConnection]:
    """The connections of a server; call it before the cleanup, which drops them."""
    protocols = runner.server.connections if runner.server else []
    transports = [protocol.transport for protocol in protocols if protocol.transport]
    return [OpenConnection(transport, transport.get_extra_info("socket")) for transport in transports]


async def close_connections(connections: list[OpenConnection]) -> None:
    """Waits briefly for both sides to close, then aborts the rest.

    asyncio waits half a minute for the peer's TLS close_notify. An API server with an idle connection may take that
    long, and a stopping process has less time.
    """
    for _ in range(CLOSE_CHECKS):
        if not any(connection.is_open for connection in connections):
            return
        await asyncio.sleep(CLOSE_CHECK_SECONDS)
    for connection in connections:
        if connection.is_open:
            connection.transport.abort()
    await asyncio.sleep(0)
