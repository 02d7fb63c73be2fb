"""Runs a multigres operator as a process, with or without webhooks."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.admission.self_registration import restrict_to_namespaces
from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres import webhook_configurations
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.support import data_planes
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process


@contextmanager
def running_operator(
    control_plane: ControlPlane, namespace: str, log: Path, /, launcher: tuple[str, ...] = (), **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for one namespace, so that tests can run in parallel. It must exit without an error.

    It reaches the data plane that all tests share; with `connect_to=""` it reaches none."""
    kubeconfig = operator_kubeconfig(MULTIGRES, control_plane)
    operator = OperatorProcess("multigres", kubeconfig, namespace, log, launcher=launcher)
    if "connect_to" not in settings:
        settings["connect_to"] = data_planes.connect_to(control_plane)
    with run_operator_process(operator, **settings) as process:
        yield process


@contextmanager
def operator_with_webhooks(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    namespace: str,
    log: Path,
    /,
    launcher: tuple[str, ...] = (),
    **settings: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """The same with webhooks; yields once the API server calls them."""
    reached = {
        "webhook_url": "https://127.0.0.1:0",
        "webhook_bind_address": "127.0.0.1:0",
        "webhook_cert_path": str(log.parent / "webhook-certificate"),
        "namespace": namespace,
    }
    try:
        with running_operator(control_plane, namespace, log, launcher, **{**reached, **settings}) as process:
            _wait_for_webhooks(process, kubectl, namespace)
            yield process
    finally:
        policies = restrict_to_namespaces(webhook_configurations.child_policy(""), (namespace,))
        names = [f"{policy['kind']}/{policy['metadata']['name']}" for policy in policies]
        kubectl("delete", "--ignore-not-found", *names)


def _wait_for_webhooks(process: subprocess.Popen[bytes], kubectl: Kubectl, namespace: str) -> None:
    """The API server takes a moment to use new webhooks, and learns of the two configurations independently."""
    spec = {"cells": [{"zone": "z1"}]}
    metadata = {"name": "probe", "namespace": namespace}
    probe = {"apiVersion": API_VERSION, "kind": "MultigresCluster", "metadata": metadata, "spec": spec}
    broken = {**probe, "spec": {**spec, "templateDefaults": {"cellTemplate": "gone"}}}
    create = ("create", "--dry-run=server", "-o", "json", "-f", "-")
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        is_defaulted = "databases" in kubectl.run(*create, document=probe)[0]
        if is_defaulted and "does not exist" in kubectl.run(*create, document=broken)[1]:
            return
        time.sleep(0.2)
    pytest.fail("the API server does not call the webhooks")


def remove_finalizers(kubectl: Kubectl, namespace: str) -> None:
    kinds = ",".join(f"{custom.plural}.{custom.group}" for custom in CUSTOM_KINDS)
    with_finalizers = [
        item
        for item in kubectl.json("get", kinds, "-n", namespace)["items"]
        if item["metadata"].get("finalizers")
    ]
    for item in with_finalizers:
        what = f"{item['kind']}.multigres.com/{item['metadata']['name']}"
        kubectl.run("patch", what, "-n", namespace, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
