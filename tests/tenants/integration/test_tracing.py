"""The operator as a process sends its spans to a real OTLP receiver."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.runtime.support.otlp import Received, attributes, http_receiver
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry
from tests.tenants.support.operator import operator_with_webhooks, running_operator

CHILDREN = {
    ("TenantRegistry", "prod"): {"ReadTable", "ReconcileTenants", "UpdateStatus"},
    ("TenantTemplate", "web-app"): {"UpdateStatus"},
    ("Tenant", "acme-web-app"): {"ReconcileConfigMaps", "UpdateStatus"},
}
"""Spans below the reconciles of an object, without its kind."""


async def received_during(work: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> Received:
    """The spans of an operator that `work` starts and stops."""
    spans = Received()
    async with http_receiver(spans) as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        await asyncio.to_thread(work)
    return spans


async def test_a_reconcile_has_a_span_below_it_for_each_part(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def create_tenant() -> None:
        Customers(tmp_path).add("acme")
        world = World(kubectl, namespace)
        with running_operator(control_plane, namespace, tmp_path / "operator.log"):
            world.apply(sqlite_registry(), config_template())
            world.until_condition("Ready", "True", kind="tenant", name="acme-web-app")

    received = await received_during(create_tenant, monkeypatch)
    found = {about: _children(received, *about) for about in CHILDREN}
    assert {about: names & CHILDREN[about] for about, names in found.items()} == CHILDREN
    [write] = [span for span in received.spans if span.name == "Tenant.Apply"]
    parents = [span.name for span in received.spans if span.span_id == write.parent_span_id]
    assert parents == ["TenantRegistry.ReconcileTenants"]


async def test_each_webhook_opens_a_span(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def create_template() -> None:
        with operator_with_webhooks(control_plane, kubectl, namespace, tmp_path / "operator.log"):
            World(kubectl, namespace).apply(sqlite_registry(), config_template())

    received = await received_during(create_template, monkeypatch)
    reviews = [span for span in received.spans if span.name.startswith("Webhook.")]
    assert {(span.name, attributes(span)["k8s.resource.kind"]) for span in reviews} == {
        (f"Webhook.{name}", kind)
        for name in ("Default", "Validate")
        for kind in ("TenantRegistry", "TenantTemplate")
    }


def _children(received: Received, kind: str, name: str) -> set[str]:
    """The names of the spans directly below the reconciles of an object, in the same trace."""
    reconciles = {
        (span.trace_id, span.span_id)
        for span in received.spans
        if span.name == f"{kind}.Reconcile" and attributes(span)["k8s.resource.name"] == name
    }
    assert reconciles, f"no reconcile of {kind} {name}"
    below = (span for span in received.spans if (span.trace_id, span.parent_span_id) in reconciles)
    return {span.name.removeprefix(f"{kind}.") for span in below}
