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
from steward.cli.lint.findings import Finding
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
        + "            first\n            é {{ if .uid }}\n        metadata: {name: a}\n",
        """\
        given.yaml:14:28: error: TenantTemplate/web: spec.configMaps[web].spec.data.a: an if, range, with or define is not closed: add {{ end }}
          14 |             é {{ if .uid }}
             |                            ^
        """,
        id="a block that does not end, in a block of text",
    ),
    pytest.param(
        TEMPLATE
        + "      dependIds: [db]\n      nameTempalte: x\n      spec: {apiVersion: v1, kind: ConfigMap}\n",
        """\
        given.yaml:7:7: error: TenantTemplate/web: spec.configMaps[web].nameTemplate: is missing, and so is spec.metadata.name: set one, as in {{ .uid }}-api
          7 |     - id: web
            |       ^
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
        given.yaml:18:36: error: TenantTemplate/web: spec.configMaps[web].nameTemplate: .paln is no column of the registry: did you mean .plan?
          18 |       nameTemplate: "{{ .uid }}-{{ .paln }}"
             |                                    ^
        """,
        id="a column that the registry does not map",
    ),
    pytest.param(
        REGISTRY.replace("table: users", 'table: "a;b"').replace("id, host", '"", host'),
        """\
        given.yaml:8:24: error: TenantRegistry/crm: spec.valueMappings.uid: is empty: fill it in
          8 |   valueMappings: {uid: "", hostOrUrl: url, activate: active}
            |                        ^
        """,
        id="a registry whose fields do not fit their types",
    ),
    pytest.param(
        CLUSTER + "  cells:\n    - {name: Z, zone: a}\n",
        """\
        given.yaml:6:14: error: MultigresCluster/shop: spec.cells[0].name: is 'Z', and must be lower-case letters, digits, - and _, with a letter or digit at both ends
          6 |     - {name: Z, zone: a}
            |              ^
        """,
        id="an invalid name of a cell",
    ),
    pytest.param(
        REGISTRY.replace("plan: plan_id", "n: plan_id")
        + TEMPLATE.replace("crm", "crn")
        + "      deletionPolicy: retain\n      timeoutSeconds: '5'\n      spec: {apiVersion: v1, kind: ConfigMap}\n",
        """\
        given.yaml:9:24: error: the name n is read as false: write "n"
          9 |   extraValueMappings: {n: plan_id}
            |                        ^
        given.yaml:18:23: error: TenantTemplate/web: spec.configMaps[0].deletionPolicy: is 'retain', and must be one of: Delete, Retain; did you mean Retain?
          18 |       deletionPolicy: retain
             |                       ^
        given.yaml:19:23: error: TenantTemplate/web: spec.configMaps[0].timeoutSeconds: must be a whole number, and is text: remove the quotes
          19 |       timeoutSeconds: '5'
             |                       ^
        """,
        id="allowed values and types in words of our own, all at once",
    ),
    pytest.param(
        REGISTRY
        + TEMPLATE.replace("crm", "crn")
        + "      nameTemplate: x\n      spec: {apiVersion: v1, kind: ConfigMap, dta: {}}\n",
        """\
        given.yaml:15:15: error: TenantTemplate/web: spec.registryId: no TenantRegistry crn is among the files; did you mean crm?
          15 |   registryId: crn
             |               ^
        given.yaml:19:47: error: TenantTemplate/web: spec.configMaps[web].spec.dta: there is no such field; did you mean data?
          19 |       spec: {apiVersion: v1, kind: ConfigMap, dta: {}}
             |                                               ^
        """,
        id="a misspelt registry and a misspelt field of a built-in kind",
    ),
    pytest.param(
        "apiVersion: operator.lynq.sh/v1\nkind: LynqForm\nmetadata: {name: a}\n---\n"
        + CLUSTER
        + "  backup: {type: s3, s3: {bucket: b, region: r}}\n  cells: [{name: a, zone: a, zoneId: b}]\n  topologyPruning: {enabled: true}\n",
        """\
        given.yaml:2:7: error: LynqForm/a: kind: LynqForm is a kind of Lynq, and Steward has operator.kubernetes-tenants.org/v1: write a TenantTemplate, whose hubId is called registryId
          2 | kind: LynqForm
            |       ^
        given.yaml:10:30: error: MultigresCluster/shop: spec.cells[0].zoneId: there is no such field: it is called zone here
          10 |   cells: [{name: a, zone: a, zoneId: b}]
             |                              ^
        given.yaml:11:3: error: MultigresCluster/shop: spec.topologyPruning: is a field of later versions of multigres-operator that Steward does not have: take it out
          11 |   topologyPruning: {enabled: true}
             |   ^
        """,
        id="manifests of other operators",
    ),
    pytest.param(
        TEMPLATE
        + "      spec:\n        apiVersion: v1\n        kind: ConfigMap\n        data:\n          a: |-\n"
        + "            é {{ .uid | uper }}\n          b: c\n        metadata: {name: a}\n",
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


def test_a_name_that_is_too_long_for_every_row_is_an_error(tmp_path: Path) -> None:
    body = "      spec: {apiVersion: v1, kind: ConfigMap}\n"
    long = run_lint(tmp_path, f'{TEMPLATE}      nameTemplate: "{{{{ .uid }}}}-{"x" * 62}"\n{body}')
    assert (long.exit_code, "has 63 characters without its variables: use trunc63" in long.stdout) == (
        1,
        True,
    )
    cut = run_lint(
        tmp_path, f"{TEMPLATE}      nameTemplate: '{{{{ printf \"%s-{'x' * 70}\" .uid | trunc63 }}}}'\n{body}"
    )
    assert cut.exit_code == 0, cut.stdout


def test_a_registry_that_may_be_in_the_cluster_is_only_a_warning(tmp_path: Path) -> None:
    template = (
        TEMPLATE.replace("crm", "warehouse")
        + "      nameTemplate: x\n      spec: {apiVersion: v1, kind: ConfigMap}\n"
    )
    found = run_lint(tmp_path, REGISTRY + template)
    assert (found.exit_code, "warning: TenantTemplate/web: spec.registryId" in found.stdout) == (0, True)
    assert run_lint(tmp_path, template).stdout == ""


def test_a_default_makes_an_unknown_variable_a_warning(tmp_path: Path) -> None:
    name = "      nameTemplate: '{{ .uid }}-{{ default \"x\" .paln }}'\n"
    found = run_lint(tmp_path, f"{REGISTRY}{TEMPLATE}{name}      spec: {{apiVersion: v1, kind: ConfigMap}}\n")
    assert (found.exit_code, "warning: " in found.stdout) == (0, True)
    assert ".paln is no column of the registry: did you mean .plan?" in found.stdout
