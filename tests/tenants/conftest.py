"""kubectl against a server that has the three kinds, and a running tenants operator, as its own process."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.install.operators import TENANTS
from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.support import definitions
from tests.support.identities import kubeconfig_of
from tests.support.kubectl import Kubectl
from tests.support.operator_process import Operator, running
from tests.tenants.support.customers import Customers, World, until
from tests.tenants.support.manifests import resource, template


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """Client-side apply, as users do it."""
    found = Kubectl(control_plane.kubeconfig)
    definitions.install(control_plane, found, CUSTOM_KINDS)
    return found


@contextmanager
def running_operator(
    control_plane: ControlPlane, namespace: str, log: Path, /, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator that looks after one namespace, so that tests can run side by side. It must end in order."""
    operator = Operator("tenants", kubeconfig_of(TENANTS, control_plane), namespace, log)
    with running(operator, **{"sqlite_root": str(log.parent), **settings}) as process:
        yield process


@pytest.fixture
def operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for the test's own namespace; its SQLite files are in the test's own directory."""
    with running_operator(control_plane, namespace, tmp_path / "operator.log") as process:
        yield process


@pytest.fixture
def customers(tmp_path: Path) -> Customers:
    """A table of customers where the operator finds it."""
    return Customers(tmp_path)


@pytest.fixture
def world(customers: Customers, kubectl: Kubectl, namespace: str, operator: subprocess.Popen[bytes]) -> World:
    """The test's namespace, with an operator at work in it."""
    return World(kubectl, namespace)


@contextmanager
def operator_with_webhooks(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """The same with webhooks that the API server reaches on this machine, once it does."""
    reached = {
        "webhook_url": "https://127.0.0.1:0",
        "webhook_bind_address": "127.0.0.1:0",
        "webhook_cert_path": str(log.parent / "webhook-certificate"),
        "namespace": namespace,
    }
    with running_operator(control_plane, namespace, log, **reached) as process:
        _until_reviewed(kubectl, namespace)
        yield process


def _until_reviewed(kubectl: Kubectl, namespace: str) -> None:
    """The API server takes a moment to know of its webhooks: a template that cannot be parsed tells when."""
    broken = template(configMaps=[resource(nameTemplate="{{ .uid")])
    create = ("create", "-n", namespace, "--dry-run=server", "-f", "-")
    until(lambda: "unclosed action" in kubectl.outcome(*create, document=broken)[1])
