"""Fields in the spelling of the Go operator, applied without `steward convert`: the API server names them."""

from typing import Any

from tests.support.kubectl import Kubectl

FIELDS = ("spec.cells[0].zoneId", "spec.cells[0].spec.multigateway", "spec.internalTLS")


def untranslated(namespace: str) -> dict[str, Any]:
    cell = {"name": "z1", "region": "eu", "zoneId": "use1-az1", "spec": {"multigateway": {"replicas": 2}}}
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "old", "namespace": namespace},
        "spec": {"cells": [cell], "internalTLS": {"enabled": True}},
    }


def test_kubectl_rejects_them_and_other_clients_are_warned(kubectl: Kubectl, namespace: str) -> None:
    create = ("create", "--dry-run=server", "-f", "-")
    rejected = kubectl.expect_rejection(*create, document=untranslated(namespace))
    warned = kubectl.expect_warning(*create, "--validate=warn", document=untranslated(namespace))
    assert [field for field in FIELDS if f'unknown field "{field}"' not in rejected] == []
    assert [field for field in FIELDS if f'unknown field "{field}"' not in warned] == []
