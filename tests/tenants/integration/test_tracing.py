"""The operator as a process sends its spans to a real OTLP receiver."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.runtime.support.otlp import Received, attributes, http_receiver
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry
from tests.tenants.support.operator import operator_with_webhooks

CHILDREN = {
    ("TenantRegistry", "prod"): {"ReadTable", "ReconcileTenants", "UpdateStatus"},
    ("TenantTemplate", "web-app"): {"UpdateStatus"},
    ("Tenant", "acme-web-app"): {"ReconcileConfigMaps", "UpdateStatus"},
}
"""Spans below the reconciles of an object, without its kind."""


@pytest.fixture
async def received(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Received:
    """The spans of an operator that has turned a row into a Tenant, and this into a ConfigMap."""

    def create_tenant() -> None:
        world, log = World(kubectl, namespace), tmp_path / "operator.log"
        Customers(tmp_path).add("acme")
        with operator_with_webhooks(control_plane, kubectl, namespace, log):
            world.apply(sqlite_registry(), config_template())
            world.until_condition("Ready", "True", kind="tenant", name="acme-web-app")

    spans = Received()
    async with http_receiver(spans) as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        await asyncio.to_thread(create_tenant)
    return spans


async def test_reconciles_and_webhooks_open_spans_and_reconciles_one_for_each_part(
    received: Received,
) -> None:
    found = {about: _children(received, *about) for about in CHILDREN}
    assert {about: names & CHILDREN[about] for about, names in found.items()} == CHILDREN
    reviews = {
        (span.name, attributes(span)["k8s.resource.kind"]) for span in received.spans if _is_review(span)
    }
    assert reviews == {
        (f"Webhook.{name}", kind)
        for name in ("Default", "Validate")
        for kind in ("TenantRegistry", "TenantTemplate")
    }


def _is_review(span: Any) -> bool:
    return bool(span.name.startswith("Webhook."))


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
