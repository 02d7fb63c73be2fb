"""The configuration of containerd and of the network plugins."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from steward.local.containers.containerd import containerd_config, network_config
from steward.local.containers.nodes import NodeFiles
from steward.local.images.recipes import PAUSE_IMAGE
from tests.local.containers.support.assemblies import TwoNodes


def config(two_nodes: TwoNodes, index: int) -> dict[str, Any]:
    files = NodeFiles(two_nodes.assembly.layout, two_nodes.containers.nodes[index])
    return tomllib.loads(containerd_config(two_nodes.containers, files))


def test_two_nodes_share_neither_socket_nor_root_nor_state(two_nodes: TwoNodes) -> None:
    first, second = config(two_nodes, 0), config(two_nodes, 1)
    for read in (lambda each: each["grpc"]["address"], lambda each: each["root"], lambda each: each["state"]):
        assert read(first) != read(second)


def test_containers_start_without_the_right_to_lower_oom_scores(two_nodes: TwoNodes) -> None:
    cri = config(two_nodes, 0)["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["restrict_oom_score_adj"] is True
    assert cri["sandbox_image"] == PAUSE_IMAGE
    assert cri["netns_mounts_under_state_dir"] is True


def test_runc_and_plugins_are_those_that_were_found(two_nodes: TwoNodes) -> None:
    cri = config(two_nodes, 1)["plugins"]["io.containerd.grpc.v1.cri"]
    options = cri["containerd"]["runtimes"]["runc"]["options"]
    assert options["BinaryName"] == "/usr/sbin/runc"
    assert options["Root"] == "/run/steward-local/node-2/runc"
    assert cri["cni"]["bin_dir"] == "/packages/usr/lib/cni"


def test_pods_get_addresses_of_their_nodes_range_without_masquerading(two_nodes: TwoNodes) -> None:
    node = two_nodes.containers.nodes[1]
    [bridge] = json.loads(network_config(two_nodes.containers, node))["plugins"]
    assert (bridge["ipMasq"], bridge["isGateway"]) == (False, False)
    [[addresses]] = bridge["ipam"]["ranges"]
    assert (addresses["rangeStart"], addresses["rangeEnd"]) == (node.pods.first, node.pods.last)
    assert addresses["gateway"] == "10.88.0.1"
