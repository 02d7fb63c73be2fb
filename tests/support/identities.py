"""The operators' own identities on the tests' control plane: their service accounts with the shipped rights.

No test runs an operator as an administrator, so a right that is missing in what we ship fails a story here first.
"""

import tempfile
from functools import cache
from pathlib import Path

from steward.install.operators import TENANTS, Shipped
from steward.install.rbac import RBAC, databases_for_tenants
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from steward.local.service_accounts import account_objects, kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.shared import exclusive


def _registering(operator: Shipped) -> list[Manifest]:
    """Outside a cluster an operator registers its webhooks itself: rights that it never needs inside one."""
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


@cache
def kubeconfig_of(operator: Shipped, control_plane: ControlPlane) -> Path:
    """A kubeconfig of the operator, with a token that outlives the run."""
    kubectl = Kubectl(control_plane.kubeconfig)
    needed = account_objects(operator)
    needed += [databases_for_tenants()] if operator == TENANTS else []
    needed += _registering(operator)
    # One worker at a time: two kubectls that both see nothing both create, and one of them fails.
    with exclusive(control_plane.directory / "tests.lock"):
        kubectl("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": needed})
    token = token_of(operator, kubectl)
    file = Path(tempfile.mkdtemp(prefix="steward-identity-")) / f"{operator.word}.kubeconfig"
    file.write_text(kubeconfig(control_plane, operator, token))
    file.chmod(0o600)
    return file


def token_of(operator: Shipped, kubectl: Kubectl) -> str:
    return kubectl("create", "token", operator.name, "-n", Values().namespace, "--duration=24h").strip()
