"""The operators' own identities on the tests' control plane: their service accounts with the shipped rights.

No test runs an operator as an administrator, so a right that is missing in what we ship fails a story here first.
"""

import tempfile
from functools import cache
from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.local.identities import account_objects, kubeconfig
from steward.shipping.operators import Shipped
from steward.shipping.values import Values
from tests.kubectl import Kubectl
from tests.shared import exclusive


@cache
def kubeconfig_of(operator: Shipped, control_plane: ControlPlane) -> Path:
    """A kubeconfig of the operator, with a token that outlives the run."""
    kubectl = Kubectl(control_plane.kubeconfig)
    needed = account_objects(operator)
    # One worker at a time: two kubectls that both see nothing both create, and one of them fails.
    with exclusive(control_plane.directory / "tests.lock"):
        kubectl("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": needed})
    where = ("-n", Values().namespace, "--duration=24h")
    token = kubectl("create", "token", operator.name, *where).strip()
    file = Path(tempfile.mkdtemp(prefix="steward-identity-")) / f"{operator.word}.kubeconfig"
    file.write_text(kubeconfig(control_plane, operator, token))
    file.chmod(0o600)
    return file
