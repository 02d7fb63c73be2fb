"""The configuration of kube-proxy."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.proxy import proxy_config
from tests.local.containers.support.assemblies import TwoNodes


def test_other_machines_do_not_reach_node_ports(two_nodes: TwoNodes) -> None:
    config = proxy_config(two_nodes.containers, two_nodes.assembly.ports, Path("/k"))
    assert config["nodePortAddresses"] == ["10.88.0.0/24"]
    assert config["iptables"]["localhostNodePorts"] is False


def test_the_kernels_limits_for_connections_stay(two_nodes: TwoNodes) -> None:
    config = proxy_config(two_nodes.containers, two_nodes.assembly.ports, Path("/k"))
    assert set(config["conntrack"].values()) == {0, "0s"}
