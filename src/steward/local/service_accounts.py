"""The operators' service accounts on a local control plane, with exactly the shipped permissions and limits.

Neither `steward up` nor a test runs an operator as an administrator, so a missing permission is noticed at once.
"""

from __future__ import annotations

import json
from typing import Any

from steward.install import manifests
from steward.install.operators import ShippedOperator
from steward.install.values import Values
from steward.install.workloads import service_account
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane

TOKEN_SECONDS = 365 * 24 * 3600
"""A year: a cluster may run for long, and the token of a process outside the cluster is not renewed."""


def account_objects(operator: ShippedOperator) -> list[Manifest]:
    """The namespace, the service account, its RBAC objects and its admission policy, as an installation has them."""
    values = Values()
    return [
        manifests.namespace(values),
        service_account(operator, values),
        *manifests.rbac(operator, values),
        *manifests.policy(operator, values),
    ]


def service_account_user(operator: ShippedOperator) -> str:
    return f"system:serviceaccount:{Values().namespace}:{operator.name}"


def token_path(operator: ShippedOperator) -> str:
    return f"/api/v1/namespaces/{Values().namespace}/serviceaccounts/{operator.name}/token"


def token_request() -> Manifest:
    spec = {"expirationSeconds": TOKEN_SECONDS}
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}


def kubeconfig(plane: ControlPlane, operator: ShippedOperator, token: str) -> str:
    cluster = {"server": plane.url, "certificate-authority": str(plane.ca_file)}
    context = {"cluster": "local", "user": operator.name, "namespace": "default"}
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": operator.name, "user": {"token": token}}],
        "contexts": [{"name": "local", "context": context}],
        "current-context": "local",
    }
    return json.dumps(content)
