"""The definitions of the operators' kinds on the tests' control plane, as a user installs them: client-side apply."""

from collections.abc import Iterable

from steward.kube.crd.schema import CustomKind, definition
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.support.shared import exclusive


def install(control_plane: ControlPlane, kubectl: Kubectl, kinds: Iterable[CustomKind]) -> None:
    apply(control_plane, kubectl, [definition(custom) for custom in kinds])


def apply(control_plane: ControlPlane, kubectl: Kubectl, items: list[Manifest]) -> None:
    """One at a time: two kubectls that both see no definition both create it, and one of them fails."""
    names = [f"crd/{item['metadata']['name']}" for item in items]
    with exclusive(control_plane.directory / "tests.lock"):
        kubectl("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})
        kubectl("wait", "--for=condition=Established", "--timeout=120s", *names)
