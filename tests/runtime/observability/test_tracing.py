from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web

from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.runtime.controller.controller import Controller, ControllerDependencies, ControllerLoop
from steward.runtime.controller.triggers import For
from steward.runtime.manager.clients import Connection, open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.settings import Settings
from steward.runtime.observability import tracing
from steward.runtime.observability.logging import JsonFormatter
from steward.runtime.observability.tracing import (
    TraceAnnotations,
    TraceOrigin,
    TracingError,
    reconcile_span,
    span,
)
from steward.runtime.reconcile import DONE, Result
from steward.testkit.clock import FakeClock
from tests.runtime.support.otlp import Received, attributes, grpc_receiver, http_receiver
from tests.runtime.support.views import THINGS, FilledCaches

KEY = Key("shop", "orders")
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE_ID, PARENT_ID = TRACEPARENT.split("-")[1:3]
RECEIVERS = {"http/protobuf": http_receiver, "grpc": grpc_receiver}


@pytest.fixture
def received() -> Received:
    return Received()


@asynccontextmanager
async def tracing_to(
    received: Received, monkeypatch: pytest.MonkeyPatch, exporter_protocol: str = "http/protobuf"
) -> AsyncIterator[None]:
    async with RECEIVERS[exporter_protocol](received) as endpoint:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": exporter_protocol}
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        assert tracing.start_tracing("multigres-operator", "1.2.3", environ)
        try:
            yield
        finally:
            await tracing.stop_tracing()


@pytest.mark.parametrize("exporter_protocol", list(RECEIVERS))
async def test_spans_reach_a_real_receiver(
    received: Received, monkeypatch: pytest.MonkeyPatch, exporter_protocol: str
) -> None:
    async with tracing_to(received, monkeypatch, exporter_protocol):
        with reconcile_span("Thing", KEY), span("Thing.Part", Ref(CONFIG_MAP, Key("shop", "settings"))):
            pass
    root, child = received.named("Thing.Reconcile"), received.named("Thing.Part")
    assert child.parent_span_id == root.span_id
    assert child.trace_id == root.trace_id
    assert root.parent_span_id == b""
    assert attributes(root) == {
        "k8s.resource.name": "orders",
        "k8s.namespace": "shop",
        "k8s.resource.kind": "Thing",
    }
    assert attributes(child) == {
        "k8s.resource.name": "settings",
        "k8s.namespace": "shop",
        "k8s.resource.kind": "ConfigMap",
    }
    assert received.resources[0]["service.name"] == "multigres-operator"
    assert received.resources[0]["service.version"] == "1.2.3"


async def test_spans_are_sent_in_batches(received: Received, monkeypatch: pytest.MonkeyPatch) -> None:
    async with tracing_to(received, monkeypatch):
        for _ in range(50):
            with reconcile_span("Cell", KEY):
                pass
    assert len(received.spans) == 50
    assert received.requests == 1


async def test_the_service_name_comes_from_the_environment(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "renamed")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    async with tracing_to(received, monkeypatch):
        with span("x"):
            pass
    assert received.resources[0]["service.name"] == "renamed"
    assert received.resources[0]["deployment.environment"] == "test"


async def test_a_fresh_annotation_makes_the_reconcile_a_child(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tracing_to(received, monkeypatch):
        with reconcile_span("MultigresCluster", KEY, TraceOrigin(TRACEPARENT, fresh=True)):
            pass
    found = received.named("MultigresCluster.Reconcile")
    assert found.trace_id.hex() == TRACE_ID
    assert found.parent_span_id.hex() == PARENT_ID
    assert not found.links


async def test_a_stale_annotation_makes_a_new_root_with_a_link(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tracing_to(received, monkeypatch):
        with reconcile_span("MultigresCluster", KEY, TraceOrigin(TRACEPARENT, fresh=False)):
            pass
    found = received.named("MultigresCluster.Reconcile")
    assert found.trace_id.hex() != TRACE_ID
    assert found.parent_span_id == b""
    (link,) = found.links
    assert (link.trace_id.hex(), link.span_id.hex()) == (TRACE_ID, PARENT_ID)


async def test_an_annotation_that_is_no_traceparent_is_ignored(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tracing_to(received, monkeypatch):
        with reconcile_span("MultigresCluster", KEY, TraceOrigin("nonsense", fresh=True)):
            pass
    found = received.named("MultigresCluster.Reconcile")
    assert found.parent_span_id == b""
    assert not found.links


@pytest.mark.parametrize(
    ("stamp", "fresh"),
    [
        ("1000000", True),
        ("999401", True),
        ("999400", False),
        ("1000700", False),
        ("", False),
        ("soon", False),
        ("-5", False),
    ],
)
def test_trace_annotations_are_fresh_for_ten_minutes_and_never_with_a_wrong_stamp(
    stamp: str, fresh: bool
) -> None:
    trace_annotations = TraceAnnotations()
    annotations = {trace_annotations.traceparent: TRACEPARENT, trace_annotations.stamp: stamp}
    assert trace_annotations.extract(annotations, now=1_000_000.0) == TraceOrigin(TRACEPARENT, fresh)


def test_without_trace_annotations_there_is_no_origin() -> None:
    assert TraceAnnotations().extract({}, now=0.0) is None


async def test_trace_annotations_pass_a_span_from_the_webhook_to_the_reconcile(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace_annotations = TraceAnnotations(traceparent="example.com/tp", stamp="example.com/tp-ts")
    annotations: dict[str, str] = {}
    async with tracing_to(received, monkeypatch):
        with span("Webhook.Default"):
            trace_annotations.inject(annotations, now=500.0)
        with reconcile_span("MultigresCluster", KEY, trace_annotations.extract(annotations, now=510.0)):
            pass
    assert set(annotations) == {"example.com/tp", "example.com/tp-ts"}
    webhook, reconcile = received.named("Webhook.Default"), received.named("MultigresCluster.Reconcile")
    assert reconcile.parent_span_id == webhook.span_id


async def test_requests_and_log_lines_have_the_span(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log = logging.Logger("test")
    log.addHandler(handler)
    async with tracing_to(received, monkeypatch):
        with span("outer"):
            headers = tracing.headers()
            log.info("inside")
    found = received.named("outer")
    assert headers["traceparent"].startswith(f"00-{found.trace_id.hex()}-{found.span_id.hex()}-")
    line = json.loads(stream.getvalue())
    assert (line["trace_id"], line["span_id"]) == (found.trace_id.hex(), found.span_id.hex())


async def test_an_error_inside_a_span_is_recorded_without_secrets(
    received: Received, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tracing_to(received, monkeypatch):
        with pytest.raises(RuntimeError), reconcile_span("Cell", KEY):
            raise RuntimeError("no room for password=" + "hunter" + "2")
    found = received.named("Cell.Reconcile")
    assert found.status.code == 2
    assert found.status.message == "no room for password=[redacted]"
    (event,) = found.events
    told = attributes(event)
    assert told["exception.type"] == "RuntimeError"
    assert "test_tracing.py" in told["exception.stacktrace"]
    assert "hunter2" not in str(found)


def test_tracing_is_off_without_an_endpoint() -> None:
    assert not tracing.start_tracing("x", "1", {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    assert tracing.headers() == {}
    assert tracing.current_ids() is None
    assert span("a") is span("b")


@pytest.mark.parametrize(
    "off",
    [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}],
)
def test_tracing_can_be_turned_off_despite_an_endpoint(off: dict[str, str]) -> None:
    assert not tracing.is_requested({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"} | off)


def test_an_unknown_protocol_is_rejected_with_the_valid_ones() -> None:
    with pytest.raises(TracingError, match=r"http/json is not supported: use http/protobuf or grpc"):
        tracing.exporter_protocol({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"})


def test_nothing_of_opentelemetry_is_imported_when_tracing_is_off() -> None:
    program = (
        "import sys, steward.runtime.controller.controller, steward.runtime.manager.manager\n"
        "from steward.runtime.observability import tracing\n"
        "tracing.start_tracing('x', '1', {})\n"
        "with tracing.span('a'): tracing.headers()\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'grpc', 'click', 'rich'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == "[]"


async def test_a_reconcile_its_children_and_its_requests_are_one_trace(
    received: Received, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From the annotation of a webhook, through the reconcile, to the header of the request to the API server."""
    annotations = {"multigres.com/traceparent": TRACEPARENT, "multigres.com/traceparent-ts": "1800000000"}
    async with api_server() as (url, headers), tracing_to(received, monkeypatch):
        connection = await connection_to(url, tmp_path)

        class Reader:
            async def reconcile(self, key: Key) -> Result:
                with span("Thing.ReconcileService"), suppress(NoSuchKind, NotFound):
                    await connection.client.get(CONFIG_MAP, key)
                return DONE

        caches = FilledCaches()
        caches.add(THINGS, "orders", 1, metadata={"annotations": annotations})
        controller = Controller(
            "thing", Reader(), (For(THINGS),), workers=1, trace_annotations=TraceAnnotations()
        )
        around = ControllerDependencies(caches, connection.metrics, FakeClock(now=1_800_000_100.0))  # type: ignore[arg-type]
        loop = ControllerLoop(controller, around)
        loop.start()
        while loop.queue.depth or loop.queue.processing:
            await asyncio.sleep(0)
        loop.stop_accepting()
        await loop.finish(grace=5)
        await connection.close()
    reconcile, child = received.named("Thing.Reconcile"), received.named("Thing.ReconcileService")
    assert reconcile.parent_span_id.hex() == PARENT_ID
    assert child.parent_span_id == reconcile.span_id
    sent = {header.split("-")[1] for header in headers}
    assert sent == {TRACE_ID}


@asynccontextmanager
async def api_server() -> AsyncIterator[tuple[str, list[str]]]:
    """Answers 404 to everything and records the traceparents."""
    headers: list[str] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        headers.append(request.headers["traceparent"])
        return web.json_response({"kind": "Status", "reason": "NotFound", "code": 404}, status=404)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", headers
    finally:
        await runner.cleanup()


async def connection_to(url: str, directory: Path) -> Connection:
    kubeconfig = directory / "kubeconfig"
    kubeconfig.write_text(
        f"{{apiVersion: v1, kind: Config, current-context: c, users: [], clusters: [{{name: c, cluster: "
        f'{{server: "{url}"}}}}], contexts: [{{name: c, context: {{cluster: c}}}}]}}'
    )
    return await open_connection(Settings(kubeconfig=str(kubeconfig)), identity("engine-test"))
