"""The operators' own identities on a local control plane: their service accounts, with exactly the shipped rights.

Nobody runs an operator as an administrator here, neither `steward up` nor a test, so a right that is missing in what
we ship is missed at once.
"""

from __future__ import annotations

import json
from typing import Any

from steward.install import manifests
from steward.install.operators import Shipped
from steward.install.values import Values
from steward.install.workloads import service_account
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane

TOKEN_SECONDS = 365 * 24 * 3600
"""A cluster may stay up for long, and nobody renews the token of a process outside it."""


def account_objects(operator: Shipped) -> list[Manifest]:
    """The namespace, the account and its rights, as an installation has them."""
    values = Values()
    return [
        manifests.namespace(values),
        service_account(operator, values),
        *manifests.rbac(operator, values),
    ]


def user_of(operator: Shipped) -> str:
    return f"system:serviceaccount:{Values().namespace}:{operator.name}"


def token_path(operator: Shipped) -> str:
    return f"/api/v1/namespaces/{Values().namespace}/serviceaccounts/{operator.name}/token"


def token_request() -> Manifest:
    spec = {"expirationSeconds": TOKEN_SECONDS}
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}


def kubeconfig(plane: ControlPlane, operator: Shipped, token: str) -> str:
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
