"""The language as a whole: what templates render, mode by mode. Go's own answers are in the conformance suite."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.gotemplate import ExecError, parse
from steward.gotemplate.values.values import from_bytes

DATA: dict[str, Any] = {
    "uid": "acme",
    "n": 3.0,
    "list": ["x", 1.0, None, {"k": "v"}],
    "map": {"b": 1.0, "a": True},
    "deep": {"er": {"key": "down"}},
    "null": None,
    "empty": [],
}


def rendered(source: str, data: Any = DATA, **options: Any) -> str:
    return parse(source, **options).render(data)


def failure(source: str, data: Any = DATA, **options: Any) -> str:
    with pytest.raises(ExecError) as caught:
        rendered(source, data, **options)
    return str(caught.value).removeprefix("template: template:")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{{ .uid }}-api", "acme-api"),
        ("{{ .n }} {{ 1000000.0 }} {{ 'a' }} {{ 0x1F }} {{ print nil }}", "3 1e+06 97 31 <nil>"),
        ("{{ .deep.er.key }}{{ $.uid }}{{ (index .list 3).k }}", "downacmev"),
        ("{{ .null }}{{ print .null }}", "<no value><nil>"),
        ("{{ if .uid }}a{{ else }}b{{ end }}{{ if .empty }}a{{ else if .null }}b{{ else }}c{{ end }}", "ac"),
        ("{{ with .deep }}{{ .er.key }}{{ end }}{{ with .null }}{{ else }}none{{ end }}", "downnone"),
        ("{{ with .null }}{{ else with .uid }}{{ . }}{{ end }}", "acme"),
        ("{{ range .list }}[{{ . }}]{{ end }}", "[x][1][<no value>][map[k:v]]"),
        ("{{ range $i, $v := .list }}{{ $i }}={{ $v }};{{ end }}", "0=x;1=1;2=<no value>;3=map[k:v];"),
        (
            "{{ range $k, $v := .map }}{{ $k }}={{ $v }};{{ end }}{{ range .map }}{{ . }}{{ end }}",
            "a=true;b=1;true1",
        ),
        (
            "{{ range 3 }}{{ . }}{{ end }}{{ range $i := 2 }}{{ $i }}{{ end }}{{ range -1 }}x{{ else }}none{{ end }}",
            "01201none",
        ),
        ("{{ range .empty }}x{{ else }}none{{ end }}{{ range .null }}x{{ else }}nil{{ end }}", "nonenil"),
        ("{{ range $i, $v := .empty }}{{ else }}{{ $i }}{{ $v }}{{ end }}", "[][]"),
        (
            "{{ range 9 }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break }}{{ end }}{{ . }}{{ end }}",
            "013",
        ),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}", "2"),
        ("{{ $x := 1 }}{{ range $x = .list }}{{ end }}{{ $x }}", "map[k:v]"),
        ("{{ $ = 5 }}{{ $ }}{{ .uid }}", "5acme"),
        (
            '{{ define "t" }}<{{ . }}{{ $ }}>{{ end }}{{ template "t" .uid }}{{ template "t" }}',
            "<acmeacme><<no value><no value>>",
        ),
        ('{{ block "b" .n }}{{ . }}{{ end }}', "3"),
        (
            '{{ define "r" }}{{ . }}{{ if . }}{{ template "r" (sub . 1 | int) }}{{ end }}{{ end }}{{ template "r" 3 }}',
            "3210",
        ),
        ("{{ and 1 0 2 }}{{ or 0 .null .uid }}{{ not .null }}{{ .uid | or .null }}", "0acmetrueacme"),
        ('{{ or .uid (fail "not reached") }}', "acme"),
        ("{{ $a := 1 }}{{ print ($b := 2) $b $a }}", "2 2 1"),
        ('{{ len .list }}{{ len "é" }}{{ index .list 3 "k" }}{{ index "abc" 1 }}', "42v98"),
        ('{{ html "<a&\'>" }}{{ js "a\'<" }}{{ urlquery "a b&" }}', "&lt;a&amp;&#39;&gt;a\\'\\u003Ca+b%26"),
        ("{{- 1 -}} \n {{- 2 }}", "12"),
        ("{{ range 2 }}x{{ range 0 }}{{ else }}{{ break }}{{ end }}y{{ end }}", "xyxy"),
        (
            "{{ range 3 }}x{{ range 0 }}{{ else }}{{ if eq . 1 }}{{ break }}{{ end }}{{ continue }}{{ end }}y{{ end }}",
            "xxyx",
        ),
        ("{{ $y := 1 }}{{ and 0 ($y := 3) }}{{ $y }}{{ and 1 ($y := 3) }}{{ $y }}", "0133"),
    ],
)
def test_what_is_rendered(source: str, text: str) -> None:
    assert rendered(source) == text


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("{{ .missing }}", '1:3: executing "template" at <.missing>: map has no entry for key "missing"'),
        ("é{{ .deep.er.no }}", '1:10: executing "template" at <.deep.er.no>: map has no entry for key "no"'),
        ("\n {{ .null.x }}", '2:9: executing "template" at <.null.x>: nil pointer evaluating interface {}.x'),
        (
            "{{ .uid.x }}",
            '1:7: executing "template" at <.uid.x>: can\'t evaluate field x in type interface {}',
        ),
        (
            "{{ $x := .uid }}{{ $x.y }}",
            '1:21: executing "template" at <$x.y>: can\'t evaluate field y in type string',
        ),
        (
            "{{ range splitList `,` `a` }}{{ .x }}{{ end }}",
            '1:32: executing "template" at <.x>: can\'t evaluate field x in type string',
        ),
        (
            "{{ range .list }}{{ .x }}{{ end }}",
            '1:20: executing "template" at <.x>: can\'t evaluate field x in type interface {}',
        ),
        ('{{ (dict "k" 1).z }}', '1:13: executing "template" at <1>: map has no entry for key "z"'),
        (
            "{{ .n | trunc 3 }}",
            '1:14: executing "template" at <3>: wrong type for value; expected string; got float64',
        ),
        (
            "{{ upper .null }}",
            '1:9: executing "template" at <.null>: wrong type for value; expected string; got interface {}',
        ),
        (
            "{{ upper (first (list nil)) }}",
            '1:22: executing "template" at <nil>: invalid value; expected string',
        ),
        ("{{ upper nil }}", '1:9: executing "template" at <nil>: cannot assign nil to string'),
        ("{{ trunc 1.5 `a` }}", '1:9: executing "template" at <1.5>: expected integer; found 1.5'),
        ("{{ upper }}", '1:3: executing "template" at <upper>: wrong number of args for upper: want 1 got 0'),
        (
            "{{ printf }}",
            '1:3: executing "template" at <printf>: wrong number of args for printf: want at least 1 got 0',
        ),
        ("{{ fail `no` }}", '1:3: executing "template" at <fail `no`>: error calling fail: no'),
        (
            "{{ eq .n 3 }}",
            '1:3: executing "template" at <eq .n 3>: error calling eq: '
            "incompatible types for comparison: float64 and int",
        ),
        (
            "{{ index .list 9 }}",
            '1:3: executing "template" at <index .list 9>: error calling index: index out of range: 9',
        ),
        (
            "{{ index .list 4 }}",
            '1:3: executing "template" at <index .list 4>: error calling index: reflect: slice index out of range',
        ),
        ("{{ len 3 }}", '1:3: executing "template" at <len 3>: error calling len: len of type int'),
        (
            "{{ len .null }}",
            '1:3: executing "template" at <len .null>: error calling len: len of nil pointer',
        ),
        ("{{ range .uid }}{{ end }}", '1:9: executing "template" at <.uid>: range can\'t iterate over acme'),
        (
            "{{ range $i, $v := 3 }}{{ end }}",
            '1:19: executing "template" at <3>: can\'t use 3 to iterate over more than one variable',
        ),
        ("{{ $x = 1 }}", '1:8: executing "template" at <1>: undefined variable: $x'),
        ("{{ .uid 1 }}", '1:3: executing "template" at <.uid>: uid is not a method but has arguments'),
        ("{{ 1 | .uid }}", '1:7: executing "template" at <.uid>: uid is not a method but has arguments'),
        ("{{ `a` 1 }}", '1:3: executing "template" at <`a`>: can\'t give argument to non-function `a`'),
        (
            "{{ template `nope` }}",
            '1:12: executing "template" at <{{template "nope"}}>: template "nope" not defined',
        ),
        (
            "{{ define `t` }}{{ .x }}{{ end }}{{ template `t` .map }}",
            '1:19: executing "t" at <.x>: map has no entry for key "x"',
        ),
        (
            "{{ trunc (or .null `a`) `b` }}",
            '1:19: executing "template" at <`a`>: wrong type for value; expected int; got string',
        ),
        (
            "{{ trunc (or `a` .null) `b` }}",
            '1:13: executing "template" at <`a`>: wrong type for value; expected int; got string',
        ),
        ("{{ and 0 ($y := 3) }}{{ $y }}", '1:24: executing "template" at <$y>: undefined variable: $y'),
        ("{{ nil }}", '1:3: executing "template" at <nil>: nil is not a command'),
        (
            "{{ call .uid }}",
            '1:3: executing "template" at <call .uid>: error calling call: non-function .uid of type string',
        ),
    ],
)
def test_errors_have_the_text_and_the_position_of_go(source: str, error: str) -> None:
    assert failure(source) == error


@pytest.mark.parametrize(
    ("mode", "source", "text"),
    [
        ("default", "{{ .missing }}{{ .missing.x }}", "<no value><no value>"),
        ("invalid", "{{ .missing }}", "<no value>"),
        ("zero", "{{ .missing }}{{ (split `,` `a`)._9 }}", "<no value>"),
        ("default", "{{ default `d` .missing }}", "d"),
        (
            "defaulted",
            "{{ default `d` .missing }}{{ .missing | default `e` }}{{ coalesce .missing .other `f` }}",
            "def",
        ),
        ("defaulted", "{{ if .missing }}a{{ else }}b{{ end }}{{ with .missing }}a{{ else }}c{{ end }}", "bc"),
        ("defaulted", "{{ if (.missing) }}a{{ else }}b{{ end }}", "b"),
        (
            "defaulted",
            "{{ empty .missing }}{{ index . `missing` }}{{ hasKey . `missing` }}{{ get . `missing` }}",
            "true<no value>false",
        ),
        ("defaulted", "{{ default `d` .deep.missing.more }}", "d"),
    ],
)
def test_a_missing_key_by_mode(mode: str, source: str, text: str) -> None:
    assert rendered(source, missingkey=mode) == text


@pytest.mark.parametrize(
    "source",
    [
        "{{ .missing }}",
        "{{ upper .missing }}",
        "{{ if eq .missing `a` }}{{ end }}",
        "{{ if not .missing }}{{ end }}",
        "{{ if and .uid .missing }}{{ end }}",
        "{{ print .missing | default `a` }}",
    ],
)
def test_defaulted_is_strict_everywhere_else(source: str) -> None:
    assert failure(source, missingkey="defaulted").endswith('map has no entry for key "missing"')


def test_no_data_differs_from_null_in_data() -> None:
    assert failure("{{ .x }}", None) == '1:3: executing "template" at <.x>: nil data; no entry for key "x"'
    assert rendered("{{ .x }}", None, missingkey="default") == "<no value>"


def test_output_may_be_bytes_that_are_no_text() -> None:
    assert parse("{{ trunc 1 `é` }}").render_bytes({}) == b"\xc3"
    assert parse("{{ trunc 1 `é` }}{{ substr 1 2 `é` }}").render({}) == "é"


def test_custom_delimiters() -> None:
    assert rendered("{{ .uid }} << .uid >>", delims=("<<", ">>")) == "{{ .uid }} acme"


def test_a_long_pipeline_is_no_deeper_than_python_can_nest() -> None:
    assert rendered("{{ .uid" + " | upper | lower" * 300 + " }}") == "acme"


@given(st.binary())
def test_any_string_renders_to_itself(data: bytes) -> None:
    text = from_bytes(data)
    assert parse("{{ .s }}").render_bytes({"s": text}) == data
    assert parse("{{ range .l }}{{ . }}{{ end }}").render_bytes({"l": [text]}) == data
    assert parse("{{ printf `%s` .s }}").render_bytes({"s": text}) == data


@given(st.text())
def test_data_is_never_parsed_as_template(text: str) -> None:
    assert rendered("{{ .s }}", {"s": "{{ fail `x` }}" + text}) == "{{ fail `x` }}" + text
