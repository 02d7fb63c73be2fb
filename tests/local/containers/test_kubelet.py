"""The configuration and the flags of a kubelet."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.kubelet import kubelet_config, kubelet_flags
from tests.local.containers.support.assemblies import TwoNodes


def test_only_authenticated_callers_reach_a_kubelet(two_nodes: TwoNodes) -> None:
    config = kubelet_config(two_nodes.assembly, two_nodes.containers, two_nodes.containers.nodes[0])
    assert config["authentication"]["anonymous"] == {"enabled": False}
    assert config["authorization"] == {"mode": "Webhook"}
    assert config["readOnlyPort"] == 0
    assert config["address"] == "10.88.0.2"
    assert Path(config["tlsCertFile"]).name == "kubelet-node-1-server-10.88.0.2.crt"


def test_two_kubelets_share_neither_cgroup_nor_port_nor_directory(two_nodes: TwoNodes) -> None:
    first, second = (
        kubelet_config(two_nodes.assembly, two_nodes.containers, node) for node in two_nodes.containers.nodes
    )
    for field in ("cgroupRoot", "port", "healthzPort", "podLogsDir", "containerRuntimeEndpoint"):
        assert first[field] != second[field]


def test_a_kubelet_works_with_both_versions_of_cgroups_and_changes_no_firewall(two_nodes: TwoNodes) -> None:
    config = kubelet_config(two_nodes.assembly, two_nodes.containers, two_nodes.containers.nodes[0])
    assert config["failCgroupV1"] is False
    assert config["makeIPTablesUtilChains"] is False


def test_nodes_have_the_labels_of_their_zone(two_nodes: TwoNodes) -> None:
    flags = kubelet_flags(two_nodes.assembly, two_nodes.containers.nodes[1], Path("/k"))
    assert (
        "--node-labels=topology.kubernetes.io/region=local,topology.kubernetes.io/zone=z2,steward.local/node=true"
        in flags
    )


def test_sockets_have_short_paths_in_a_directory_with_a_long_one(two_nodes: TwoNodes) -> None:
    """Linux limits them to 107 characters; kubelets make theirs below --root-dir."""
    node = two_nodes.containers.nodes[0]
    assert "--root-dir=/var/lib/kubelet" in kubelet_flags(two_nodes.assembly, node, Path("/k"))
    assert len(str(node.socket)) < 50
