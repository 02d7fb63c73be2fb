"""`steward render`: rows and a template in files, manifests out."""

# ruff: noqa: E501 -- expected output has long lines

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from steward.cli.commands.render import command

TEMPLATE = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {name: web, namespace: shop}
spec:
  registryId: crm
  configMaps:
    - id: settings
      nameTemplate: "{{ .uid }}-settings"
      spec:
        apiVersion: v1
        kind: ConfigMap
        data: {host: "{{ .host }}", plan: "{{ .plan }}"}
  secrets:
    - id: key
      nameTemplate: "{{ .uid }}-key"
      when: '{{ eq .plan "pro" }}'
      spec: {apiVersion: v1, kind: Secret, stringData: {key: "{{ .uid }}"}}
"""
REGISTRY = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantRegistry
metadata: {name: crm, namespace: shop}
spec:
  source:
    type: mysql
    mysql: {host: db, username: u, database: d, table: users, passwordRef: {name: p, key: k}}
  valueMappings: {uid: id, hostOrUrl: url, activate: active}
  extraValueMappings: {plan: plan_id}
"""
ROWS = "uid,hostOrUrl,activate,plan\nbeta,http://b.example.com:80/x,1,pro\nacme,a.example.com,true,free\nold,o,false,free\n"
MANIFESTS = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: acme-settings
  namespace: shop
  labels:
    kubernetes-tenants.org/tenant: acme-web
    kubernetes-tenants.org/tenant-namespace: shop
  annotations:
    kubernetes-tenants.org/deletion-policy: Delete
data:
  host: a.example.com
  plan: free
"""


def run_render(tmp_path: Path, files: dict[str, str], *options: str) -> Result:
    arguments = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        arguments += ["--rows" if name.startswith("rows") else "-f", str(tmp_path / name)]
    result = CliRunner().invoke(command, [*arguments, *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_every_active_row_gives_its_manifests_in_the_order_of_uids(tmp_path: Path) -> None:
    files = {"template.yaml": TEMPLATE, "rows.csv": ROWS}
    result = run_render(tmp_path, files)
    assert result.exit_code == 0
    first, *others = result.stdout.split("---\n")
    assert first == MANIFESTS
    assert [line for each in others for line in each.splitlines() if line.startswith("  name: ")] == [
        "  name: beta-key",
        "  name: beta-settings",
    ]
    assert run_render(tmp_path, files).stdout == result.stdout


def test_a_secret_is_printed_with_its_payload(tmp_path: Path) -> None:
    result = run_render(tmp_path, {"template.yaml": TEMPLATE, "rows.csv": ROWS}, "-o", "json")
    secret = json.loads(result.stdout)[1]
    assert (secret["kind"], secret["data"]) == ("Secret", {"key": "YmV0YQ=="})


def test_the_registry_decides_which_columns_are_read(tmp_path: Path) -> None:
    rows = json.dumps([{"id": 7, "url": "a.example.com", "active": True, "plan_id": "free", "other": 1}])
    result = run_render(
        tmp_path, {"template.yaml": TEMPLATE, "registry.yaml": REGISTRY, "rows.json": rows}, "-o", "json"
    )
    made = json.loads(result.stdout)
    assert [(each["metadata"]["name"], each["data"]["plan"]) for each in made] == [("7-settings", "free")]


def test_rejected_rows_are_reported_on_standard_error(tmp_path: Path) -> None:
    rows = "- {uid: a, hostOrUrl: h, activate: true, plan: x}\n- {uid: '', hostOrUrl: h, activate: true, plan: x}\n"
    result = run_render(tmp_path, {"template.yaml": TEMPLATE, "rows.yaml": rows})
    assert result.exit_code == 1
    assert "name: a-settings" in result.stdout
    assert result.stderr == "row (no uid): its uid is empty: give the row a uid\n"


BROKEN = [
    pytest.param(
        {"template.yaml": "kind: ConfigMap\n", "rows.csv": ROWS},
        "Error: the files hold no TenantTemplate\n",
        id="no template",
    ),
    pytest.param(
        {"template.yaml": TEMPLATE, "registry.yaml": REGISTRY, "rows.csv": ROWS},
        "Error: rows.csv has no column id, url, active, plan_id; it has: activate, hostOrUrl, plan, uid; did you mean uid for id?\n",
        id="a table without the registry's columns",
    ),
    pytest.param(
        {"template.yaml": TEMPLATE, "rows.json": "{}"},
        "Error: rows.json must hold a list of rows, each a map of columns; a CSV file must end in .csv\n",
        id="rows that are not a list",
    ),
    pytest.param(
        {"template.yaml": TEMPLATE.replace("registryId: crm", "registryId: 5"), "rows.csv": ROWS},
        """\
        Error: TenantTemplate/web cannot be rendered:
        template.yaml:5:15: error: TenantTemplate/web: spec.registryId: must be text, and is the number 5: put it in quotes
          5 |   registryId: 5
            |               ^
        """,
        id="a template that does not fit its type",
    ),
]


@pytest.mark.parametrize(("files", "message"), BROKEN)
def test_input_that_cannot_be_rendered_is_reported_in_one_sentence(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    result = run_render(tmp_path, files)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.replace(f"{tmp_path}/", "") == dedent(message)


def test_a_row_that_fails_names_the_resource_and_the_field(tmp_path: Path) -> None:
    result = run_render(tmp_path, {"template.yaml": TEMPLATE, "rows.csv": ROWS.replace(",plan", ",tier")})
    assert result.exit_code == 1
    assert "settings" in result.stderr
    assert 'map has no entry for key "plan"' in result.stderr


REFUSED = [
    pytest.param("dependIds: [key]", "dependIds: [settings]", "Dependency cycle detected", id="a cycle"),
    pytest.param("dependIds: [kye]", "", "depends on 'kye'", id="an unknown dependency"),
    pytest.param("ignoreFields: [spec.replicas]", "", "is no path", id="a path without a beginning"),
    pytest.param("deletionPolicy: retain", "", "must be one of: Delete, Retain", id="a wrong policy"),
]


@pytest.mark.parametrize(("first", "second", "message"), REFUSED)
def test_a_template_that_lint_refuses_is_not_rendered(
    tmp_path: Path, first: str, second: str, message: str
) -> None:
    text = TEMPLATE.replace("- id: settings", f"- id: settings\n      {first}")
    text = text.replace("- id: key", f"- id: key\n      {second}") if second else text
    result = run_render(tmp_path, {"template.yaml": text, "rows.csv": ROWS})
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


def test_an_error_of_another_template_in_the_files_does_not_matter(tmp_path: Path) -> None:
    broken = TEMPLATE.replace("name: web", "name: broken").replace("nameTemplate", "nameTempalte")
    files = {"template.yaml": TEMPLATE, "broken.yaml": broken, "rows.csv": ROWS}
    assert run_render(tmp_path, files, "--name", "web").exit_code == 0


def test_a_rendered_value_of_the_wrong_type_is_refused_with_its_row(tmp_path: Path) -> None:
    text = TEMPLATE.replace(
        'data: {host: "{{ .host }}", plan: "{{ .plan }}"}', 'immutable: "{{ int .plan }}"'
    )
    result = run_render(tmp_path, {"template.yaml": text, "rows.csv": ROWS})
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr == "Error: row acme: settings: immutable: must be true or false, and is the number 0\n"
    )


CLUSTER = """\
apiVersion: multigres.com/v1alpha1
kind: MultigresCluster
metadata: {name: shop, namespace: data}
spec:
  templateDefaults: {coreTemplate: small}
  cells: [{name: a, zone: a}]
---
apiVersion: multigres.com/v1alpha1
kind: CoreTemplate
metadata: {name: small}
spec:
  multiadmin: {spec: {replicas: 2}}
"""


def test_a_cluster_gives_its_complete_tree_with_parents_before_children(tmp_path: Path) -> None:
    result = run_render(tmp_path, {"cluster.yaml": CLUSTER}, "-o", "json")
    made = json.loads(result.stdout)
    kinds = [each["kind"] for each in made]
    assert kinds.index("TableGroup") < kinds.index("Shard") < kinds.index("PersistentVolumeClaim")
    assert {each["metadata"]["namespace"] for each in made} == {"data"}
    assert not any("ownerReferences" in each["metadata"] or each["kind"] == "Secret" for each in made)
    admin = next(
        each
        for each in made
        if each["metadata"]["name"] == "shop-multiadmin" and each["kind"] == "Deployment"
    )
    assert admin["spec"]["replicas"] == 2
    assert run_render(tmp_path, {"cluster.yaml": CLUSTER}, "-o", "json").stdout == result.stdout


def test_a_missing_template_of_a_cluster_is_reported_in_one_sentence(tmp_path: Path) -> None:
    result = run_render(tmp_path, {"cluster.yaml": CLUSTER.split("---", maxsplit=1)[0]})
    assert (result.exit_code, result.stdout) == (1, "")
    assert "MultigresCluster/shop cannot be rendered" in result.stderr
    assert "spec.templateDefaults.coreTemplate" in result.stderr


def test_a_template_without_rows_names_the_option_that_gives_them(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    done = CliRunner().invoke(command, ["-f", str(tmp_path / "template.yaml")])
    expected = (
        "the files hold no MultigresCluster; to render a TenantTemplate, give its rows with --rows FILE"
    )
    assert (done.exit_code, done.stderr) == (1, f"Error: {expected}\n")
