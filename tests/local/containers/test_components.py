"""Command lines and files of a cluster with two nodes."""

from __future__ import annotations

from pathlib import Path

from steward.local import components
from steward.local.certificates import Certificates
from steward.local.containers.components import leaves, listeners
from steward.local.settings import CLUSTER_COMPONENTS, SHARED_COMPONENTS
from steward.local.startup import start_groups
from tests.local.containers.support.assemblies import TwoNodes, container_assembly
from tests.support.yaml_text import load_yaml

OF_NODES = ("containerd-node-1", "containerd-node-2", "kubelet-node-1", "kubelet-node-2")


def test_there_is_a_containerd_and_a_kubelet_for_each_zone_and_the_rest_once(two_nodes: TwoNodes) -> None:
    names = tuple(components.commands(two_nodes.assembly))
    assert names == (*SHARED_COMPONENTS, *OF_NODES, *CLUSTER_COMPONENTS)


def test_every_process_starts_in_one_group_and_containerd_before_its_kubelet(two_nodes: TwoNodes) -> None:
    groups = start_groups(two_nodes.containers)
    started = [name for group in groups for name in group]
    assert sorted(started) == sorted(components.commands(two_nodes.assembly))
    assert (
        started.index("containerd-node-2") < started.index("kube-apiserver") < started.index("kubelet-node-1")
    )


def test_the_api_server_listens_on_the_bridge_and_authorizes_nodes(two_nodes: TwoNodes) -> None:
    flags = components.commands(two_nodes.assembly)["kube-apiserver"]
    assert "--bind-address=10.88.0.1" in flags
    assert "--advertise-address=10.88.0.1" in flags
    assert "--authorization-mode=Node,RBAC" in flags
    assert "--enable-admission-plugins=NodeRestriction" in flags
    assert not any(flag.startswith("--endpoint-reconciler-type") for flag in flags)


def test_nothing_listens_on_all_addresses(two_nodes: TwoNodes) -> None:
    written = components.files(two_nodes.assembly).values()
    flags = [flag for command in components.commands(two_nodes.assembly).values() for flag in command]
    assert not any("0.0.0.0:" in text or "--bind-address=0.0.0.0" in text for text in (*written, *flags))


def test_missing_heartbeats_are_noticed(two_nodes: TwoNodes) -> None:
    flags = components.commands(two_nodes.assembly)["kube-controller-manager"]
    assert not any(flag.startswith("--node-monitor-grace-period") for flag in flags)


def test_every_file_that_a_command_names_is_written(two_nodes: TwoNodes) -> None:
    layout, written = two_nodes.assembly.layout, set(map(str, components.files(two_nodes.assembly)))
    for command in components.commands(two_nodes.assembly).values():
        for argument in command:
            value = argument.rpartition("=")[2]
            if value.startswith(f"{layout.config}/"):
                assert value in written
            elif value.startswith(f"{layout.certificates}/"):
                assert Path(value).is_file()


def test_a_kubelet_joins_the_mount_namespace_of_its_own_containerd(two_nodes: TwoNodes) -> None:
    command = components.commands(two_nodes.assembly)["kubelet-node-2"]
    joined = command[command.index("--join") + 1]
    assert joined == str(two_nodes.assembly.layout.processes / "containerd-node-2.pid")


def test_each_containerd_sees_directories_of_its_own(two_nodes: TwoNodes) -> None:
    commands = components.commands(two_nodes.assembly)
    binds = {
        command[index + 1]: command[index + 2]
        for command in (commands["containerd-node-1"], commands["containerd-node-2"])
        for index, word in enumerate(command)
        if word == "--bind"
    }
    assert len(binds) == 8
    assert set(binds.values()) == {
        "/run/containerd",
        "/var/lib/cni",
        "/var/lib/kubelet",
        "/var/log/containers",
    }
    kept = {source for source, target in binds.items() if target == "/var/lib/kubelet"}
    assert kept == {str(two_nodes.assembly.layout.nodes / name / "kubelet") for name in ("node-1", "node-2")}
    assert all(source.startswith("/run/steward-local/node-") for source in binds.keys() - kept)


def test_the_search_path_does_not_depend_on_the_users(two_nodes: TwoNodes) -> None:
    command = components.commands(two_nodes.assembly)["kube-proxy"]
    assert command[1] == (
        "PATH=/packages/usr/bin:/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    )


def test_the_provisioner_knows_the_zone_of_each_node(two_nodes: TwoNodes) -> None:
    command = components.commands(two_nodes.assembly)["volume-provisioner"]
    assert [command[index + 1] for index, word in enumerate(command) if word == "--node"] == [
        "node-1=z1",
        "node-2=z2",
    ]


def test_every_listener_has_a_port_of_its_own() -> None:
    names = listeners(container_assembly().nodes)
    assert len(names) == len(set(names))
    assert "kwok" not in names


def test_certificates_are_for_the_addresses_of_this_subnet_only(two_nodes: TwoNodes) -> None:
    moved = {leaf.name for leaf in leaves(container_assembly("10.89.0.0/24"))}
    present = {leaf.name for leaf in leaves(two_nodes.containers)}
    assert {"kube-apiserver-10.89.0.1", "kubelet-node-1-server-10.89.0.2"} <= moved - present


def test_a_kubelet_has_the_user_of_its_node(two_nodes: TwoNodes) -> None:
    written = components.files(two_nodes.assembly)
    config = load_yaml(written[two_nodes.assembly.layout.config / "kubelet-node-1.kubeconfig"])
    assert config["clusters"][0]["cluster"]["server"].startswith("https://10.88.0.1:")
    assert config["users"][0]["name"] == "kubelet-node-1"
    assert isinstance(two_nodes.assembly.certificates, Certificates)
