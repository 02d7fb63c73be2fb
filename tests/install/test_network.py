"""The network policies of an installation."""

from typing import Any

import pytest

from steward.install.network import network_policy
from steward.install.operators import METRICS_PORT, OPERATORS, PROBES_PORT, WEBHOOK_PORT, ShippedOperator
from steward.install.values import NetworkPolicyPeers, Values
from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl

MONITORING = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
API_SERVER = {"ipBlock": {"cidr": "10.0.0.1/32"}}


def _peers_by_port(operator: ShippedOperator, values: Values) -> dict[int, list[Any] | None]:
    rules = network_policy(operator, values)["spec"]["ingress"]
    return {rule["ports"][0]["port"]: rule.get("from") for rule in rules}


@pytest.mark.parametrize("operator", OPERATORS)
def test_without_peers_every_pod_reaches_the_three_ports_and_no_other(operator: ShippedOperator) -> None:
    everybody = _peers_by_port(operator, Values())
    assert everybody == {PROBES_PORT: None, METRICS_PORT: None, WEBHOOK_PORT: None}


@pytest.mark.parametrize("operator", OPERATORS)
def test_peers_limit_who_reaches_metrics_and_webhooks(operator: ShippedOperator) -> None:
    peers = NetworkPolicyPeers(metrics=[MONITORING], webhooks=[API_SERVER])
    limited = _peers_by_port(operator, Values(network_policy_peers=peers))
    assert limited == {PROBES_PORT: None, METRICS_PORT: [MONITORING], WEBHOOK_PORT: [API_SERVER]}


def test_the_api_server_accepts_a_policy_with_peers(control_plane: ControlPlane) -> None:
    peers = NetworkPolicyPeers(metrics=[MONITORING], webhooks=[API_SERVER])
    policy = network_policy(OPERATORS[0], Values(namespace="default", network_policy_peers=peers))
    output, error = Kubectl(control_plane.kubeconfig).run(
        "create", "--dry-run=server", "-o", "json", "-f", "-", document=policy
    )
    assert (error, '"10.0.0.1/32"' in output) == ("", True)
