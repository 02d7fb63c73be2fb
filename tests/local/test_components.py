from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path

import pytest

from steward.local import certificates, ports
from steward.local.assembly import Assembly
from steward.local.bootstrap.objects import nodes, storage_classes
from steward.local.components import commands, files
from steward.local.settings import COMPONENTS, ControlPlaneSettings, Layout
from tests.support.yaml_text import load_yaml, load_yaml_documents


@pytest.fixture
def assembly(tmp_path: Path) -> Assembly:
    layout = Layout(tmp_path)
    binaries = {name: Path(f"/bin/{name}") for name in COMPONENTS}
    keys = certificates.ensure(layout.certificates)
    return Assembly(ControlPlaneSettings(tmp_path), layout, keys, ports.choose_ports({}, None), binaries)


def test_commands_are_in_the_order_of_the_start(assembly: Assembly) -> None:
    assert tuple(commands(assembly)) == COMPONENTS


def test_everything_listens_only_on_loopback(assembly: Assembly) -> None:
    flags = [flag for command in commands(assembly).values() for flag in command]
    listening = [
        flag for flag in flags if flag.startswith(("--listen", "--bind-address", "--server-address"))
    ]
    assert len(listening) == 6
    assert all("127.0.0.1" in flag for flag in listening)


def test_every_file_that_a_command_names_exists(assembly: Assembly) -> None:
    written = {str(path) for path in files(assembly)}
    for command in commands(assembly).values():
        for flag in command[1:]:
            _, _, value = flag.partition("=")
            if value.startswith(str(assembly.layout.config)):
                assert value in written
            elif value.startswith(str(assembly.layout.certificates)):
                assert Path(value).is_file()


def test_the_log_of_all_pods_is_a_written_file(assembly: Assembly) -> None:
    written = files(assembly)
    config = list(load_yaml_documents(written[assembly.layout.config / "kwok.yaml"]))
    [logs] = [item["spec"]["logs"] for item in config if item["kind"] == "ClusterLogs"]
    texts = {written[Path(file)] for log in logs for file in log.values()}
    assert all(re.fullmatch(r"[-0-9T:]+Z stdout F No container runs .*\n", text) for text in texts)


def test_nodes_have_the_kubelet_port_of_this_start(assembly: Assembly) -> None:
    config = load_yaml_documents(files(assembly)[assembly.layout.config / "kwok.yaml"])
    [stage] = [item["spec"] for item in config if item["metadata"]["name"] == "node-reached"]
    port = str(assembly.ports["kwok"])
    assert stage["selector"]["matchExpressions"][0]["jq"]["values"] == [port]
    assert f"Port: {port}" in stage["steps"][0]["patch"]["template"]


def test_the_kubeconfig_embeds_its_certificates(assembly: Assembly) -> None:
    config = load_yaml(files(assembly)[assembly.layout.kubeconfig])
    assert config["clusters"][0]["cluster"]["server"] == assembly.url
    key = base64.b64decode(config["users"][0]["user"]["client-key-data"])
    assert key == assembly.certificates.client("admin").key.read_bytes()


def test_all_controllers_run_but_the_disabled_ones(assembly: Assembly) -> None:
    settings = replace(assembly.settings, disabled_controllers=("ttl-controller", "endpoints-controller"))
    command = commands(replace(assembly, settings=settings))["kube-controller-manager"]
    assert "--controllers=*,-ttl-controller,-endpoints-controller" in command
    assert not any(flag.startswith("--controllers") for flag in commands(assembly)["kube-controller-manager"])


def test_flags_that_are_given_follow_those_of_the_api_server(assembly: Assembly) -> None:
    settings = replace(assembly.settings, api_server_flags=("--event-ttl=2h",))
    before = commands(assembly)["kube-apiserver"]
    assert commands(replace(assembly, settings=settings))["kube-apiserver"] == [*before, "--event-ttl=2h"]


def test_the_audit_policy_records_every_call_once(assembly: Assembly) -> None:
    policy = load_yaml(files(assembly)[assembly.layout.config / "audit.yaml"])
    assert policy["rules"] == [{"level": "Metadata"}]
    assert policy["omitStages"] == ["RequestReceived"]


def test_nodes_are_spread_over_the_zones_and_share_no_addresses() -> None:
    created = nodes(ControlPlaneSettings(Path("/x"), nodes=5, zones=("a", "b")))
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in created]
    assert zones == ["a", "b", "a", "b", "a"]
    assert len({node["spec"]["podCIDR"] for node in created}) == 5


def test_the_default_storage_class_can_expand_and_the_other_cannot() -> None:
    expandable = {item["metadata"]["name"]: item["allowVolumeExpansion"] for item in storage_classes()}
    assert expandable == {"standard": True, "fixed": False}
