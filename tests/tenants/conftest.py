"""kubectl against a server that has the three kinds."""

import pytest

from steward.kube.crd import definition
from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.kubectl import Kubectl


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """Client-side apply, as users do it."""
    found = Kubectl(control_plane.kubeconfig)
    items = [definition(custom) for custom in CUSTOM_KINDS]
    found("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})
    names = [f"crd/{item['metadata']['name']}" for item in items]
    found("wait", "--for=condition=Established", "--timeout=30s", *names)
    return found
