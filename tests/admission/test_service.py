"""When webhooks are served, and their metrics."""

from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry

from steward.admission.metrics import WebhookMetrics
from steward.admission.server import ReviewRecord, ReviewResult, Webhook, WebhookPurpose
from steward.admission.service import (
    CertificateNames,
    Registration,
    WebhookService,
    serve_webhooks,
    webhooks_enabled,
)

IN_CLUSTER = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
NAMES = CertificateNames("ca", "tls", "svc", "Shop", "shop-cert")


class FakeHost:
    """A fake of the manager, as far as webhooks use it."""

    def __init__(self, **settings):
        chosen = {
            "webhooks": "auto",
            "webhook_bind_address": ":9443",
            "webhook_cert_path": "/nowhere",
            "webhook_service": "",
            "webhook_url": "",
            "namespaces": (),
        }
        self.settings = SimpleNamespace(**(chosen | settings))
        metrics = SimpleNamespace(registry=CollectorRegistry())
        self.connection = SimpleNamespace(replica_client=None, namespace="shop", clock=None, metrics=metrics)
        self.services = []

    def shared_service(self, kind, make):
        if not self.services:
            self.services.append(make())
        return self.services[0]


async def answer(review):
    raise AssertionError("no review is expected")


def registration(operator, path):
    return Registration(
        operator, operator.replace("-", "_"), (Webhook(path, answer),), lambda reached: [], NAMES
    )


@pytest.mark.parametrize(
    ("settings", "environ", "on"),
    [
        ({}, {}, False),
        ({}, IN_CLUSTER, True),
        ({"webhook_url": "https://127.0.0.1:9443"}, {}, True),
        ({"webhooks": "on"}, {}, True),
        ({"webhooks": "off"}, IN_CLUSTER, False),
        ({"webhook_bind_address": "0"}, IN_CLUSTER, False),
    ],
)
def test_webhooks_are_served_in_a_cluster_or_with_a_url(settings, environ, on):
    assert webhooks_enabled(FakeHost(**settings), environ) is on


def test_operators_of_one_process_share_one_server():
    host = FakeHost()
    serve_webhooks(host, registration("shop-operator", "/shop"), IN_CLUSTER)
    serve_webhooks(host, registration("bank-operator", "/bank"), IN_CLUSTER)
    [service] = host.services
    assert isinstance(service, WebhookService)
    assert service.problem() == "the webhooks are not served yet"


@pytest.mark.parametrize(
    ("result", "counted"),
    [(ReviewResult.ALLOWED, "success"), (ReviewResult.DENIED, "success"), (ReviewResult.ERROR, "error")],
)
def test_reviews_are_counted_by_operation_kind_and_result(result, counted):
    registry = CollectorRegistry()
    WebhookMetrics("shop", registry).count(
        ReviewRecord(WebhookPurpose.DEFAULT, "baskets", result, 0.2, "Basket", "/x")
    )
    labels = {"operation": "DEFAULT", "resource": "Basket"}
    assert registry.get_sample_value("shop_webhook_request_total", labels | {"result": counted}) == 1
    assert registry.get_sample_value("shop_webhook_request_duration_seconds_count", labels) == 1
