"""The verb `steward template`: one template from files, or many from lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from steward.cli.commands.template import command


def run(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(command, list(arguments), input=stdin)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    return tmp_path / "a.tpl"


def lines(*requests: object, arguments: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in requests)
    result = run("--jsonl", *arguments, stdin=text)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_file_is_rendered_with_data_from_a_file(template: Path, tmp_path: Path) -> None:
    template.write_text("{{ .name | upper }}-{{ .n }}\n")
    data = tmp_path / "data.json"
    data.write_text('{"name": "acme", "n": 1000000}')
    result = run("-f", str(template), "--data", str(data))
    assert (result.exit_code, result.stdout) == (0, "ACME-1e+06\n")


def test_data_may_come_from_standard_input(template: Path) -> None:
    template.write_text("{{ .x }}")
    assert run("-f", str(template), "--data", "-", stdin='{"x": "é"}').stdout == "é"


def test_the_template_may_come_from_standard_input() -> None:
    assert run("-f", "-", stdin="{{ add 1 2 }}").stdout == "3"


def test_no_data_is_an_empty_object(template: Path) -> None:
    template.write_text('{{ . }}{{ index . "x" | default "d" }}')
    assert run("-f", str(template)).stdout == "map[]d"


def test_output_is_exactly_the_bytes(template: Path) -> None:
    template.write_bytes(b'\xff{{ trunc 1 "\xc3\xa9" }}')
    assert run("-f", str(template)).stdout_bytes == b"\xff\xc3"


def test_an_error_is_go_s_text_then_an_explanation_and_code_1(template: Path) -> None:
    template.write_text("first\n{{ .nmae }}\n")
    result = run("-f", str(template), "--data", "-", stdin='{"name": "x"}')
    first, *explanation = result.stderr.splitlines()
    assert result.exit_code == 1
    assert result.stdout == ""
    assert first == 'template: template:2:3: executing "template" at <.nmae>: map has no entry for key "nmae"'
    assert any("{{ .nmae }}" in line for line in explanation)
    assert any(
        line.strip() == "^" or (line.strip().strip("|^ ") == "" and "^" in line) for line in explanation
    )
    assert "name" in "\n".join(explanation)


def test_a_parse_error_is_shown_the_same_way(template: Path) -> None:
    template.write_text("{{ uper .name }}")
    result = run("-f", str(template))
    assert result.exit_code == 1
    assert result.stderr.startswith('template: template:1: function "uper" not defined')
    assert "upper" in result.stderr


def test_data_that_is_not_json_is_reported_in_one_sentence(template: Path) -> None:
    template.write_text("x")
    result = run("-f", str(template), "--data", "-", stdin="{")
    assert result.exit_code == 1
    assert "is not valid JSON" in result.stderr


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("default", "<no value>d"), ("zero", "<no value>d"), ("defaulted", None), ("error", None)],
)
def test_missing_keys_follow_the_mode(template: Path, mode: str, expected: str | None) -> None:
    template.write_text('{{ .a }}{{ .b | default "d" }}')
    result = run("-f", str(template), "--missingkey", mode)
    assert (result.exit_code, result.stdout) == ((1, "") if expected is None else (0, expected))


def test_clock_functions_need_the_full_profile(template: Path) -> None:
    template.write_text("{{ now | kindOf }}")
    assert run("-f", str(template)).exit_code == 1
    assert run("-f", str(template), "--profile", "full").stdout == "struct"


def test_the_tenants_set_has_typed_functions(template: Path) -> None:
    template.write_text('{{ bool "yes" }} {{ int "3.9" | add 1 }}')
    assert run("-f", str(template)).exit_code == 1
    assert run("-f", str(template), "--functions", "tenants").stdout == "true 4"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-f", "nope.tpl"),
        ("-f", "-", "--data", "-"),
        ("--jsonl", "-f", "-"),
        ("-f", "-", "--profile", "x"),
    ],
)
def test_wrong_usage_is_code_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_lines_are_answered_in_order_with_their_ids() -> None:
    answers = lines(
        {"id": 1, "tpl": "{{ .n }}", "data": {"n": 7}},
        {"id": "b", "tpl": "{{ .x }}", "data": {}},
        {"id": None, "tpl": "text"},
        {"id": 2.5, "tpl": '{{ trunc 1 "é" }}'},
        {"id": 10**20, "tpl": "{{ . }}", "data": 10**20},
    )
    assert answers == [
        {"id": 1, "out": "7"},
        {
            "id": "b",
            "err": 'template: template:1:3: executing "template" at <.x>: map has no entry for key "x"',
        },
        {"id": None, "out": "text"},
        {"id": 2.5, "out_b64": "ww=="},
        {"id": 10**20, "out": "1e+20"},
    ]


def test_options_of_a_line_override_those_of_the_command() -> None:
    missing = {"id": 1, "tpl": "{{ .x }}", "data": {}}
    answers = lines(
        missing, missing | {"opts": {"missingkey": "zero"}}, arguments=("--missingkey", "default")
    )
    assert [a.get("out") for a in answers] == ["<no value>", "<no value>"]
    answers = lines(
        {"id": 1, "tpl": "{{ now | kindOf }}", "opts": {"profile": "full"}},
        {"id": 2, "tpl": '{{ bool "on" }}', "opts": {"functions": "tenants"}},
        missing,
    )
    assert [a.get("out") for a in answers] == ["struct", "true", None]


@pytest.mark.parametrize(
    ("line", "identity"),
    [
        ("{", None),
        ("[]", None),
        ("5", None),
        ('{"id": 1}', 1),
        ('{"id": 1, "tpl": 5}', 1),
        ('{"id": 1, "tpl": "x", "opts": 5}', 1),
        ('{"id": 1, "tpl": "x", "opts": {"missingkey": "nope"}}', 1),
        ('{"id": 1, "tpl": "x", "opts": {"nope": "x"}}', 1),
        ('{"id": 1, "tpl": "x", "opts": {"profile": []}}', 1),
        ('{"tpl": "' + "[" * 5000 + '"}', None),
        ("[" * 100000, None),
    ],
)
def test_an_invalid_line_is_answered_and_the_stream_continues(line: str, identity: object) -> None:
    bad, good = lines(line, {"id": "after", "tpl": "ok"})[-2:]
    assert bad["id"] == identity
    assert "err" in bad or bad["out"]
    assert good == {"id": "after", "out": "ok"}


def test_empty_lines_are_passed_over() -> None:
    assert lines("", {"id": 1, "tpl": "a"}, "  ", {"id": 2, "tpl": "b"}) == [
        {"id": 1, "out": "a"},
        {"id": 2, "out": "b"},
    ]


def test_each_line_is_answered_before_the_next_is_read() -> None:
    call = [sys.executable, "-m", "steward.cli.main", "template", "--jsonl"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for number in range(3):
            process.stdin.write(b'{"id": %d, "tpl": "{{ . }}", "data": "x"}\n' % number)
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"id": number, "out": "x"}
        process.stdin.close()
    assert process.returncode == 0


def test_help_has_an_example() -> None:
    text = run("--help").stdout
    assert "steward template -f" in text
    assert "--jsonl" in text
