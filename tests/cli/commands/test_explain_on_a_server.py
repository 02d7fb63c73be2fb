"""`steward explain NAME`: reads the cluster and its templates from a server."""

import json

import pytest
from click.testing import CliRunner, Result

from steward.cli.commands.explain import command
from steward.local.control_plane import ControlPlane
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.support import definitions
from tests.support.kubectl import Kubectl


@pytest.fixture
def explained(control_plane: ControlPlane, namespace: str) -> list[str]:
    """Options for a namespace with one cluster and one template."""
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    gates = {"multiGateway": {"replicas": 2}}
    cluster = {"cells": [{"zone": "z1", "cellTemplate": "gates"}]}
    items = [
        {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        for kind, name, spec in (("CellTemplate", "gates", gates), ("MultigresCluster", "shop", cluster))
    ]
    kubectl(
        "create", "-n", namespace, "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items}
    )
    return ["-n", namespace, "--kubeconfig", str(control_plane.kubeconfig)]


def run(*args: str) -> Result:
    return CliRunner().invoke(command, list(args))


def test_values_of_a_cluster_on_a_server_are_shown_with_their_sources(explained: list[str]) -> None:
    result = run("shop", *explained, "-o", "json")
    assert result.exit_code == 0, result.output
    rows = {row["path"]: (row["value"], row["source"]) for row in json.loads(result.output)}
    assert rows["cells[z1].multiGateway.replicas"] == (2, "CellTemplate gates")
    assert rows["globalTopoServer.etcd.replicas"] == (3, "built-in")


def test_a_missing_cluster_is_reported_in_one_sentence(explained: list[str]) -> None:
    result = run("elsewhere", *explained)
    assert result.exit_code == 1
    assert "there is no MultigresCluster elsewhere in " in result.output
    assert "Traceback" not in result.output
