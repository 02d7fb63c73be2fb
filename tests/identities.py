"""The operators' own identities on the tests' control plane: their service accounts with the shipped rights.

No test runs an operator as an administrator, so a right that is missing in what we ship fails a story here first.
"""

import json
import tempfile
from functools import cache
from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.shipping import manifests
from steward.shipping.operators import Shipped
from steward.shipping.values import Values
from steward.shipping.workloads import service_account
from tests.kubectl import Kubectl


@cache
def kubeconfig_of(operator: Shipped, control_plane: ControlPlane) -> Path:
    """A kubeconfig of the operator, with a token that outlives the run."""
    values = Values()
    kubectl = Kubectl(control_plane.kubeconfig)
    needed = [
        manifests.namespace(values),
        service_account(operator, values),
        *manifests.rbac(operator, values),
    ]
    kubectl("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": needed})
    token = kubectl("create", "token", operator.name, "-n", values.namespace, "--duration=24h").strip()
    file = Path(tempfile.mkdtemp(prefix="steward-identity-")) / f"{operator.word}.kubeconfig"
    file.write_text(json.dumps(_kubeconfig(control_plane, operator, token)))
    file.chmod(0o600)
    return file


def _kubeconfig(control_plane: ControlPlane, operator: Shipped, token: str) -> dict[str, object]:
    cluster = {"server": control_plane.url, "certificate-authority": str(control_plane.ca_file)}
    context = {"cluster": "local", "user": operator.name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": operator.name, "user": {"token": token}}],
        "contexts": [{"name": "local", "context": context}],
        "current-context": "local",
    }
