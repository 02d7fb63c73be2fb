"""check: all problems at once, and what a template uses, without data."""

from __future__ import annotations

import pytest

from steward.gotemplate import check
from steward.gotemplate.analysis.static import Problem, Use


def test_a_good_template_has_no_problems() -> None:
    assert check("{{ .uid | upper }}").problems == []


def test_every_problem_is_listed_in_order() -> None:
    report = check('{{ foo 1 }}{{ now }}\n{{ trunc "x" .a }}{{ template "t" }}{{ upper }}')
    assert [(problem.line, problem.column) for problem in report.problems] == [
        (1, 3),
        (1, 14),
        (2, 9),
        (2, 30),
        (2, 39),
    ]
    assert report.problems[0].text == 'template: template:1: function "foo" not defined'
    assert report.problems[2].text.endswith('at <"x">: expected integer; found "x"')


def test_a_syntax_error_does_not_hide_the_unknown_function_before_it() -> None:
    assert check("{{ foo }}\n{{ if }}").problems == [
        Problem('template: template:1: function "foo" not defined', 1, None),
        Problem("template: template:2: missing value for if", 2, None),
    ]


def test_problems_inside_definitions_that_are_not_invoked_count() -> None:
    assert len(check('{{ define "x" }}{{ upper }}{{ end }}').problems) == 1


def test_variables_are_paths_into_the_data() -> None:
    report = check(
        "{{ .uid }}{{ .spec.size }}\né{{ $.plan }}{{ range .items }}{{ .x }}{{ $.host }}{{ else }}{{ .none }}{{ end }}"
    )
    assert report.variables == [
        Use("uid", 1, 3),
        Use("spec.size", 1, 13),
        Use("plan", 2, 5),
        Use("items", 2, 23),
        Use("host", 2, 43),
        Use("none", 2, 65),
    ]


def test_a_template_that_is_given_the_data_uses_it_too() -> None:
    report = check(
        '{{ define "a" }}{{ .inner }}{{ end }}{{ define "b" }}{{ .not }}{{ end }}'
        '{{ template "a" . }}{{ template "b" .x }}'
    )
    assert [use.name for use in report.variables] == ["x", "inner"]


def test_functions_and_those_that_do_not_repeat() -> None:
    report = check("{{ upper (printf `%s` now) }}{{ randAlpha 3 }}", profile="full")
    assert [use.name for use in report.functions] == ["upper", "printf", "now", "randAlpha"]
    assert report.non_repeatable == [Use("now", 1, 22), Use("randAlpha", 1, 32)]
    assert report.problems == []


def test_a_template_too_deep_for_python_is_a_problem_not_a_crash() -> None:
    source = "{{ " + "upper (" * 95 + "`a`" + ")" * 95 + " }}"
    assert all(problem.line == 1 for problem in check(source).problems)


@pytest.mark.parametrize(
    ("source", "required"),
    [
        ("{{ .a }}{{ $.b }}", ["a", "b"]),
        ('{{ default "x" .a }}{{ .b | default "x" }}{{ coalesce .c "x" }}', []),
        ("{{ if .a }}{{ .a }}{{ .b }}{{ end }}", ["b"]),
        ('{{ if hasKey . "a" }}{{ .a }}{{ end }}', []),
        ("{{ with .a }}{{ . }}{{ $.a }}{{ $.b }}{{ end }}", ["b"]),
        ("{{ if and .a .b }}x{{ end }}", ["a", "b"]),
        ("{{ if .a }}{{ else }}{{ .a }}{{ .b }}{{ end }}", ["b"]),
        ("{{ upper .a | default .b }}", ["a"]),
        ('{{ define "x" }}{{ .z }}{{ end }}{{ if .z }}{{ template "x" . }}{{ end }}', []),
    ],
)
def test_variables_that_may_be_missing_are_not_required(source: str, required: list[str]) -> None:
    report = check(source, functions="tenants", missingkey="defaulted")
    assert [use.name for use in report.required] == required
