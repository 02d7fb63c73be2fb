from typing import Any

import msgspec
import pytest

from steward.kube.objects.readiness import NotReady, Ready
from steward.kube.objects.readiness_views import ReadinessView
from steward.tenants.controllers.tenant.observe import evaluate_ready_when, ingress_readiness

LIVE: dict[str, Any] = {"status": {"phase": "Running", "replicas": 2}, "spec": {"replicas": 2}}


@pytest.mark.parametrize(
    ("template", "is_ready"),
    [
        ('{{ eq .status.phase "Running" }}', True),
        (" {{ eq .status.replicas .spec.replicas }} ", True),
        ('{{ eq .status.phase "Failed" }}', False),
        ("{{ .status.phase }}", False),
        ("{{ eq .status.missing.deep 1 }}", False),
        ("{{ nonsense }}", False),
    ],
)
def test_ready_when_decides_on_the_live_object(template: str, is_ready: bool) -> None:
    assert isinstance(evaluate_ready_when(template, LIVE), Ready if is_ready else NotReady)


@pytest.mark.parametrize(
    ("status", "is_ready"),
    [
        ({}, False),
        ({"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}, True),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
    ],
)
def test_an_ingress_is_ready_when_it_can_be_reached(status: dict[str, Any], is_ready: bool) -> None:
    ingress = msgspec.convert({"spec": {"rules": [{}]}, "status": status}, ReadinessView)
    assert isinstance(ingress_readiness(ingress), Ready if is_ready else NotReady)
