"""The external address of the gateways, and why it is missing."""

import pytest

from steward.multigres.status.external_gateway import (
    ExternalAddresses,
    ExternalGatewayState,
    external_condition,
    external_endpoint,
)

NONE = ExternalAddresses()
BALANCED = ExternalAddresses(ingress=("", "lb.example.com"))


@pytest.mark.parametrize(
    ("addresses", "endpoint"),
    [
        (NONE, ""),
        (BALANCED, "lb.example.com:5432"),
        (ExternalAddresses(ingress=("203.0.113.7",)), "203.0.113.7:5432"),
        (ExternalAddresses(ingress=("2001:db8::7",)), "[2001:db8::7]:5432"),
        (ExternalAddresses(("198.51.100.1", "198.51.100.2"), ("203.0.113.7",)), "198.51.100.1:5432"),
    ],
)
def test_the_endpoint_is_the_first_address_with_the_port(addresses: ExternalAddresses, endpoint: str) -> None:
    assert external_endpoint(addresses, 5432) == endpoint


@pytest.mark.parametrize(
    ("addresses", "has_gateway", "status", "reason", "words"),
    [
        (NONE, True, "False", "AwaitingEndpoint", "set spec.externalGateway.externalIPs"),
        (BALANCED, False, "False", "NoReadyGateways", "no gateway is ready"),
        (BALANCED, True, "True", "EndpointReady", "status.externalEndpoint"),
    ],
)
def test_the_condition_says_what_is_missing(
    addresses: ExternalAddresses, has_gateway: bool, status: str, reason: str, words: str
) -> None:
    found = external_condition(ExternalGatewayState("mini-multigateway", addresses, has_gateway, 3))
    assert (found.type, found.status, found.reason) == ("GatewayExternalReady", status, reason)
    assert found.observed_generation == 3
    assert words in found.message
