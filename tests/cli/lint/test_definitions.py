"""Schemas of custom kinds, from definitions among the files and from the OpenAPI documents of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from steward.cli.documents import parse_documents
from steward.cli.lint.checks import lint
from steward.cli.lint.definitions import (
    OFFLINE,
    Definitions,
    custom_kinds,
    openapi_schemas,
    plain_schema,
    unserved_message,
)
from steward.cli.lint.template_checks import object_problems

WIDGET = ("example.com/v1", "Widget")
SPEC = {
    "type": "object",
    "required": ["size", "mode"],
    "properties": {
        "size": {"type": "integer"},
        "mode": {"type": "string", "default": "fast", "enum": ["fast", "slow"]},
        "level": {"type": "integer", "enum": [1, 2]},
        "code": {"type": "string", "pattern": r"\p{Lu}+"},
    },
}
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
---
"""
TEMPLATE = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {name: web}
spec:
  registryId: crm
  manifests:
    - id: widget
      nameTemplate: "{{ .uid }}"
      spec: {apiVersion: example.com/v1, kind: Widget, spec: {siz: 3}}
"""


def served(**spec: Any) -> Definitions:
    document = {
        "components": {
            "schemas": {
                "com.example.v1.Widget": {
                    "type": "object",
                    "properties": {
                        "metadata": {"allOf": [{"$ref": "#/components/schemas/ObjectMeta"}]},
                        "spec": spec or SPEC,
                    },
                    "x-kubernetes-group-version-kind": [
                        {"group": "example.com", "version": "v1", "kind": "Widget"}
                    ],
                },
            }
        }
    }
    return Definitions(schemas=openapi_schemas("example.com/v1", document))


def widget(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": WIDGET[0], "kind": WIDGET[1], "metadata": {"name": "w"}, "spec": spec}


def problems(manifest: dict[str, Any], definitions: Definitions) -> list[tuple[str, str]]:
    return [(each.field.lstrip("."), each.message) for each in object_problems(manifest, "", definitions)]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"siz": 3, "size": 3}, "spec.siz", "there is no such field; did you mean size?"),
        ({"size": "3"}, "spec.size", "must be a whole number, and is text: remove the quotes"),
        ({}, "spec.size", "is missing"),
        (
            {"size": 3, "mode": "fats"},
            "spec.mode",
            "is 'fats', and must be one of: fast, slow; did you mean fast?",
        ),
        ({"size": 3, "level": 4}, "spec.level", "is '4', and must be one of: 1, 2"),
        ({"size": 3, "code": "a pattern that only the server knows"}, "", ""),
        ({"size": "{{ int .size }}"}, "", ""),
    ],
)
def test_an_object_of_a_custom_kind_is_compared_with_the_schema_of_the_cluster(
    spec: dict[str, Any], field: str, message: str
) -> None:
    assert problems(widget(**spec), served()) == ([(field, message)] if message else [])


def test_without_a_definition_a_custom_kind_is_not_checked() -> None:
    assert problems(widget(siz=3), OFFLINE) == []


def test_a_definition_among_the_files_is_used_without_a_cluster() -> None:
    documents = list(parse_documents("t.yaml", DEFINITION + TEMPLATE))
    [finding] = lint(documents)
    assert finding.message.endswith("spec.siz: there is no such field; did you mean size?")


def test_a_kind_that_the_cluster_does_not_have_is_an_error_unless_the_files_define_it() -> None:
    missing = Definitions(unserved={WIDGET: unserved_message(WIDGET, [])})
    cure = "the cluster has no kind Widget in example.com/v1: apply its definition first"
    assert problems(widget(size=3), missing) == [("kind", cure)]
    defined = missing.with_files(parse_documents("d.yaml", DEFINITION))
    assert problems(widget(size=3), defined) == []


def test_a_misspelt_custom_kind_gets_a_suggestion() -> None:
    message = unserved_message(("example.com/v1", "Widgt"), ["Widget", "WidgetList"])
    assert message == "the cluster has no kind Widgt in example.com/v1; did you mean Widget?"


def test_only_kinds_that_steward_does_not_know_are_asked_for() -> None:
    others = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\n"
    rendered = TEMPLATE.replace("kind: Widget", "kind: '{{ .kind }}'")
    assert custom_kinds(parse_documents("t.yaml", others + TEMPLATE)) == {WIDGET}
    assert custom_kinds(parse_documents("t.yaml", rendered)) == set()


def test_a_registry_that_neither_the_files_nor_the_cluster_have_is_an_error() -> None:
    [finding] = lint(parse_documents("t.yaml", TEMPLATE), Definitions(has_cluster=True))
    assert (finding.severity, finding.message) == (
        "error",
        "TenantTemplate/web: spec.registryId: no TenantRegistry crm is among the files or in the cluster",
    )


def test_a_reference_to_another_type_allows_everything() -> None:
    assert plain_schema({"$ref": "#/components/schemas/ObjectMeta"}) == {}
