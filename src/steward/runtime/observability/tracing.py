"""Spans over OTLP, and nothing at all when no endpoint is set.

Without `OTEL_EXPORTER_OTLP_ENDPOINT` not one module of OpenTelemetry is imported and a span is one shared object that
does nothing. With it, spans go out in batches from a thread of the SDK, over HTTP or gRPC as
`OTEL_EXPORTER_OTLP_PROTOCOL` says; every other standard variable (headers, certificates, sampler, resource attributes)
is read by the SDK itself.

A reconcile is not called by the request that caused it, so the webhook leaves its trace on the object as two
annotations (`Bridge`). A fresh one makes the reconcile a child of that request. A stale one makes a new root with a
link: the cause stays visible without a span that seems to have lasted for hours.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from steward.kube.objects.kinds import Key
from steward.runtime.observability.redaction import redact_text

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Link, Span

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOL_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOLS = ("http/protobuf", "grpc")
FRESH_SECONDS = 600.0
FLUSH_SECONDS = 3.0

_OFF: AbstractContextManager[None] = nullcontext()


class TracingError(ValueError):
    """A variable of tracing has a value that cannot be used; the message names it and the choices."""


class Origin(NamedTuple):
    """The trace that an object's annotations speak of, and whether it is recent enough to be a parent."""

    traceparent: str
    fresh: bool


class Bridge(NamedTuple):
    """Carries a trace from the webhook to the reconcile, over the object's annotations."""

    traceparent: str = "multigres.com/traceparent"
    stamp: str = "multigres.com/traceparent-ts"
    fresh_seconds: float = FRESH_SECONDS

    def inject(self, annotations: MutableMapping[str, str], now: float) -> None:
        """Writes the current span, if there is one, and the wall time in whole seconds."""
        executor = headers()
        if executor:
            annotations[self.traceparent] = executor["traceparent"]
            annotations[self.stamp] = str(int(now))

    def extract(self, annotations: Mapping[str, str], now: float) -> Origin | None:
        traceparent = annotations.get(self.traceparent)
        if not traceparent:
            return None
        return Origin(traceparent, self._is_fresh(annotations.get(self.stamp, ""), now))

    def _is_fresh(self, stamp: str, now: float) -> bool:
        # A stamp from the future is a wrong clock or a wrong hand: beyond the same limit it is no parent either.
        return stamp.isdecimal() and abs(now - int(stamp)) < self.fresh_seconds


class Tracing:
    """A tracer of our own provider: nothing global of OpenTelemetry is set, so tests can start and stop it."""

    def __init__(self, provider: TracerProvider, exporter: SpanExporter) -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._trace = trace
        self._provider = provider
        self._exporter = exporter
        self._tracer = provider.get_tracer("steward")
        self._propagator = TraceContextTextMapPropagator()

    def span(self, name: str) -> AbstractContextManager[Span]:
        return self._open(name)

    @contextmanager
    def _open(self, name: str, **how: Any) -> Iterator[Span]:
        # The SDK would send an error's text as it is; here it loses its secrets first, as in a log line.
        quiet: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}
        with self._tracer.start_as_current_span(name, **quiet, **how) as span:
            try:
                yield span
            except Exception as error:
                self._record(span, error)
                raise

    def _record(self, span: Span, error: Exception) -> None:
        text = redact_text(str(error))
        stack = redact_text("".join(traceback.format_exception(error)))
        named = {"exception.type": type(error).__name__, "exception.message": text}
        span.add_event("exception", {**named, "exception.stacktrace": stack})
        span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, text))

    def reconcile_span(self, kind: str, key: Key, origin: Origin | None) -> AbstractContextManager[Span]:
        context, links = self._cause(origin)
        attributes = {
            "k8s.resource.name": key.name,
            "k8s.namespace": key.namespace,
            "k8s.resource.kind": kind,
        }
        return self._open(f"{kind}.Reconcile", context=context, links=links, attributes=attributes)

    def _cause(self, origin: Origin | None) -> tuple[Context, list[Link]]:
        from opentelemetry.context import Context

        root = Context()
        if origin is None:
            return root, []
        remote = self._propagator.extract({"traceparent": origin.traceparent}, context=root)
        cause = self._trace.get_current_span(remote).get_span_context()
        if not cause.is_valid:
            return root, []
        return (remote, []) if origin.fresh else (root, [self._trace.Link(cause)])

    def headers(self) -> dict[str, str]:
        executor: dict[str, str] = {}
        self._propagator.inject(executor)
        return executor

    def current_ids(self) -> tuple[str, str] | None:
        context = self._trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return f"{context.trace_id:032x}", f"{context.span_id:016x}"

    async def stop(self, seconds: float = FLUSH_SECONDS) -> None:
        """Sends what is left. A receiver that does not answer is given up after so long."""
        # The SDK's own flush takes a timeout and does not keep it: its retries end only with the exporter.
        flush = asyncio.ensure_future(asyncio.to_thread(self._provider.force_flush))
        _, late = await asyncio.wait((flush,), timeout=seconds)
        if late:
            await asyncio.to_thread(self._exporter.shutdown)
        await asyncio.to_thread(self._provider.shutdown)


_tracing: Tracing | None = None


def is_on() -> bool:
    return _tracing is not None


def span(name: str) -> AbstractContextManager[Any]:
    """A child of the current span: `with span("Cell.ReconcileService"):`."""
    return _OFF if _tracing is None else _tracing.span(name)


def reconcile_span(kind: str, key: Key, origin: Origin | None = None) -> AbstractContextManager[Any]:
    return _OFF if _tracing is None else _tracing.reconcile_span(kind, key, origin)


def headers() -> dict[str, str]:
    """W3C headers of the current span for a request that goes out; empty when there is none."""
    return {} if _tracing is None else _tracing.headers()


def current_ids() -> tuple[str, str] | None:
    """(trace_id, span_id) in hex, for log lines."""
    return None if _tracing is None else _tracing.current_ids()


def start_tracing(service: str, version: str, environ: Mapping[str, str]) -> bool:
    """Turns tracing on if the environment asks for it; says whether it did."""
    global _tracing
    if not is_asked_for(environ):
        return False
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=_resource(service, version), shutdown_on_exit=False)
    exporter = _exporter(protocol(environ))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracing = Tracing(provider, exporter)
    return True


async def stop_tracing() -> None:
    global _tracing
    stopping, _tracing = _tracing, None
    if stopping is not None:
        await stopping.stop()


def is_asked_for(environ: Mapping[str, str]) -> bool:
    if (
        environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or environ.get("OTEL_TRACES_EXPORTER") == "none"
    ):
        return False
    return any(environ.get(name) for name in ENDPOINT_VARIABLES)


def protocol(environ: Mapping[str, str]) -> str:
    for name in PROTOCOL_VARIABLES:
        chosen = environ.get(name)
        if chosen and chosen not in PROTOCOLS:
            raise TracingError(f"{name}={chosen} is not supported: use {' or '.join(PROTOCOLS)}")
        if chosen:
            return chosen
    return PROTOCOLS[0]


def _resource(service: str, version: str) -> Any:
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    # What the environment says about the service wins over what the code says.
    ours = Resource.create({"service.name": service, "service.version": version})
    return ours.merge(OTELResourceDetector().detect())


def _exporter(chosen: str) -> SpanExporter:
    if chosen == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter()
