"""A running multigres operator for the tests of this folder, as its own process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.kube.crd import definition
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.kubectl import Kubectl


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """kubectl against a server that has the eight kinds. Client-side apply, as users do it."""
    found = Kubectl(control_plane.kubeconfig)
    items = [definition(custom) for custom in CUSTOM_KINDS]
    found("apply", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})
    names = [f"crd/{item['metadata']['name']}" for item in items]
    found("wait", "--for=condition=Established", "--timeout=30s", *names)
    return found


@contextmanager
def running_operator(
    control_plane: ControlPlane, namespace: str, log: Path, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator that looks after one namespace, so that tests can run side by side. It must end in order."""
    environment = os.environ | {
        "KUBECONFIG": str(control_plane.kubeconfig),
        "STEWARD_NAMESPACES": namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
        **{f"STEWARD_{name.upper()}": value for name, value in settings.items()},
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "steward"), "run", "multigres"],
            env=environment,
            stdout=output,
            stderr=output,
        )
        try:
            yield process
        finally:
            process.terminate()
            code = process.wait(timeout=30)
    text = log.read_text()
    assert code == 0, text
    assert "Traceback" not in text, text


@pytest.fixture
def operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for the test's own namespace."""
    with running_operator(control_plane, namespace, tmp_path / "operator.log") as process:
        yield process
