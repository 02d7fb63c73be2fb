"""The webhook server: AdmissionReviews over HTTPS, each answered in time, whatever a handler does.

A review is refused only by a verdict. Everything else that can happen (a broken handler, no time left, too many
reviews at once) is an HTTP error with a sentence, so that the webhook's failurePolicy decides, as its administrator
meant it; an `allowed: false` would refuse even where the policy is Ignore.

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

from steward.admission.concurrency_limit import Gate
from steward.admission.connections import hang_up, open_wires
from steward.admission.deadline import seconds_to_answer
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
from steward.admission.review import Denied, Review, Verdict, decode_review, encode_verdict
from steward.certificates.errors import UnusableCertificateError
from steward.certificates.serving_certificate import ServingCertificate
from steward.kube.clock import Clock, SystemClock

Handler = Callable[[Review], Awaitable[Verdict]]

START_CHECK_SECONDS = 1.0

log = logging.getLogger(__name__)


class Work(StrEnum):
    """What a webhook does, as metrics and spans name it."""

    DEFAULT = "DEFAULT"
    VALIDATE = "VALIDATE"


class Result(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    ERROR = "error"


@dataclass(frozen=True)
class Webhook:
    """A path and who answers there."""

    path: str
    handler: Handler
    work: Work = Work.VALIDATE


@dataclass(frozen=True)
class Reviewed:
    """One answered review, for metrics. `resource` is the plural, as in `cells`, and `kind` what it is a plural of."""

    work: Work
    resource: str
    result: Result
    seconds: float
    kind: str = ""
    path: str = ""


@dataclass(frozen=True)
class Hooks:
    """What watches the reviews: `on_review` after each, `around` while its handler runs (a span)."""

    on_review: Callable[[Reviewed], None] = lambda reviewed: None
    around: Callable[[Webhook, Review], AbstractContextManager[object]] = lambda webhook, review: (
        nullcontext()
    )


@dataclass(frozen=True)
class ServerSettings:
    """`host` None listens on every address, port 0 on a free one. The API server's own limit for an object is 3 MiB;
    a review of an update holds two of them."""

    host: str | None = None
    port: int = 9443
    concurrent_reviews: int = 20
    waiting_reviews: int = 200
    body_limit: int = 8 * 1024 * 1024
    stop_seconds: float = 10.0
    hooks: Hooks = field(default_factory=Hooks)


class Answer(NamedTuple):
    result: Result
    body: bytes


class WebhookServer:
    """Serves the registered webhooks between `start` and `stop`; `problem` tells the readiness probe."""

    name = "webhook server"

    def __init__(
        self, settings: ServerSettings, certificate: ServingCertificate, clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._certificate = certificate
        self._clock = clock or SystemClock()
        self._webhooks: dict[str, Webhook] = {}
        self._gate = Gate(settings.concurrent_reviews, settings.waiting_reviews)
        self._runner: web.ServerRunner | None = None
        self._following: asyncio.Task[None] | None = None
        self._problem = "the webhook server has not started"

    @property
    def port(self) -> int:
        """The port in use, once the server serves."""
        assert self._runner is not None, "the server does not serve yet"
        return int(self._runner.addresses[0][1])

    def problem(self) -> str:
        """Nothing while the server serves, else one sentence for the readiness probe."""
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
        """Take no more connections, finish the reviews in hand, close."""
        self._problem = "the webhook server has stopped"
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        if self._runner is not None:
            wires = open_wires(self._runner)
            await self._runner.cleanup()
            await hang_up(wires)

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
                await self._listen_or_say()
        await self._certificate.follow(self._clock)

    async def _listen_or_say(self) -> None:
        try:
            await self._listen()
        except ListenError as error:
            if str(error) != self._problem:
                log.error("%s", error)  # noqa: TRY400 the sentence says it all
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
            result, answer = await self._answer_in_time(webhook, review, request.query.get("timeout"))
            self._note(webhook, review, result, started)
            return web.Response(body=answer, content_type="application/json")
        except ReviewError as error:
            self._note(webhook, review, Result.ERROR, started)
            return _refusal(error)

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

    async def _answer_in_time(self, webhook: Webhook, review: Review, timeout: str | None) -> Answer:
        seconds = seconds_to_answer(timeout)
        try:
            async with asyncio.timeout(seconds), self._gate.enter():
                return await self._answer(webhook, review)
        except TimeoutError:
            log.warning("no verdict in time", extra={"webhook": webhook.path, "object": str(review)})
            raise DeadlineError(
                f"{review}: the webhook {webhook.path} found no verdict within {seconds:g} s; try again"
            ) from None

    async def _answer(self, webhook: Webhook, review: Review) -> Answer:
        try:
            with self._settings.hooks.around(webhook, review):
                verdict = await webhook.handler(review)
            result = Result.DENIED if isinstance(verdict, Denied) else Result.ALLOWED
            return Answer(result, encode_verdict(review, verdict))
        except RecursionError:
            raise ReviewTooDeepError(f"{review.kind.kind} {review.namespace}/{review.name}") from None
        except Exception as error:
            log.exception("a webhook failed", extra={"webhook": webhook.path, "object": str(review)})
            # The text of an unforeseen error may quote the object, Secrets included: it stays in the log.
            raise HandlerFailedError(
                f"{review}: the webhook {webhook.path} failed ({type(error).__name__}); the operator's log has more"
            ) from error

    def _note(self, webhook: Webhook | None, review: Review | None, result: Result, started: float) -> None:
        if webhook is None:
            return
        resource, kind = (review.resource.resource, review.kind.kind) if review else ("", "")
        seconds = time.perf_counter() - started
        reviewed = Reviewed(webhook.work, resource, result, seconds, kind, webhook.path)
        with suppress(Exception):
            self._settings.hooks.on_review(reviewed)


def _refusal(error: ReviewError) -> web.Response:
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return web.Response(status=error.code, text=str(error), headers=headers)
