"""Tracing over OTLP, off unless an endpoint is set.

Without `OTEL_EXPORTER_OTLP_ENDPOINT` no module of OpenTelemetry is imported and all spans are one shared no-op object.
With it, a thread of the SDK sends spans in batches, over HTTP or gRPC as `OTEL_EXPORTER_OTLP_PROTOCOL` says; the SDK
itself reads every other standard variable (headers, certificates, sampler, resource attributes).

A reconcile is not called by the request that caused it, so the webhook writes its trace to two annotations of the
object (`TraceAnnotations`). If they are recent, the reconcile becomes a child of that request. If not, it becomes a new
root with a link: the cause stays visible without a span that seems to have lasted for hours.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from steward.kube.objects.kinds import Key, Kind, Ref
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
    """A tracing variable has an invalid value; the message names the variable and the valid values."""


class TraceOrigin(NamedTuple):
    """The trace in an object's annotations, and whether it is recent enough to be a parent."""

    traceparent: str
    fresh: bool


class TraceAnnotations(NamedTuple):
    """Passes a trace from the webhook to the reconcile through annotations of the object."""

    traceparent: str = "multigres.com/traceparent"
    stamp: str = "multigres.com/traceparent-ts"
    fresh_seconds: float = FRESH_SECONDS

    def inject(self, annotations: MutableMapping[str, str], now: float) -> None:
        """Writes the current span, if there is one, and the wall time in whole seconds."""
        current = headers()
        if current:
            annotations[self.traceparent] = current["traceparent"]
            annotations[self.stamp] = str(int(now))

    def extract(self, annotations: Mapping[str, str], now: float) -> TraceOrigin | None:
        traceparent = annotations.get(self.traceparent)
        if not traceparent:
            return None
        return TraceOrigin(traceparent, self._is_fresh(annotations.get(self.stamp, ""), now))

    def _is_fresh(self, stamp: str, now: float) -> bool:
        # A stamp in the future comes from a wrong clock or a manual edit: beyond the same limit it is no parent.
        return stamp.isdecimal() and abs(now - int(stamp)) < self.fresh_seconds


class Tracing:
    """A tracer with its own provider: OpenTelemetry's globals are not set, so tests can start and stop it."""

    def __init__(self, provider: TracerProvider, exporter: SpanExporter) -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._trace = trace
        self._provider = provider
        self._exporter = exporter
        self._tracer = provider.get_tracer("steward")
        self._propagator = TraceContextTextMapPropagator()

    def span(self, name: str, about: Ref | None = None) -> AbstractContextManager[Span]:
        return self._open(name, attributes=None if about is None else _attributes(about))

    @contextmanager
    def _open(self, name: str, **how: Any) -> Iterator[Span]:
        # The SDK would send the error message unredacted.
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

    def reconcile_span(self, kind: str, key: Key, origin: TraceOrigin | None) -> AbstractContextManager[Span]:
        context, links = self._parent_and_links(origin)
        attributes = _attributes(Ref(Kind("", kind), key))
        return self._open(f"{kind}.Reconcile", context=context, links=links, attributes=attributes)

    def _parent_and_links(self, origin: TraceOrigin | None) -> tuple[Context, list[Link]]:
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
        headers: dict[str, str] = {}
        self._propagator.inject(headers)
        return headers

    def current_ids(self) -> tuple[str, str] | None:
        context = self._trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return f"{context.trace_id:032x}", f"{context.span_id:016x}"

    async def stop(self, seconds: float = FLUSH_SECONDS) -> None:
        """Sends the remaining spans, for at most this long."""
        # The SDK's flush takes a timeout and ignores it: its retries end only with the exporter.
        flush = asyncio.ensure_future(asyncio.to_thread(self._provider.force_flush))
        _, late = await asyncio.wait((flush,), timeout=seconds)
        if late:
            await asyncio.to_thread(self._exporter.shutdown)
        await asyncio.to_thread(self._provider.shutdown)


def _attributes(ref: Ref) -> dict[str, str]:
    return {
        "k8s.resource.name": ref.key.name,
        "k8s.namespace": ref.key.namespace,
        "k8s.resource.kind": ref.kind.kind,
    }


_tracing: Tracing | None = None


def is_enabled() -> bool:
    return _tracing is not None


def span(name: str, about: Ref | None = None) -> AbstractContextManager[Any]:
    """A child of the current span: `with span("TenantRegistry.ReadTable"):`, with the object that it is about."""
    return _OFF if _tracing is None else _tracing.span(name, about)


def reconcile_span(kind: str, key: Key, origin: TraceOrigin | None = None) -> AbstractContextManager[Any]:
    return _OFF if _tracing is None else _tracing.reconcile_span(kind, key, origin)


def headers() -> dict[str, str]:
    """W3C trace headers of the current span for an outgoing request; empty without a span."""
    return {} if _tracing is None else _tracing.headers()


def current_ids() -> tuple[str, str] | None:
    """(trace_id, span_id) in hex, for log lines."""
    return None if _tracing is None else _tracing.current_ids()


def start_tracing(service: str, version: str, environ: Mapping[str, str]) -> bool:
    """Starts tracing if the environment requests it; returns whether it did."""
    global _tracing
    if not is_requested(environ):
        return False
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=_resource(service, version), shutdown_on_exit=False)
    exporter = _exporter(exporter_protocol(environ))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracing = Tracing(provider, exporter)
    return True


async def stop_tracing() -> None:
    global _tracing
    stopping, _tracing = _tracing, None
    if stopping is not None:
        await stopping.stop()


def is_requested(environ: Mapping[str, str]) -> bool:
    if (
        environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or environ.get("OTEL_TRACES_EXPORTER") == "none"
    ):
        return False
    return any(environ.get(name) for name in ENDPOINT_VARIABLES)


def exporter_protocol(environ: Mapping[str, str]) -> str:
    for name in PROTOCOL_VARIABLES:
        chosen = environ.get(name)
        if chosen and chosen not in PROTOCOLS:
            raise TracingError(f"{name}={chosen} is not supported: use {' or '.join(PROTOCOLS)}")
        if chosen:
            return chosen
    return PROTOCOLS[0]


def _resource(service: str, version: str) -> Any:
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    # Resource attributes from the environment take precedence.
    ours = Resource.create({"service.name": service, "service.version": version})
    return ours.merge(OTELResourceDetector().detect())


def _exporter(chosen: str) -> SpanExporter:
    if chosen == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter()
