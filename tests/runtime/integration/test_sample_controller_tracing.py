"""What the sample tells about itself: spans to a real receiver, and log lines that lead to them."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from steward.testkit import FaultProxy
from tests.runtime.integration.conftest import StartSample
from tests.runtime.integration.support.greetings import NO_ELECTION, World
from tests.runtime.integration.support.sample_controller import NAME
from tests.runtime.support.otlp import Received, attributes, grpc_receiver, http_receiver

RECEIVERS: dict[str, Any] = {"http/protobuf": http_receiver, "grpc": grpc_receiver}


@pytest.mark.parametrize("protocol", list(RECEIVERS))
async def test_reconciles_are_traced_and_nothing_is_lost_at_the_end(
    world: World, proxy: FaultProxy, start_sample: StartSample, protocol: str
) -> None:
    received = Received()
    async with RECEIVERS[protocol](received) as endpoint:
        otlp = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
        async with start_sample(proxy, **NO_ELECTION, **otlp) as sample:
            await world.greet("hello")
            await world.until_greeted("hello")
            await world.dismiss("hello")
            await world.until_left("hello")
            sample.signal(signal.SIGTERM)
            assert await sample.ended() == 0
            lines = [json.loads(line) for line in sample.log.splitlines()]
    (about_delete,) = [line for line in lines if line["msg"].startswith("deleting Deployment")]
    spans = {span.span_id.hex(): span for span in received.spans}
    span = spans[about_delete["span_id"]]
    assert span.name == "Greeting.Reconcile"
    assert span.trace_id.hex() == about_delete["trace_id"]
    assert attributes(span) == {
        "k8s.resource.name": "hello",
        "k8s.namespace": world.namespace,
        "k8s.resource.kind": "Greeting",
    }
    assert received.resources[0]["service.name"] == NAME
