"""The lab: lint and render of pasted texts."""

from __future__ import annotations

import pytest

from steward.page.models.lab import MASK, MOST_ROWS, LabInput, has_alias, try_out
from tests.page.support.lab_texts import ROWS, SECRET, TEMPLATE


def test_rows_are_rendered() -> None:
    (found,) = try_out(LabInput(TEMPLATE, ROWS)).objects
    assert found["metadata"]["name"] == "acme-settings"
    assert found["data"] == {"host": "acme.example.com"}


@pytest.mark.parametrize(
    "rows", ['[{"uid": "a", "hostOrUrl": "b", "activate": 1}]', "- {uid: a, hostOrUrl: b, activate: 1}"]
)
def test_rows_may_be_json_or_yaml(rows: str) -> None:
    assert len(try_out(LabInput(TEMPLATE, rows)).objects) == 1


def test_without_rows_the_template_is_only_checked() -> None:
    found = try_out(LabInput(TEMPLATE))
    assert (found.findings, found.objects, found.error) == ([], [], "")


def test_an_error_has_its_line_and_nothing_is_rendered() -> None:
    found = try_out(LabInput(TEMPLATE.replace("registryId", "registry"), ROWS))
    assert any(each.severity == "error" and each.line > 1 for each in found.findings)
    assert found.objects == []


def test_invalid_yaml_is_a_finding() -> None:
    (finding,) = try_out(LabInput("a: [", ROWS)).findings
    assert finding.severity == "error"


def test_a_row_that_cannot_be_rendered_is_an_error() -> None:
    assert "nothing" in try_out(LabInput(TEMPLATE.replace(".host }}", ".nothing }}"), ROWS)).error


def test_rejected_rows_are_listed() -> None:
    found = try_out(LabInput(TEMPLATE, "uid,hostOrUrl,activate\n,https://x.example.com,true\n"))
    assert len(found.rejected) == 1


def test_values_of_secrets_are_not_shown() -> None:
    secret = next(
        each for each in try_out(LabInput(TEMPLATE + SECRET, ROWS)).objects if each["kind"] == "Secret"
    )
    assert {*secret.get("data", {}).values(), *secret.get("stringData", {}).values()} == {MASK}


def test_only_the_first_rows_are_rendered() -> None:
    rows = "uid,hostOrUrl,activate\n" + "".join(f"t{number},x,1\n" for number in range(MOST_ROWS + 5))
    assert len(try_out(LabInput(TEMPLATE, rows)).objects) == MOST_ROWS


def test_aliases_are_refused_before_anything_walks_through_them() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
    )
    assert has_alias(bomb)
    assert "aliases" in try_out(LabInput(bomb, ROWS)).error
