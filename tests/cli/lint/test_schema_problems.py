"""Values against schemas: built-in kinds and those of Steward."""

# ruff: noqa: E501 -- a case is one line

from __future__ import annotations

from typing import Any

import pytest

from steward.cli.documents import parse_documents
from steward.cli.lint.builtin_kinds import kind_problem
from steward.cli.lint.checks import lint
from steward.cli.lint.own_kinds import API_VERSIONS, SPECS
from steward.cli.lint.template_checks import object_problems
from steward.kube.crd.schema import schema_of


def deployment(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}


def pod(**container: Any) -> dict[str, Any]:
    return deployment(template={"spec": {"containers": [container]}})


CONTAINER = "spec.template.spec.containers[0]"
CASES = [
    (deployment(replica=3), "spec.replica", "there is no such field; did you mean replicas?"),
    (deployment(replicas="3"), "spec.replicas", "must be a whole number, and is text: remove the quotes"),
    (deployment(replicas=True), "spec.replicas", "must be a whole number, and is true"),
    (
        deployment(replicas="{{ .count }}"),
        "spec.replicas",
        "must be a whole number, and this template gives text: write {{ int ... }}",
    ),
    (deployment(replicas="{{ int .count }}"), "", ""),
    (deployment(template="{{ .t }}"), "spec.template", "must be a map, and a template gives text"),
    (pod(env={"A": "b"}), f"{CONTAINER}.env", "must be a list, and is a map"),
    (pod(env=[{"name": "A", "value": 1}]), f"{CONTAINER}.env[0].value", "must be text, and is the number 1: put it in quotes"),
    (pod(resources={"limits": {"cpu": 0.5, "memory": "1Gi"}}), "", ""),
    (pod(readinessProbe={"httpGet": {"port": "http"}}), "", ""),
    (pod(readinessProbe={"httpGet": {"port": [80]}}), f"{CONTAINER}.readinessProbe.httpGet.port", "must be a number or text, and is a list"),
    (deployment(replicas=None), "", ""),
    ({**deployment(), "status": {"anything": 1}}, "", ""),
    ({"apiVersion": "example.com/v1", "kind": "Widget", "spc": 1}, "", ""),
    (
        {"apiVersion": "networking.k8s.io/v1", "kind": "Ingres"},
        "kind",
        "networking.k8s.io/v1 has no kind Ingres; did you mean Ingress?",
    ),
    (
        {"apiVersion": "multigres.com/v1alpha1", "kind": "MultigresCluster", "spec": {"cels": []}},
        "spec.cels",
        "there is no such field; did you mean cells?",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("manifest", "field", "message"), CASES)
def test_an_object_is_compared_with_the_schema_of_its_kind(
    manifest: dict[str, Any], field: str, message: str
) -> None:
    found = [(problem.field.lstrip("."), problem.message) for problem in object_problems(manifest, "")]
    assert found == ([(field, message)] if message else [])


def test_a_version_that_is_no_longer_served_is_named_with_the_one_that_is() -> None:
    assert (
        kind_problem("batch/v1beta1", "CronJob")
        == "CronJob is no longer served in batch/v1beta1: write batch/v1"
    )
    assert kind_problem("example.com/v1", "CronJob") == ""


FIELDS = [(kind, name) for kind in SPECS for name in schema_of(SPECS[kind])["properties"]]


@pytest.mark.parametrize("value", ["[[x]]", "7", "{bogus: [1]}", "''"])
@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_no_message_of_the_decoder_reaches_users(kind: str, name: str, value: str) -> None:
    text = (
        f"apiVersion: {API_VERSIONS[kind]}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{{name}: {value}}}\n"
    )
    for finding in lint(parse_documents("f", text)):
        assert "Expected `" not in finding.message
        assert "Invalid enum" not in finding.message
