"""Whatever a template does, it ends in a template error: budgets are counted, so these tests need no clock."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.gotemplate import BudgetExceeded, Limits, TemplateError, parse
from steward.gotemplate.budget import Budget, Profile, budget_of
from steward.gotemplate.errors import OverBudget
from tests.conformance.gotemplate.hostile import ROW, TEMPLATES


@pytest.mark.parametrize("source", TEMPLATES, ids=range(len(TEMPLATES)))
def test_a_hostile_template_ends_in_a_template_error(source: str) -> None:
    with pytest.raises(TemplateError):
        parse(source).render(ROW)


def test_a_deep_expression_that_python_cannot_nest_is_a_template_error() -> None:
    source = "{{ " + "upper (" * 95 + "`a`" + ")" * 95 + " }}"
    with pytest.raises(BudgetExceeded, match="nested too deeply"):
        parse(source).render({})


def test_a_budget_error_says_where_and_what() -> None:
    with pytest.raises(BudgetExceeded) as caught:
        parse("{{ range 100 }}{{ . }}{{ end }}", limits=Limits(steps=50)).render({})
    assert str(caught.value) == (
        'template: template:1:9: executing "template" at <100>: '
        "takes more than the 50 steps that one rendering may take"
    )
    assert (caught.value.line, caught.value.column) == (1, 9)


def test_output_has_a_limit_of_its_own() -> None:
    with pytest.raises(BudgetExceeded, match="output is larger than 10 bytes"):
        parse("{{ .a }}{{ .a }}", limits=Limits(output=10)).render({"a": "123456"})


def test_a_source_has_a_limit() -> None:
    with pytest.raises(TemplateError, match="source is larger than 10 bytes"):
        parse("12345678901", limits=Limits(source=10))


def test_template_depth_has_a_limit() -> None:
    with pytest.raises(BudgetExceeded, match=r"exceeded maximum template depth \(5\)"):
        parse("{{ define `r` }}{{ template `r` }}{{ end }}{{ template `r` }}", limits=Limits(depth=5)).render(
            {}
        )


def test_a_loop_that_ends_early_is_charged_for_its_turns_only() -> None:
    source = "{{ range 1000 }}{{ if eq . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}"
    assert parse(source, limits=Limits(steps=100)).render({}) == "012"


def test_counters_start_anew_for_every_rendering() -> None:
    template = parse("{{ range 10 }}{{ . }}{{ end }}", limits=Limits(steps=60))
    assert [template.render({}) for _ in range(5)] == ["0123456789"] * 5


def test_building_costs_steps_too() -> None:
    budget = budget_of(Limits(steps=10, built=1 << 30), Profile.HERMETIC)
    with pytest.raises(OverBudget, match="steps"):
        budget.build(1 << 20)


def test_a_plain_budget_knows_its_profile() -> None:
    assert Budget().profile is Profile.HERMETIC
    assert budget_of(Limits(), Profile.FULL).profile is Profile.FULL


WORDS = """{{ }} {{- -}} . .a $ $x := = | ( ) if else end range with define template block break continue nil true
"s" `r` 'c' 1 -2 0x 1.5 1i , upper printf index list dict /* */ é % \\"""
OTHERS = [" ", "\n", "\0", "\udcff", "{{ .a }}", "{{ end }}", "{{ if .a }}", "{{ range .l }}"]
FRAGMENTS = st.sampled_from([*WORDS.split(), *OTHERS])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(FRAGMENTS, max_size=25).map("".join), st.sampled_from(["default", "zero", "error", "defaulted"])
)
def test_no_template_raises_anything_but_a_template_error(source: str, mode: str) -> None:
    data: Any = {"a": 1.0, "l": [1.0, None, "x"], "s": "\udcff"}
    with contextlib.suppress(TemplateError):
        parse(source, missingkey=mode).render_bytes(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_a_template_error(data: bytes) -> None:
    try:
        parse("{{ " + data.decode("utf-8", "surrogateescape") + " }}").render_bytes({})
    except TemplateError as error:
        str(error).encode()
