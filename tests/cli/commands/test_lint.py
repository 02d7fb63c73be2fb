"""`steward lint`: broken manifests and the exact output for each."""

# ruff: noqa: E501 -- expected output has long lines

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from steward.cli.commands.lint import command, format_finding
from steward.cli.documents import Position
from steward.cli.lint_checks import Finding
from tests.support.paths import ROOT

REGISTRY = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantRegistry
metadata: {name: crm}
spec:
  source:
    type: mysql
    mysql: {host: db, username: u, database: d, table: users, passwordRef: {name: p, key: k}}
  valueMappings: {uid: id, hostOrUrl: url, activate: active}
  extraValueMappings: {plan: plan_id}
---
"""
TEMPLATE = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {name: web}
spec:
  registryId: crm
  configMaps:
    - id: web
"""
CLUSTER = """\
apiVersion: multigres.com/v1alpha1
kind: MultigresCluster
metadata: {name: shop}
spec:
"""


def run_lint(tmp_path: Path, text: str, *options: str) -> Result:
    file = tmp_path / "given.yaml"
    file.write_text(text)
    result = CliRunner().invoke(command, [str(file), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


TABLE = [
    pytest.param(
        "a: [1\nb: 2\n",
        """\
        given.yaml:2:2: error: is not valid YAML: did not find expected ',' or ']'
          2 | b: 2
            |  ^
        """,
        id="invalid YAML",
    ),
    pytest.param(
        TEMPLATE
        + '      nameTemplate: "{{ .uid | uper }}-web"\n      spec: {apiVersion: v1, kind: ConfigMap}\n',
        """\
        given.yaml:8:32: error: TenantTemplate/web: spec.configMaps[web].nameTemplate: function "uper" not defined
          8 |       nameTemplate: "{{ .uid | uper }}-web"
            |                                ^
          did you mean upper?
        """,
        id="an unknown function in a quoted text",
    ),
    pytest.param(
        TEMPLATE
        + "      spec:\n        apiVersion: v1\n        kind: ConfigMap\n        data:\n          a: |\n"
        + "            first\n            é {{ if .uid }}\n",
        """\
        given.yaml:14:28: error: TenantTemplate/web: spec.configMaps[web].spec.data.a: unexpected EOF
          14 |             é {{ if .uid }}
             |                            ^
        """,
        id="a block that does not end, in a block of text",
    ),
    pytest.param(
        TEMPLATE
        + "      dependIds: [db]\n      nameTempalte: x\n      spec: {apiVersion: v1, kind: ConfigMap}\n",
        """\
        given.yaml:8:7: error: TenantTemplate/web: spec.configMaps[web].dependIds: 'web' depends on 'db', which is not in the template; there are: web
          8 |       dependIds: [db]
            |       ^
        given.yaml:9:7: error: TenantTemplate/web: spec.configMaps[0].nameTempalte: there is no such field; did you mean nameTemplate?
          9 |       nameTempalte: x
            |       ^
        """,
        id="an unknown dependency and an unknown field",
    ),
    pytest.param(
        REGISTRY
        + TEMPLATE
        + '      nameTemplate: "{{ .uid }}-{{ .paln }}"\n      spec: {apiVersion: v1, kind: ConfigMap}\n',
        """\
        given.yaml:18:36: warning: TenantTemplate/web: spec.configMaps[web].nameTemplate: .paln is no column of the registry: add it to extraValueMappings
          18 |       nameTemplate: "{{ .uid }}-{{ .paln }}"
             |                                    ^
        """,
        id="a column that the registry does not map",
    ),
    pytest.param(
        REGISTRY.replace("table: users", 'table: "a;b"').replace("id, host", '"", host'),
        """\
        given.yaml:8:24: error: TenantRegistry/crm: spec.valueMappings.uid: Expected `str` of length >= 1
          8 |   valueMappings: {uid: "", hostOrUrl: url, activate: active}
            |                        ^
        """,
        id="a registry whose fields do not fit their types",
    ),
    pytest.param(
        CLUSTER + "  cells:\n    - {name: Z, zone: a}\n",
        """\
        given.yaml:6:14: error: MultigresCluster/shop: spec.cells[0].name: Expected `str` matching regex '^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
          6 |     - {name: Z, zone: a}
            |              ^
        """,
        id="an invalid name of a cell",
    ),
    pytest.param(
        TEMPLATE
        + "      spec:\n        apiVersion: v1\n        kind: ConfigMap\n        data:\n          a: |-\n"
        + "            é {{ .uid | uper }}\n          b: c\n",
        """\
        given.yaml:13:25: error: TenantTemplate/web: spec.configMaps[web].spec.data.a: function "uper" not defined
          13 |             é {{ .uid | uper }}
             |                         ^
          did you mean upper?
        """,
        id="an unknown function behind a character of two bytes",
    ),
]


@pytest.mark.parametrize(("text", "output"), TABLE)
def test_every_problem_is_reported_with_its_position(tmp_path: Path, text: str, output: str) -> None:
    result = run_lint(tmp_path, text)
    assert result.stdout.replace(f"{tmp_path}/", "") == dedent(output)
    assert result.exit_code == (1 if "error:" in output else 0)


@pytest.mark.parametrize(("before", "after"), [(0, 5000), (5000, 0), (5000, 5000), (70, 20)])
def test_only_an_excerpt_of_a_long_line_is_shown(before: int, after: int) -> None:
    line = "x" * before + "cels" + "y" * after
    finding = Finding("f.json", Position(1, before + 1), "error", "there is no such field", line)
    _, source, caret = format_finding(finding).splitlines()
    assert len(source) < 180
    assert source[caret.index("^") :].startswith("cels")
    assert source.count("…") == (before > 1000) + (after > 1000)


def test_a_summary_line_counts_errors_and_warnings(tmp_path: Path) -> None:
    summary = run_lint(tmp_path, "just text\n").stderr
    assert summary == "0 manifests checked: 1 error, 0 warnings\n"


def test_json_output_has_the_same_findings(tmp_path: Path) -> None:
    result = run_lint(tmp_path, CLUSTER + "  cels: []\n", "-o", "json")
    assert result.exit_code == 1
    errors = [finding for finding in json.loads(result.stdout) if finding["severity"] == "error"]
    assert errors[0] == {
        "file": str(tmp_path / "given.yaml"),
        "line": 5,
        "column": 3,
        "severity": "error",
        "message": "MultigresCluster/shop: spec.cels: there is no such field; did you mean cells?",
    }


def test_a_template_that_a_cluster_names_must_be_among_the_files(tmp_path: Path) -> None:
    cluster = CLUSTER + "  templateDefaults: {coreTemplate: gone}\n  cells:\n    - {name: a, zone: a}\n"
    template = (
        "---\napiVersion: multigres.com/v1alpha1\nkind: CoreTemplate\nmetadata: {name: gone}\nspec: {}\n"
    )
    alone = run_lint(tmp_path, cluster)
    assert (alone.exit_code, "spec.templateDefaults.coreTemplate" in alone.stdout) == (1, True)
    assert run_lint(tmp_path, cluster + template).exit_code == 0


def test_a_list_as_kubectl_prints_it_is_checked_item_by_item(tmp_path: Path) -> None:
    listed = "apiVersion: v1\nkind: List\nitems:\n- kind: TenantTemplate\n  metadata: {name: a}\n  spec: {registryID: x}\n"
    result = run_lint(tmp_path, listed)
    assert (
        "given.yaml:6:10: error: TenantTemplate/a: spec.registryID: there is no such field" in result.stdout
    )


def test_the_samples_have_no_errors() -> None:
    samples = sorted(map(str, (ROOT / "config" / "samples").rglob("*.yaml")))
    assert samples
    result = CliRunner().invoke(command, samples)
    assert result.exit_code == 0, result.stdout
