"""The schemas and the order of `steward lint` and `steward render`, against a real server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from click.testing import CliRunner

from steward.cli.commands import render
from steward.docgen.builtin_schemas import format_schemas, reduce_document
from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.programs import built_program

TEMPLATE = """\
apiVersion: operator.kubernetes-tenants.org/v1
kind: TenantTemplate
metadata: {name: web, namespace: NAMESPACE}
spec:
  registryId: crm
  deployments:
    - id: app
      nameTemplate: "{{ .uid }}-app"
      targetNamespace: "NAMESPACE-{{ .uid }}"
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: "{{ int .size }}"
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}"}}
            spec: {containers: [{name: app, image: app, ports: [{containerPort: 80}]}]}
  namespaces:
    - id: home
      nameTemplate: "NAMESPACE-{{ .uid }}"
      spec: {apiVersion: v1, kind: Namespace}
"""


def test_the_schemas_are_those_of_the_pinned_api_server(control_plane: ControlPlane) -> None:
    served = json.loads(Kubectl(control_plane.kubeconfig)("get", "--raw", "/openapi/v2"))
    stored = (ROOT / "src/steward/cli/lint/builtin_schemas.json").read_text()
    assert stored == format_schemas(reduce_document(served))


def test_kubectl_applies_what_render_prints_in_that_order(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    template, rows = tmp_path / "template.yaml", tmp_path / "rows.csv"
    template.write_text(TEMPLATE.replace("NAMESPACE", namespace))
    rows.write_text("uid,hostOrUrl,activate,size\nacme,a.example.com,true,2\n")
    rendered = CliRunner().invoke(render.command, ["-f", str(template), "--rows", str(rows)])
    done = subprocess.run(
        [built_program("kubectl"), "--kubeconfig", control_plane.kubeconfig, "apply", "-f", "-"],
        input=rendered.stdout, capture_output=True, text=True, check=False, timeout=300)  # fmt: skip
    Kubectl(control_plane.kubeconfig).run("delete", "namespace", f"{namespace}-acme", "--wait=false")
    assert done.stdout.splitlines() == [
        f"namespace/{namespace}-acme created",
        "deployment.apps/acme-app created",
    ]
