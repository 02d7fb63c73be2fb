from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
import yaml

from steward.local import certificates, ports
from steward.local.bootstrap.objects import nodes, storage_classes
from steward.local.components import Assembly, commands, files
from steward.local.settings import COMPONENTS, ControlPlaneSettings, Layout


@pytest.fixture
def assembly(tmp_path: Path) -> Assembly:
    layout = Layout(tmp_path)
    binaries = {name: Path(f"/bin/{name}") for name in COMPONENTS}
    keys = certificates.ensure(layout.certificates)
    return Assembly(ControlPlaneSettings(tmp_path), layout, keys, ports.choose({}, None), binaries)


def test_every_component_has_a_command_in_the_order_of_the_start(assembly: Assembly) -> None:
    assert tuple(commands(assembly)) == COMPONENTS


def test_everything_listens_on_loopback_alone(assembly: Assembly) -> None:
    flags = [flag for command in commands(assembly).values() for flag in command]
    listening = [
        flag for flag in flags if flag.startswith(("--listen", "--bind-address", "--server-address"))
    ]
    assert len(listening) == 6
    assert all("127.0.0.1" in flag for flag in listening)


def test_every_file_that_a_command_names_is_written_or_made(assembly: Assembly) -> None:
    written = {str(path) for path in files(assembly)}
    for command in commands(assembly).values():
        for flag in command[1:]:
            _, _, value = flag.partition("=")
            if value.startswith(str(assembly.layout.config)):
                assert value in written
            elif value.startswith(str(assembly.layout.certificates)):
                assert Path(value).is_file()


def test_what_pods_have_logged_is_a_file_that_is_written(assembly: Assembly) -> None:
    made = files(assembly)
    config = list(yaml.safe_load_all(made[assembly.layout.config / "kwok.yaml"]))
    [logs] = [each["spec"]["logs"] for each in config if each["kind"] == "ClusterLogs"]
    told = {made[Path(file)] for log in logs for file in log.values()}
    assert all(re.fullmatch(r"[-0-9T:]+Z stdout F No container runs .*\n", text) for text in told)


def test_nodes_are_reached_where_kwok_listens_on_this_start(assembly: Assembly) -> None:
    config = yaml.safe_load_all(files(assembly)[assembly.layout.config / "kwok.yaml"])
    [reached] = [each["spec"] for each in config if each["metadata"]["name"] == "node-reached"]
    port = str(assembly.ports["kwok"])
    assert reached["selector"]["matchExpressions"][0]["jq"]["values"] == [port]
    assert f"Port: {port}" in reached["steps"][0]["patch"]["template"]


def test_the_kubeconfig_stands_alone(assembly: Assembly) -> None:
    config = yaml.safe_load(files(assembly)[assembly.layout.kubeconfig])
    assert config["clusters"][0]["cluster"]["server"] == assembly.url
    key = base64.b64decode(config["users"][0]["user"]["client-key-data"])
    assert key == assembly.certificates.client("admin").key.read_bytes()


def test_the_audit_policy_records_every_call_once(assembly: Assembly) -> None:
    policy = yaml.safe_load(files(assembly)[assembly.layout.config / "audit.yaml"])
    assert policy["rules"] == [{"level": "Metadata"}]
    assert policy["omitStages"] == ["RequestReceived"]


def test_nodes_are_spread_over_the_zones_and_share_no_addresses() -> None:
    made = nodes(ControlPlaneSettings(Path("/x"), nodes=5, zones=("a", "b")))
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in made]
    assert zones == ["a", "b", "a", "b", "a"]
    assert len({node["spec"]["podCIDR"] for node in made}) == 5


def test_one_class_grows_and_is_the_default_and_one_does_not() -> None:
    growth = {each["metadata"]["name"]: each["allowVolumeExpansion"] for each in storage_classes()}
    assert growth == {"standard": True, "fixed": False}
