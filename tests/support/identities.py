"""The operators' service accounts on the tests' control plane, with the shipped permissions.

No test runs an operator as an administrator, so a missing permission fails a test.
"""

import hashlib
import json
import os
import tempfile
from functools import cache
from pathlib import Path

from steward.install.operators import TENANTS, ShippedOperator
from steward.install.rbac import RBAC, databases_for_tenants
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from steward.local.service_accounts import account_objects, kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.shared import exclusive

_TOKEN_SECONDS = 24 * 3600


def _webhook_registration_rbac(operator: ShippedOperator) -> list[Manifest]:
    """Permissions that an operator needs only outside a cluster, where it registers its webhooks itself."""
    name = f"{operator.name}-outside"
    resources = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    policies = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"]
    rule = {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": [*resources, *policies],
        "verbs": ["get", "create", "patch", "delete"],
    }
    role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule]}
    binding = {
        "apiVersion": RBAC,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": operator.name, "namespace": Values().namespace}],
    }
    return [role, binding]


# Only Kubernetes writes these, and the roles of the operators do not grant them. The API server converts each written
# object for each policy that matches, which took a tenth of its processor time.
_WRITTEN_BY_KUBERNETES = {
    "": (
        "nodes/status",
        "persistentvolumeclaims/status",
        "persistentvolumes/status",
        "pods/binding",
        "pods/status",
    ),
    "apps": (
        "controllerrevisions",
        "deployments/status",
        "replicasets",
        "replicasets/status",
        "statefulsets/status",
    ),
    "policy": ("poddisruptionbudgets/status",),
}


def _with_registration(manifest: Manifest) -> Manifest:
    """The admission policy of an operator, without its rule for webhook configurations."""
    if manifest["kind"] != "ValidatingAdmissionPolicy":
        return manifest
    constraints = manifest["spec"]["matchConstraints"]
    left_out = {"admissionregistration.k8s.io": ("*",), **_WRITTEN_BY_KUBERNETES}
    rules = [
        {"apiGroups": [group], "apiVersions": ["*"], "operations": ["*"], "resources": list(resources)}
        for group, resources in left_out.items()
    ]
    excluded = [*constraints["excludeResourceRules"], *rules]
    matched = {**constraints, "excludeResourceRules": excluded}
    return {**manifest, "spec": {**manifest["spec"], "matchConstraints": matched}}


@cache
def operator_kubeconfig(operator: ShippedOperator, control_plane: ControlPlane) -> Path:
    """A kubeconfig of the operator, with a token that is valid for the whole run."""
    kubectl = Kubectl(control_plane.kubeconfig)
    manifests = [_with_registration(manifest) for manifest in account_objects(operator)]
    manifests += [databases_for_tenants()] if operator == TENANTS else []
    manifests += _webhook_registration_rbac(operator)
    document = {"apiVersion": "v1", "kind": "List", "items": manifests}
    digest = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    applied = control_plane.directory / f"tests-{operator.short_name}-{digest[:12]}.applied"
    # Once for all workers, and under a lock: of two kubectls that find no object and create it, one would fail.
    with exclusive(control_plane.directory / "tests.lock"):
        if not applied.exists():
            kubectl("apply", "-f", "-", document=document)
            applied.touch()
    token = operator_token(operator, kubectl)
    # In the directory of the control plane, which is deleted with it. A worker has its own file.
    handle, name = tempfile.mkstemp(prefix=f"{operator.short_name}-", dir=control_plane.directory)
    os.close(handle)
    file = Path(name)
    file.write_text(kubeconfig(control_plane, operator, token))
    return file


def operator_token(operator: ShippedOperator, kubectl: Kubectl) -> str:
    path = f"/api/v1/namespaces/{Values().namespace}/serviceaccounts/{operator.name}/token"
    answer = kubectl.server.call("POST", path, {"spec": {"expirationSeconds": _TOKEN_SECONDS}})
    assert answer.status == 201, answer.body
    return str(answer.json()["status"]["token"])
