"""A template whose objects no row can make is refused."""

from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.validation.problems import Problem
from steward.tenants.validation.template import validate_template
from tests.tenants.support.manifests import CONFIG_MAP, template

POD = {"metadata": {"labels": {"app": "{{ .uid }}"}}, "spec": {"containers": []}}
SELECTOR = {"matchLabels": {"app": "{{ .uid }}"}}


def problems(spec: dict[str, Any], **fields: Any) -> list[Problem]:
    manifests = [{"id": "it", "spec": spec, **fields}]
    return validate_template(
        msgspec.convert(template(configMaps=[], manifests=manifests)["spec"], TenantTemplateSpec)
    )


def workload(kind: str, api_version: str = "apps/v1", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "spec": {"template": POD, **spec}}


@pytest.mark.parametrize(
    ("metadata", "fields"),
    [({}, {}), ({"name": ""}, {}), ({"name": None}, {}), ({"labels": {}}, {"nameTemplate": ""})],
)
def test_a_resource_without_a_name_is_a_problem(metadata: dict[str, Any], fields: dict[str, Any]) -> None:
    [found] = problems({**CONFIG_MAP, "metadata": metadata}, **fields)
    assert found.field == "spec.manifests[it].nameTemplate"
    assert found.message.startswith("is missing, and so is spec.metadata.name: set one")


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (CONFIG_MAP, {"nameTemplate": "{{ .uid }}"}),
        (CONFIG_MAP, {"nameTemplate": "constant"}),
        ({**CONFIG_MAP, "metadata": {"name": "{{ .uid }}"}}, {}),
    ],
)
def test_a_name_may_be_in_either_field(spec: dict[str, Any], fields: dict[str, Any]) -> None:
    assert problems(spec, **fields) == []


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"])
@pytest.mark.parametrize("selector", [{}, {"selector": {}}, {"selector": None}])
def test_a_workload_without_a_selector_is_a_problem(kind: str, selector: dict[str, Any]) -> None:
    [found] = problems(workload(kind, **selector), nameTemplate="{{ .uid }}")
    assert found.field == "spec.manifests[it].spec.spec.selector"


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (workload("Deployment", selector=SELECTOR), {}),
        (workload("Job", "batch/v1"), {}),
        (workload("Deployment", "example.com/v1"), {}),
        (workload("Deployment"), {"conflictPolicy": "Force"}),
    ],
)
def test_no_selector_is_asked_for_where_none_is_needed(spec: dict[str, Any], fields: dict[str, Any]) -> None:
    assert problems(spec, nameTemplate="{{ .uid }}", **fields) == []
