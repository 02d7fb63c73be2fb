"""Nodes of the zones."""

from __future__ import annotations

import pytest

from steward.local.containers.network import MAX_ZONES, parse_pod_network
from steward.local.containers.nodes import plan_nodes
from steward.local.errors import MachineUnsuitable

NETWORK = parse_pod_network("10.88.0.0/24")


def test_each_zone_has_a_node_with_its_own_address_cgroup_and_socket() -> None:
    first, second = plan_nodes(("east", "west"), NETWORK)
    assert [(node.name, node.zone, node.address) for node in (first, second)] == [
        ("node-1", "east", "10.88.0.2"),
        ("node-2", "west", "10.88.0.3"),
    ]
    assert (first.cgroup, second.cgroup) == ("/steward-local/node-1", "/steward-local/node-2")
    assert first.socket != second.socket


def test_too_many_zones_are_rejected() -> None:
    zones = tuple(f"z{number}" for number in range(MAX_ZONES + 1))
    with pytest.raises(
        MachineUnsuitable, match="--zones names 9 zones and a machine runs at most 8 nodes: name fewer"
    ):
        plan_nodes(zones, NETWORK)
