"""kubectl for a server with the three CRDs, and a tenants operator as a process of its own."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.support import definitions
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World
from tests.tenants.support.operator import running_operator


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """Client-side apply, as users do it."""
    found = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, found, CUSTOM_KINDS)
    return found


@pytest.fixture
def operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for the test's own namespace; its SQLite files are in the test's own directory."""
    with running_operator(control_plane, namespace, tmp_path / "operator.log") as process:
        yield process


@pytest.fixture
def customers(tmp_path: Path) -> Customers:
    """A table of customers in the directory that the operator reads."""
    return Customers(tmp_path)


@pytest.fixture
def world(customers: Customers, kubectl: Kubectl, namespace: str, operator: subprocess.Popen[bytes]) -> World:
    """The test's namespace, with a running operator."""
    return World(kubectl, namespace)
