"""A running multigres operator for the tests of this folder, as its own process."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.admission.self_registration import restricted
from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres import webhook_configurations
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.identities import kubeconfig_of
from tests.support.kubectl import Kubectl
from tests.support.operator_process import Operator, running


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """kubectl against a server that has the eight kinds. Client-side apply, as users do it."""
    found = Kubectl(control_plane.kubeconfig)
    definitions.install(control_plane, found, CUSTOM_KINDS)
    return found


@pytest.fixture
def namespace(namespace: str, kubectl: Kubectl) -> Iterator[str]:
    """The test's namespace, without finalizers at the end: nobody is left to answer to them."""
    yield namespace
    if namespaces.kept_plane():
        let_go(kubectl, namespace)


def let_go(kubectl: Kubectl, namespace: str) -> None:
    kinds = ",".join(f"{custom.plural}.{custom.group}" for custom in CUSTOM_KINDS)
    held = [
        item
        for item in kubectl.json("get", kinds, "-n", namespace)["items"]
        if item["metadata"].get("finalizers")
    ]
    for item in held:
        what = f"{item['kind']}.multigres.com/{item['metadata']['name']}"
        kubectl.outcome(
            "patch", what, "-n", namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}'
        )


@contextmanager
def running_operator(
    control_plane: ControlPlane, namespace: str, log: Path, /, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator that looks after one namespace, so that tests can run side by side. It must end in order."""
    operator = Operator("multigres", kubeconfig_of(MULTIGRES, control_plane), namespace, log)
    with running(operator, **settings) as process:
        yield process


@contextmanager
def operator_with_webhooks(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, log: Path, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The same with webhooks that the API server reaches on this machine, once it does."""
    reached = {
        "webhook_url": "https://127.0.0.1:0",
        "webhook_bind_address": "127.0.0.1:0",
        "webhook_cert_path": str(log.parent / "webhook-certificate"),
        "namespace": namespace,
    }
    try:
        with running_operator(control_plane, namespace, log, **reached, **settings) as process:
            _until_reviewed(process, kubectl, namespace)
            yield process
    finally:
        policies = restricted(webhook_configurations.child_policy(""), (namespace,))
        names = [f"{policy['kind']}/{policy['metadata']['name']}" for policy in policies]
        kubectl("delete", "--ignore-not-found", *names)


def _until_reviewed(process: subprocess.Popen[bytes], kubectl: Kubectl, namespace: str) -> None:
    """The API server takes a moment to know of its webhooks, and of each of the two configurations by itself."""
    spec = {"cells": [{"zone": "z1"}]}
    metadata = {"name": "probe", "namespace": namespace}
    probe = {"apiVersion": API_VERSION, "kind": "MultigresCluster", "metadata": metadata, "spec": spec}
    broken = {**probe, "spec": {**spec, "templateDefaults": {"cellTemplate": "gone"}}}
    create = ("create", "--dry-run=server", "-o", "json", "-f", "-")
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        is_defaulted = "databases" in kubectl.outcome(*create, document=probe)[0]
        if is_defaulted and "does not exist" in kubectl.outcome(*create, document=broken)[1]:
            return
        time.sleep(0.2)
    pytest.fail("the API server does not call the webhooks")


@pytest.fixture
def operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for the test's own namespace."""
    with running_operator(control_plane, namespace, tmp_path / "operator.log") as process:
        yield process


@pytest.fixture(scope="module")
def long_namespace(api_server: ApiServer) -> Iterator[str]:
    """A namespace that the stories of one file share."""
    name = namespaces.make(api_server)
    yield name
    namespaces.leave(api_server, name)
