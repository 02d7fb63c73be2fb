"""Files for other tools match Steward: k9s views and plugins, and an OpenTelemetry collector."""

import re
from typing import Any

import pytest

from steward.kube.crd.schema import CustomKind, definition
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.support.command_lines import usage_error
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml, load_yaml_documents

CONFIG = ROOT / "config"
KINDS = {f"{custom.api_version}/{custom.plural}": custom for custom in (*MULTIGRES_KINDS, *TENANT_KINDS)}
VIEWS: dict[str, Any] = load_yaml((CONFIG / "k9s/views.yaml").read_text())["views"]
PLUGINS: dict[str, Any] = load_yaml((CONFIG / "k9s/plugins.yaml").read_text())["plugins"]
COLLECTOR = CONFIG / "samples/monitoring/otel-collector.yaml"


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_of_a_view_is_a_field_of_its_kind(view: str) -> None:
    paths = [column.partition(":")[2] for column in VIEWS[view]["columns"] if ":" in column]

    assert [path for path in paths if not _has(KINDS[view], path)] == []


def _has(custom: CustomKind, path: str) -> bool:
    schema = definition(custom)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for name in re.sub(r"\[\*\]", "", path).strip(".").split("."):
        schema = schema.get("items", schema).get("properties", {}).get(name)
        if schema is None:
            return False
    return True


@pytest.mark.parametrize("name", PLUGINS)
def test_every_key_runs_a_command_that_can_be_typed(name: str) -> None:
    plugin = PLUGINS[name]
    line = plugin["args"][-1].partition(";")[0]
    for word, value in {
        "RESOURCE_NAME": plugin["scopes"][0],
        "NAME": "x",
        "NAMESPACE": "y",
        "CONTEXT": "z",
    }.items():
        line = re.sub(rf"\${word}\b", value, line)

    assert usage_error(line) == ""
    assert set(plugin["scopes"]) <= {custom.plural for custom in KINDS.values()}


def test_the_collector_is_accepted_in_a_restricted_namespace(
    control_plane: ControlPlane, namespace: str
) -> None:
    kubectl = Kubectl(control_plane.kubeconfig)
    kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")

    output = kubectl("apply", "-n", namespace, "--dry-run=server", "-f", str(COLLECTOR))

    assert "violate" not in output


def test_every_pipeline_of_the_collector_names_configured_parts() -> None:
    [found] = [each for each in load_yaml_documents(COLLECTOR.read_text()) if each["kind"] == "ConfigMap"]
    config = load_yaml(found["data"]["collector.yaml"])

    named = {
        (part, name)
        for pipeline in config["service"]["pipelines"].values()
        for part, names in pipeline.items()
        for name in names
    }

    assert named
    assert [each for each in named if each[1] not in config[each[0]]] == []
