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
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from aiohttp import web

from steward.admission.body import ReviewBodies
from steward.admission.concurrency_limit import ReviewLimit
from steward.admission.deadline import BODY_SECONDS, deadline_seconds
from steward.admission.errors import (
    DeadlineError,
    HandlerFailedError,
    ListenError,
    MalformedReviewError,
    NotAWebhookError,
    ReviewError,
    ReviewTooDeepError,
    WrongMethodError,
)
from steward.admission.review import AdmissionResponse, Denied, Review, decode_review, encode_response
from steward.certificates.errors import UnusableCertificateError
from steward.certificates.serving_certificate import ServingCertificate
from steward.kube.clock import Clock, SystemClock
from steward.serving.bounded_server import BoundedServer
from steward.serving.connections import Connection
from steward.serving.limits import ServerLimits

Handler = Callable[[Review], Awaitable[AdmissionResponse]]

START_CHECK_SECONDS = 1.0

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
    """A path and its handler. Reviews of `kind` are counted by kind, those of others without one."""

    path: str
    handler: Handler
    purpose: WebhookPurpose = WebhookPurpose.VALIDATE
    kind: str = ""


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
    of an update holds two objects. `memory_limit` is for the bodies of all reviews and what is decoded from them."""

    host: str | None = None
    port: int = 9443
    concurrent_reviews: int = 20
    waiting_reviews: int = 200
    body_limit: int = 8 << 20
    memory_limit: int = 48 << 20
    limits: ServerLimits = field(default_factory=ServerLimits)
    stop_seconds: float = 10.0
    hooks: ServerHooks = field(default_factory=ServerHooks)


@dataclass
class ReviewCall:
    """A request in progress; `review` is known once its body is complete."""

    request: web.BaseRequest
    connection: Connection
    webhook: Webhook | None
    review: Review | None = None
    started: float = field(default_factory=time.perf_counter)


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
        self._bodies = ReviewBodies(settings.body_limit, settings.memory_limit)
        self._server: BoundedServer | None = None
        self._following: asyncio.Task[None] | None = None
        self._problem = "the webhook server has not started"

    @property
    def port(self) -> int:
        """The port in use, once the server serves."""
        assert self._server is not None, "the server does not serve yet"
        return self._server.port

    @property
    def connections(self) -> int:
        """How many are open."""
        return 0 if self._server is None else self._server.connections

    @property
    def held_bytes(self) -> int:
        """What the reviews in progress take of the budget."""
        return self._bodies.held

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
        if self._server is not None:
            await self._server.stop(self._settings.stop_seconds)

    async def _listen(self) -> None:
        settings = self._settings
        server = BoundedServer(self._serve, settings.limits, self._certificate.context)
        try:
            await server.listen(settings.host, settings.port)
        except OSError as error:
            raise ListenError(
                f"the webhook server cannot listen on {settings.host or '*'}:{settings.port} ({error.strerror}): "
                "free the port or choose another"
            ) from error
        self._server = server
        self._problem = ""

    async def _follow(self) -> None:
        while self._server is None:
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

    async def _serve(self, request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        call = ReviewCall(request, connection, self._webhooks.get(request.path))
        try:
            result, body = await self._answer(call)
            self._record_review(call, result)
            return web.Response(body=body, content_type="application/json")
        except ReviewError as error:
            self._record_review(call, ReviewResult.ERROR)
            return _error_response(error)

    async def _answer(self, call: ReviewCall) -> EncodedResponse:
        webhook = self._called_webhook(call)
        seconds = deadline_seconds(call.request.query.get("timeout"))
        end = asyncio.get_running_loop().time() + seconds
        try:
            async with (
                asyncio.timeout(min(seconds, BODY_SECONDS)) as deadline,
                self._bodies.receive(call.request, call.connection.address, deadline) as body,
            ):
                deadline.reschedule(end)
                return await self._review(call, webhook, body)
        except TimeoutError:
            raise _late(call, webhook, seconds) from None

    def _called_webhook(self, call: ReviewCall) -> Webhook:
        path, method = call.request.path, call.request.method
        if call.webhook is None:
            raise NotAWebhookError(f"no webhook at {path}; there are: {', '.join(self._webhooks)}")
        if method != "POST":
            raise WrongMethodError(f"{path} takes AdmissionReviews by POST, not {method}")
        return call.webhook

    async def _review(self, call: ReviewCall, webhook: Webhook, body: bytes) -> EncodedResponse:
        call.connection.process()
        call.review = decode_review(body)
        if webhook.kind and call.review.kind.kind != webhook.kind:
            raise MalformedReviewError(f"{webhook.path} takes reviews of {webhook.kind}, not of other kinds")
        async with self._review_limit.acquire(call.connection.address):
            return await self._respond(webhook, call.review)

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

    def _record_review(self, call: ReviewCall, result: ReviewResult) -> None:
        if call.webhook is None:
            return
        review, webhook = call.review, call.webhook
        # Any client can write any kind, and every label of a metric stays in memory.
        is_known = review is not None and review.kind.kind == webhook.kind
        resource, kind = (review.resource.resource, webhook.kind) if review and is_known else ("", "")
        seconds = time.perf_counter() - call.started
        record = ReviewRecord(webhook.purpose, resource, result, seconds, kind, webhook.path)
        with suppress(Exception):
            self._settings.hooks.on_review(record)


def _error_response(error: ReviewError) -> web.Response:
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return web.Response(status=error.code, text=str(error), headers=headers)


def _late(call: ReviewCall, webhook: Webhook, seconds: float) -> DeadlineError:
    if call.review is None:
        # Not logged: any client can send an incomplete review.
        return DeadlineError(
            f"the webhook {webhook.path} did not receive the whole review in time; try again"
        )
    log.warning(
        "no response within the deadline", extra={"webhook": webhook.path, "object": str(call.review)}
    )
    return DeadlineError(
        f"{call.review}: the webhook {webhook.path} did not respond within {seconds:g} s; try again"
    )
