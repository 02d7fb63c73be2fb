"""Problems that make a template invalid, and advice."""

from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.validation.problems import Problem
from steward.tenants.validation.template import (
    MAX_PROBLEMS,
    MAX_RESOURCES,
    MAX_TEXTS,
    advise_template,
    validate_template,
)
from tests.tenants.support.manifests import CONFIG_MAP, resource, template


def typed(**lists: Any) -> TenantTemplateSpec:
    return msgspec.convert(template(**{"configMaps": [], **lists})["spec"], TenantTemplateSpec)


def problems(*resources: dict[str, Any], profile: str = "hermetic") -> list[Problem]:
    return validate_template(typed(configMaps=list(resources)), profile)


def test_a_valid_template_has_no_problems() -> None:
    assert problems(resource("a"), resource("b", dependIds=["a"], ignoreFields=["$.data.x"])) == []


@pytest.mark.parametrize("when", ["yes", "1", "True", " "])
def test_a_constant_when_is_true_or_false(when: str) -> None:
    [found] = problems(resource("a", when=when))
    assert found.field == "spec.configMaps[a].when"
    assert "neither true nor false" in found.message


@pytest.mark.parametrize("when", ["true", "false", "", " true\n", "{{ .flag }}"])
def test_a_when_that_may_be_true_or_false_is_accepted(when: str) -> None:
    assert problems(resource("a", when=when)) == []


def test_extra_variables_are_no_error() -> None:
    assert problems(resource(nameTemplate="{{ .uid }}-{{ .planId }}", labelsTemplate={"a": "{{ .b }}"})) == []


def test_ids_are_unique_across_all_lists() -> None:
    found = validate_template(typed(configMaps=[resource("a")], services=[resource("a")]))
    assert [problem.field for problem in found] == ["spec.services[a].id", "spec.configMaps[a].id"]


def test_an_unknown_dependency_is_reported_with_both_ids() -> None:
    [found] = problems(resource("a", dependIds=["b"]))
    assert found.field == "spec.configMaps[a].dependIds"
    assert "'a' depends on 'b'" in found.message


def test_a_too_deeply_nested_object_is_reported_with_all_other_problems() -> None:
    deep: Any = "{{ .uid"
    for _ in range(5000):
        deep = {"a": [deep]}
    shown = problems(
        resource("deep", spec={**CONFIG_MAP, "data": deep}), resource("b", nameTemplate="{{ .uid")
    )
    assert [problem.field for problem in shown] == [
        "spec.configMaps[deep].spec",
        "spec.configMaps[b].nameTemplate",
    ]
    assert "flatten it" in shown[0].message


def test_more_texts_than_can_be_parsed_in_time_are_one_problem() -> None:
    data = {f"k{number}": "{{ .uid" for number in range(MAX_TEXTS - 1)}
    bad = resource(spec={**CONFIG_MAP, "data": data})
    assert len(problems(bad)) == MAX_PROBLEMS
    data["one more"] = "{{ .uid }}"
    [found] = problems(bad)
    assert "make several templates of it" in found.message


def test_more_resources_than_a_status_can_record_are_a_problem() -> None:
    resources = [resource(f"r{number}") for number in range(MAX_RESOURCES)]
    assert problems(*resources) == []
    [found] = problems(*resources, resource("one more"))
    assert (found.field, found.message) == (
        "spec",
        "has 501 resources, and may have 500: make several templates of it",
    )


@pytest.mark.parametrize(
    ("depends", "path"),
    [
        ({"A": ["A"]}, "A -> A"),
        ({"A": ["B"], "B": ["A"]}, "A -> B -> A"),
        ({"A": ["B"], "B": ["C"], "C": ["A"]}, "A -> B -> C -> A"),
    ],
)
def test_a_cycle_is_reported_with_its_path(depends: dict[str, list[str]], path: str) -> None:
    [found] = problems(*(resource(name, dependIds=ids) for name, ids in depends.items()))
    assert f"Dependency cycle detected: {path};" in found.message


@pytest.mark.parametrize(
    ("fields", "field", "message", "line"),
    [
        ({"nameTemplate": "{{ .uid"}, "nameTemplate", "unclosed action", 1),
        ({"nameTemplate": "{{ nosuch .uid }}"}, "nameTemplate", 'function "nosuch" not defined', 1),
        ({"nameTemplate": "{{ | upper }}"}, "nameTemplate", "template:", 1),
        ({"nameTemplate": '{{ env "HOME" }}'}, "nameTemplate", 'function "env" not defined', 1),
        ({"nameTemplate": "{{ uuidv4 }}"}, "nameTemplate", "profile full", 1),
        ({"targetNamespace": "{{ end }}"}, "targetNamespace", "unexpected {{end}}", 1),
        ({"labelsTemplate": {"x": "{{ if }}"}}, "labelsTemplate.x", "missing value for if", 1),
        ({"annotationsTemplate": {"x": "{{ $y }}"}}, "annotationsTemplate.x", "undefined variable", 1),
        ({"when": "{{ ( }}"}, "when", "template:", 1),
        ({"readyWhen": "{{ upper }}"}, "readyWhen", "wrong number of args for upper", 1),
        (
            {"spec": {**CONFIG_MAP, "data": {"list": ["x", "a\n{{ nosuch }}"]}}},
            "spec.data.list[1]",
            'function "nosuch" not defined',
            2,
        ),
    ],
)
def test_every_text_is_parsed(fields: dict[str, Any], field: str, message: str, line: int) -> None:
    found = problems(resource(**fields))[0]
    assert found.field == f"spec.configMaps[config].{field}"
    assert message in found.message
    assert found.line == line


def test_an_error_shows_the_line_with_a_caret_and_what_was_meant() -> None:
    [found] = problems(resource(nameTemplate="x-{{ uper .uid }}"))
    assert found.column == 5
    assert found.message.splitlines()[1:] == [
        "    1 | x-{{ uper .uid }}",
        "      |      ^",
        "did you mean upper?",
    ]


def test_the_full_profile_allows_functions_that_the_hermetic_one_rejects() -> None:
    assert problems(resource(nameTemplate="{{ uuidv4 }}"), profile="full") == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"spec": {"kind": "ConfigMap"}}, "spec.apiVersion"),
        ({"spec": {"apiVersion": "v1"}}, "spec.kind"),
        ({"spec": {**CONFIG_MAP, "metadata": {"labels": "x"}}}, "spec.metadata.labels"),
        ({"ignoreFields": ["$.a", "spec.replicas"]}, "ignoreFields[1]"),
    ],
)
def test_an_object_that_no_api_server_accepts_is_reported(fields: dict[str, Any], field: str) -> None:
    [found] = problems(resource(**fields))
    assert found.field == f"spec.configMaps[config].{field}"


def test_all_problems_are_reported_at_once() -> None:
    found = problems(
        resource("a", dependIds=["x"], nameTemplate="{{", when="{{ nosuch }}", ignoreFields=["x"]),
        resource("a"),
    )
    assert len(found) == 6


def test_an_object_in_the_wrong_list_is_advised_against() -> None:
    [found] = advise_template(typed(deployments=[resource()]))
    assert found == Problem(
        "spec.deployments[config].spec.kind",
        "is ConfigMap, and this list is for kind Deployment: use manifests",
    )


def test_a_variable_that_no_column_gives_is_advised_against() -> None:
    spec = typed(
        configMaps=[resource(labelsTemplate={"p": "{{ .planId }}-{{ .typo }}"}, readyWhen="{{ .status }}")]
    )
    assert advise_template(spec) == []
    [found] = advise_template(spec, ["planId"])
    assert (found.field, found.line, found.column) == ("spec.configMaps[config].labelsTemplate.p", 1, 17)
    assert ".typo" in found.message


def test_functions_that_change_with_every_rendering_are_advised_against() -> None:
    [found] = advise_template(typed(configMaps=[resource(nameTemplate="{{ now }}")]), profile="full")
    assert "now gives another result" in found.message
    assert "creationPolicy: Once keeps the first" in found.message


def test_functions_whose_result_is_kept_need_no_advice() -> None:
    once = resource(nameTemplate="{{ uuidv4 }}", creationPolicy="Once")
    assert advise_template(typed(configMaps=[once]), profile="full") == []


def test_the_refusal_of_a_random_function_names_the_cure() -> None:
    [found] = problems(resource(nameTemplate="{{ uuidv4 }}"))
    assert found.message.splitlines()[-1] == (
        "its result differs each time. For a password, use generate of a Secret. Otherwise set templateProfile: full "
        "in the TenantRegistry, and creationPolicy: Once here, so that it is called once for each Tenant"
    )
