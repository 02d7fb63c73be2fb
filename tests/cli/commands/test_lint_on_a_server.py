"""`steward lint` and `steward render` with what a cluster has: registries, templates and schemas of custom kinds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.multigres.support.waiting import eventually
from tests.support.definitions import apply_crds, install_crds
from tests.support.kubectl import Kubectl
from tests.support.steward_command import run_steward
from tests.support.yaml_text import load_yaml, load_yaml_documents

GROUP = "lint.steward.test"
REGISTRY = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantRegistry
metadata: {name: crm}
spec:
  source: {type: sqlite, syncInterval: 1m, sqlite: {file: crm.db, table: customers}}
  valueMappings: {uid: id, hostOrUrl: url, activate: active}
  extraValueMappings: {plan: plan}
"""
TEMPLATE = f"""\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {{name: web}}
spec:
  registryId: crm
  manifests:
    - id: widget
      nameTemplate: "{{{{ .uid }}}}"
      spec: {{apiVersion: {GROUP}/v1, kind: Widget, spec: {{size: 3, plan: "{{{{ .plan }}}}"}}}}
"""
DEFINITION = f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.{GROUP}}}
spec:
  group: {GROUP}
  names: {{kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [size]
              properties: {{size: {{type: integer, maximum: 9}}, plan: {{type: string}}}}
"""
CLUSTER = """\
apiVersion: multigres.com/v1alpha1
kind: MultigresCluster
metadata: {name: shop}
spec:
  templateDefaults: {shardTemplate: sizes}
  cells: [{name: z1, zone: z1}]
"""
SHARD_TEMPLATE = """\
apiVersion: multigres.com/v1alpha1
kind: ShardTemplate
metadata: {name: sizes}
spec: {pools: {main: {replicasPerCell: 3}}}
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def kubectl(control_plane: ControlPlane) -> Iterator[Kubectl]:
    found = Kubectl(control_plane.kubeconfig)
    install_crds(control_plane, found, [*MULTIGRES_KINDS, *TENANT_KINDS])
    apply_crds(control_plane, found, [load_yaml(DEFINITION)])
    # The API server publishes the schema of a new definition a moment later.
    eventually(lambda: f"/apis/{GROUP}/v1" in found("get", "--raw", "/openapi/v3"), "the schema of Widget")
    yield found
    found("delete", "crd", f"widgets.{GROUP}", "--wait=false")


@pytest.fixture
def run(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Run:
    """Runs a verb on a file with these manifests, against a namespace with a registry and a ShardTemplate."""
    for manifest in (REGISTRY, SHARD_TEMPLATE):
        kubectl("apply", "-n", namespace, "-f", "-", document=load_yaml(manifest))

    def run_verb(verb: str, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "given.yaml"
        file.write_text(text)
        given = [str(file)] if verb == "lint" else ["-f", str(file)]
        where = ("-n", namespace, "--kubeconfig", str(control_plane.kubeconfig))
        return run_steward(verb, *given, *options, *where)

    return run_verb


def test_a_template_that_fits_the_cluster_has_no_findings(run: Run) -> None:
    done = run("lint", TEMPLATE)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (".plan", ".paln", ".paln is no column of the registry: did you mean .plan?"),
        ("registryId: crm", "registryId: crn", "no TenantRegistry crn is among the files or in the cluster; did you"),
        ("size: 3", "siz: 3, size: 3", "spec.siz: there is no such field; did you mean size?"),
        ("size: 3", 'size: "3"', "spec.size: must be a whole number, and is text: remove the quotes"),
        ("size: 3", "size: 30", "spec.size: is 30, and may be 9 at most"),
        ("size: 3, ", "", "spec.size: is missing"),
        ("kind: Widget", "kind: Widgt", f"the cluster has no kind Widgt in {GROUP}/v1; did you mean Widget?"),
        (f"{GROUP}/v1", "gone.steward.test/v1", "the cluster has no kind Widget in gone.steward.test/v1: apply its"),
    ],
    ids=["variable", "registry", "field", "type", "bound", "missing", "kind", "group"],
)  # fmt: skip
def test_what_does_not_fit_the_cluster_is_an_error(run: Run, old: str, new: str, finding: str) -> None:
    done = run("lint", TEMPLATE.replace(old, new))
    assert (done.returncode, finding in done.stdout) == (1, True), done.stdout + done.stderr


def test_a_cluster_is_checked_and_rendered_with_the_templates_of_the_cluster(run: Run) -> None:
    assert run("lint", CLUSTER).returncode == 0
    done = run("render", CLUSTER)
    pools = [each for each in load_yaml_documents(done.stdout) if each["kind"] == "StatefulSet"]
    assert [each["spec"]["replicas"] for each in pools if "pool-main" in each["metadata"]["name"]] == [3]


def test_render_takes_the_columns_from_the_registry_of_the_cluster(run: Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("id,url,active,plan\nacme,a.example.com,1,gold\n")
    [widget] = load_yaml_documents(run("render", TEMPLATE, "--rows", str(rows)).stdout)
    assert (widget["metadata"]["name"], widget["spec"]["plan"]) == ("acme", "gold")


def test_a_missing_right_is_named(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    template = tmp_path / "t.yaml"
    template.write_text(TEMPLATE)
    config = load_yaml(control_plane.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "eve"
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "steward.cli.main", "lint", str(template), "-n", namespace]
    done = subprocess.run(
        [*command, "--kubeconfig", str(tmp_path / "kubeconfig")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert 'cannot list resource "tenantregistries"' in done.stderr
