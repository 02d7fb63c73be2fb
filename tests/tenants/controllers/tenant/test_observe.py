from typing import Any

import msgspec
import pytest

from steward.kube.objects.readiness import NotYet, Ready
from steward.kube.objects.readiness_views import Observed
from steward.tenants.controllers.tenant.observe import by_own_rule, ingress_readiness

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
def test_an_own_rule_over_the_living_object_decides(template: str, is_ready: bool) -> None:
    assert isinstance(by_own_rule(template, LIVE), Ready if is_ready else NotYet)


@pytest.mark.parametrize(
    ("status", "is_ready"),
    [
        ({}, False),
        ({"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}, True),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
    ],
)
def test_an_ingress_is_ready_when_it_can_be_reached(status: dict[str, Any], is_ready: bool) -> None:
    ingress = msgspec.convert({"spec": {"rules": [{}]}, "status": status}, Observed)
    assert isinstance(ingress_readiness(ingress), Ready if is_ready else NotYet)
