"""The operator as a process sends its spans to a real OTLP receiver."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.clusters import Clusters
from tests.multigres.support.idle_clusters import idle_cluster
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.waiting import eventually
from tests.runtime.support.otlp import Received, attributes, http_receiver
from tests.support import data_planes
from tests.support.kubectl import Kubectl

PARTS = {
    "PopulateDefaults",
    "ReconcileGlobalComponents",
    "ReconcileCells",
    "ReconcileTableGroups",
    "UpdateStatus",
}


async def test_one_trace_leads_from_the_webhooks_through_the_reconcile_to_its_parts(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect_to = data_planes.connect_to(control_plane)

    def create_cluster() -> None:
        clusters, log = Clusters(kubectl, namespace), tmp_path / "operator.log"
        with operator_with_webhooks(control_plane, kubectl, namespace, log, connect_to=connect_to):
            clusters.apply(idle_cluster(namespace, "mini"))
            eventually(lambda: clusters.all("shard") and clusters.all("statefulset")[1:], "pools")

    received = Received()
    async with http_receiver(received) as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        await asyncio.to_thread(create_cluster)
    default = next(span for span in of_cluster(received, "Webhook.Default") if not span.parent_span_id)
    reconcile = next(
        span
        for span in of_cluster(received, "MultigresCluster.Reconcile")
        if span.trace_id == default.trace_id
    )
    assert reconcile.parent_span_id == default.span_id
    assert {f"MultigresCluster.{part}" for part in PARTS} <= children(received, reconcile)
    reviews = of_cluster(received, "Webhook.Validate")
    assert any("Webhook.ValidateLogic" in children(received, review) for review in reviews)
    names = {span.name for span in received.spans}
    assert {"TopoServer.ReconcileStatefulSets", "Cell.ReconcileServices", "Shard.ReconcilePools"} <= names


def of_cluster(received: Received, name: str) -> list[Any]:
    return [
        span
        for span in received.spans
        if span.name == name and attributes(span).get("k8s.resource.name") == "mini"
    ]


def children(received: Received, parent: Any) -> set[str]:
    return {span.name for span in received.spans if span.parent_span_id == parent.span_id}
