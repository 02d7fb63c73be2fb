"""Parse trees in their normalised form, and the refusals, each at the line of the last token read."""

from __future__ import annotations

import pytest

from steward.gotemplate.errors import ParseError
from steward.gotemplate.syntax.lexer import Delims
from steward.gotemplate.syntax.parser import MAX_ELSE_CHAIN, MAX_LOOPS, MAX_NESTING, parse_trees
from steward.gotemplate.syntax.pipelines import MAX_PARENTHESES


def parsed(source: str) -> dict[str, str]:
    trees = parse_trees("t", source, Delims(), lambda word: None if word != "nope" else "")
    return {name: str(body) for name, body in trees.items()}


def refused(source: str) -> str:
    with pytest.raises(ParseError) as caught:
        parsed(source)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "normal"),
    [
        ("{{   .a.b  |  printf   3 }}", "{{.a.b | printf 3}}"),
        ("{{ $x:=1 }}{{ $x =2 }}", "{{$x := 1}}{{$x = 2}}"),
        ("{{ (f (g 1)).a.b }}", "{{(f (g 1)).a.b}}"),
        ("{{ if .a }}1{{ else if .b }}2{{ end }}", "{{if .a}}1{{else}}{{if .b}}2{{end}}{{end}}"),
        (
            "{{ with .a }}1{{ else with .b }}2{{ else }}3{{ end }}",
            "{{with .a}}1{{else}}{{with .b}}2{{else}}3{{end}}{{end}}",
        ),
        (
            "{{ range $i,$v := .l }}{{ break }}{{ continue }}{{ end }}",
            "{{range $i, $v := .l}}{{break}}{{continue}}{{end}}",
        ),
        ('{{ template "x" . }}', '{{template "x" .}}'),
        ("{{ .s | }}", "{{.s}}"),
        ("{{ true }}{{ nil | f }}{{ 'a' }}{{ . }}", "{{true}}{{nil | f}}{{'a'}}{{.}}"),
        ("a{{/* note */}}b", "ab"),
    ],
)
def test_a_template_has_one_normal_form(source: str, normal: str) -> None:
    assert parsed(source)["t"] == normal


def test_definitions_leave_the_body_and_blocks_leave_an_invocation() -> None:
    assert parsed('{{ define "x" }}1{{ end }}{{ block "y" .z }}2{{ end }}') == {
        "x": "1",
        "y": "2",
        "t": '{{template "y" .z}}',
    }


def test_a_blank_definition_gives_way_to_another() -> None:
    assert parsed('{{ define "x" }}1{{ end }}{{ define "x" }} \n{{ end }}')["x"] == "1"
    assert parsed('{{ define "x" }} {{ end }}{{ define "x" }}1{{ end }}')["x"] == "1"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("{{ if }}{{ end }}", "1: missing value for if"),
        ("{{ if .x }}", "1: unexpected EOF"),
        ("{{ end }}", "1: unexpected {{end}}"),
        ("{{ if .x }}{{ else }}{{ else }}{{ end }}", "1: expected end; found {{else}}"),
        ("{{ range .x }}{{ else if 1 }}{{ end }}", "1: unexpected <if> in input"),
        ("{{ break }}", "1: {{break}} outside {{range}}"),
        (
            "{{ range . }}{{ block `b` . }}{{ continue }}{{ end }}{{ end }}",
            "1: {{continue}} outside {{range}}",
        ),
        ("{{ $x }}", '1: undefined variable "$x"'),
        ("{{ $x, $y := 1 }}", "1: too many declarations in command"),
        ("{{ range $x, 1 := . }}{{ end }}", "1: range can only initialize variables"),
        ("{{ nope }}", '1: function "nope" not defined'),
        ("{{ 1 | 2 }}", "1: non executable command in pipeline stage 2"),
        ("{{ 1.x }}", '1: bad number syntax: "1.x"'),
        ("{{ true.x }}", '1: unexpected . after term "true"'),
        ("{{ f {{ }}", '1: unexpected "{" in operand'),
        ("{{ | }}", '1: unexpected "|" in command'),
        ("{{ f | | g }}", '1: unexpected "|" in command'),
        ("{{ template x }}", '1: unexpected "x" in template clause'),
        ("{{ define 1 }}{{ end }}", '1: unexpected "1" in define clause'),
        ('{{ "a long string here" := 1 }}', '1: unexpected ":=" in operand'),
        ("{{ if 1 }}{{ end 1 }}", '1: unexpected "1" in end'),
        ("{{ 08 }}", '1: integer overflow: "08"'),
        ('{{ "\\q" }}', "1: invalid syntax"),
        ("{{ '' }}", "1: invalid syntax"),
        ("a\nb\n{{ f\n }", '4: unexpected "}" in operand'),
        ("\n{{ f\n\n", "4: unclosed action started at t:2"),
        ('\n{{ f\n"x }}', "3: unterminated quoted string in action started at t:2"),
        (
            '{{ define "x" }}1{{ end }}{{ define "x" }}2{{ end }}',
            '1: template: multiple definition of template "x"',
        ),
    ],
)
def test_a_refusal_has_gos_words_and_line(source: str, error: str) -> None:
    assert refused(source) == f"template: t:{error}"


@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "(" * (MAX_PARENTHESES + 1) + "1" + ")" * (MAX_PARENTHESES + 1) + " }}",
        "{{ if 1 }}" * (MAX_NESTING + 1) + "{{ end }}" * (MAX_NESTING + 1),
        "{{ range . }}" * (MAX_LOOPS + 1) + "{{ end }}" * (MAX_LOOPS + 1),
        "{{ if 1 }}" + "{{ else if 1 }}" * (MAX_ELSE_CHAIN + 2) + "{{ end }}",
    ],
)
def test_nesting_has_an_end(source: str) -> None:
    assert refused(source).startswith("template: t:1: ")


def test_fields_after_fields_take_the_position_of_the_second() -> None:
    trees = parse_trees("t", "{{ .a.b.c }}", Delims(), lambda _: None)
    assert trees["t"].nodes[0].pipe.commands[0].args[0].pos == 5  # type: ignore[attr-defined]
