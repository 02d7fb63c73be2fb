"""Addresses of bridge, nodes and pods."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from steward.local.containers.network import MAX_ZONES, parse_pod_network
from steward.local.errors import MachineUnsuitable


def test_the_bridge_has_the_first_address_and_nodes_the_next() -> None:
    network = parse_pod_network("10.88.0.0/24")
    assert network.interface_address == "10.88.0.1/24"
    assert [network.node_address(index) for index in range(2)] == ["10.88.0.2", "10.88.0.3"]


@pytest.mark.parametrize("subnet", ["10.88.0.0/24", "10.88.0.0/25", "172.20.0.0/16"])
@pytest.mark.parametrize("nodes", [1, 2, 3, MAX_ZONES])
def test_pod_ranges_share_no_address_with_each_other_the_nodes_or_broadcasts(subnet: str, nodes: int) -> None:
    network = parse_pod_network(subnet)
    bounds: list[IPv4Address] = [IPv4Address(network.node_address(nodes - 1))]
    for index in range(nodes):
        pods = network.pod_range(index, nodes)
        bounds += [IPv4Address(pods.first), IPv4Address(pods.last)]
    bounds.append(network.subnet.broadcast_address)
    assert bounds == sorted(set(bounds))


@pytest.mark.parametrize(
    "text", ["10.88.0.0/26", "10.0.0.0/8", "8.8.8.0/24", "10.88.0.1/24", "fd00::/64", "pods"]
)
def test_an_unusable_subnet_is_rejected_with_an_example(text: str) -> None:
    with pytest.raises(MachineUnsuitable, match=r"--pod-subnet .* such as 10\.88\.0\.0/24\.$"):
        parse_pod_network(text)
