"""A real OTLP receiver, over HTTP and gRPC, that keeps the spans."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from aiohttp import web
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


class Received:
    def __init__(self) -> None:
        self.resources: list[dict[str, str]] = []
        self.spans: list[Any] = []
        self.requests = 0

    def take(self, request: Any) -> None:
        self.requests += 1
        for group in request.resource_spans:
            self.resources.append(attributes(group.resource))
            for scope in group.scope_spans:
                self.spans.extend(scope.spans)

    def named(self, name: str) -> Any:
        (found,) = [span for span in self.spans if span.name == name]
        return found


def attributes(holder: Any) -> dict[str, str]:
    return {item.key: item.value.string_value for item in holder.attributes}


@asynccontextmanager
async def http_receiver(received: Received) -> AsyncIterator[str]:
    async def traces(request: web.Request) -> web.Response:
        received.take(trace_service_pb2.ExportTraceServiceRequest.FromString(await request.read()))
        answer = trace_service_pb2.ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=answer, content_type="application/x-protobuf")

    application = web.Application()
    application.add_routes([web.post("/v1/traces", traces)])
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class _TraceService(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self, received: Received) -> None:
        self._received = received

    async def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 (the name is gRPC's)
        self._received.take(request)
        return trace_service_pb2.ExportTraceServiceResponse()


@asynccontextmanager
async def grpc_receiver(received: Received) -> AsyncIterator[str]:
    server = grpc.aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(_TraceService(received), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(grace=None)
