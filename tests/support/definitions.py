"""Installs the operators' CRDs on the tests' control plane as a user does: by client-side apply."""

from collections.abc import Iterable

from steward.kube.crd.schema import CustomKind, definition
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.support.shared import exclusive


def install_crds(control_plane: ControlPlane, kubectl: Kubectl, kinds: Iterable[CustomKind]) -> None:
    apply_crds(control_plane, kubectl, [definition(custom) for custom in kinds])


def apply_crds(control_plane: ControlPlane, kubectl: Kubectl, items: list[Manifest]) -> None:
    """Under a lock: of two kubectls that find no CRD and create it, one would fail."""
    names = [f"crd/{item['metadata']['name']}" for item in items]
    with exclusive(control_plane.directory / "tests.lock"):
        kubectl("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})
        kubectl("wait", "--for=condition=Established", "--timeout=120s", *names)
