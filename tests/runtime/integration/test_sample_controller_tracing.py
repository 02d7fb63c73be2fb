"""Tracing of the sample: spans at a real receiver, and log lines with their ids."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from steward.testkit import FaultProxy
from tests.runtime.integration.support.greetings import NO_ELECTION, GreetingClient, StartSample
from tests.runtime.integration.support.sample_controller import NAME
from tests.runtime.support.otlp import Received, attributes, grpc_receiver, http_receiver

RECEIVERS: dict[str, Any] = {"http/protobuf": http_receiver, "grpc": grpc_receiver}


@pytest.mark.parametrize("protocol", list(RECEIVERS))
async def test_reconciles_are_traced_and_no_span_is_lost_at_the_stop(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, protocol: str
) -> None:
    received = Received()
    async with RECEIVERS[protocol](received) as endpoint:
        otlp = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
        async with start_sample(proxy, **NO_ELECTION, **otlp) as sample:
            await greetings.create("hello")
            await greetings.wait_until_reconciled("hello")
            await greetings.delete("hello")
            await greetings.wait_until_deleted("hello")
            sample.signal(signal.SIGTERM)
            assert await sample.ended() == 0
            lines = [json.loads(line) for line in sample.log.splitlines()]
    (about_delete,) = [line for line in lines if line["msg"].startswith("deleting Deployment")]
    spans = {span.span_id.hex(): span for span in received.spans}
    write = spans[about_delete["span_id"]]
    reconcile = spans[write.parent_span_id.hex()]
    assert (write.name, reconcile.name) == ("Greeting.ReconcileDeployments", "Greeting.Reconcile")
    assert {write.trace_id.hex(), reconcile.trace_id.hex()} == {about_delete["trace_id"]}
    assert attributes(reconcile) == {
        "k8s.resource.name": "hello",
        "k8s.namespace": greetings.namespace,
        "k8s.resource.kind": "Greeting",
    }
    assert received.resources[0]["service.name"] == NAME
