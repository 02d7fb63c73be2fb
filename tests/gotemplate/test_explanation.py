"""explain: an error with its line, a caret, what there is and what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate import TemplateError, explain, parse

DATA: dict[str, Any] = {"uid": "x", "plan": "y", "spec": {"size": 1.0}}


def explained(source: str) -> list[str]:
    with pytest.raises(TemplateError) as caught:
        parse(source).render(DATA)
    return explain(caught.value, DATA).split("\n")[1:]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (
            "a\n{{ .uidd }}",
            ["    2 | {{ .uidd }}", "      |    ^", "variables: plan, spec, uid", "did you mean uid?"],
        ),
        (
            "\té{{ .spec.sise }}",
            [
                "    1 | \té{{ .spec.sise }}",
                "      | \t         ^",
                "variables: plan, spec, uid",
                "did you mean size?",
            ],
        ),
        ("{{ uper .uid }}", ["    1 | {{ uper .uid }}", "      |    ^", "did you mean upper?"]),
        ("{{ now }}", ["    1 | {{ now }}", "      |    ^"]),
        ("{{ $name := 1 }}{{ $nam }}", ["    1 | {{ $name := 1 }}{{ $nam }}", "did you mean $name?"]),
        ("{{ fail `x` }}", ["    1 | {{ fail `x` }}", "      |    ^"]),
        ("{{ .zzz }}", ["    1 | {{ .zzz }}", "      |    ^", "variables: plan, spec, uid"]),
    ],
)
def test_an_error_is_explained(source: str, lines: list[str]) -> None:
    assert explained(source) == lines


def test_without_data_there_are_no_variables_to_name() -> None:
    with pytest.raises(TemplateError) as caught:
        parse("{{ .a }}").render({})
    assert explain(caught.value).count("\n") == 2


def test_an_error_without_a_place_is_just_its_words() -> None:
    assert explain(TemplateError("template: x: broken")) == "template: x: broken"
