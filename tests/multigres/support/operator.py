"""Runs a multigres operator as a process, with or without webhooks."""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.admission.self_registration import restrict_to_namespaces
from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres import webhook_configurations
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.multigres.support.waiting import LIMIT_SECONDS
from tests.support import data_planes
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process
from tests.support.short_periods import short_periods

REAL: Mapping[str, float] = {}
"""The periods of production."""
SHORT: Mapping[str, float] = {
    # How often what is well is looked at, and how long a state that is no longer reported counts.
    "steward.multigres.controllers.servers.reconciler:REST_SECONDS": 3.0,
    "steward.multigres.servers.grace:GRACE_SECONDS": 10.0,
    "steward.multigres.controllers.topology.retry:CHECK_SECONDS": 3.0,
    "steward.multigres.controllers.topology.retry:RETRY.cap": 3.0,
    "steward.multigres.controllers.volume_usage.reconciler:REST_SECONDS": 2.0,
    # How long a rolling update waits for servers, for an election and after a switch that was refused.
    "steward.multigres.rollout.pods:DOWN_SECONDS": 4.0,
    "steward.multigres.rollout.switching:SPACING_SECONDS": 3.0,
    "steward.multigres.controllers.common.primary_switches:RETRY_SECONDS": 3.0,
    "steward.multigres.controllers.shard.pod_rollout:LASTING_RECHECK_SECONDS": 1.0,
    "steward.multigres.controllers.cluster.operator_updates:RECHECK_SECONDS": 1.0,
    # How often progress is reported, and what is missing is looked for.
    "steward.multigres.controllers.common.reporting:UPDATE_SECONDS": 3.0,
    "steward.multigres.controllers.cluster.restore:RETRY_SECONDS": 2.0,
    "steward.multigres.controllers.settings.reconciler:RETRY_SECONDS": 2.0,
}
"""Periods of the operators of tests: what takes minutes in production takes seconds. The order of waits stays."""


@contextmanager
def running_operator(
    control_plane: ControlPlane,
    namespace: str,
    log: Path,
    /,
    launcher: tuple[str, ...] = (),
    *,
    periods: Mapping[str, float] = SHORT,
    **settings: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for one namespace, so that tests can run in parallel. It must exit without an error.

    It reaches the data plane that all tests share; with `connect_to=""` it reaches none. What it deletes drains for a
    second or two instead of half a minute or a minute: pods of kwok report no connections that could end earlier. A
    reconcile that waits for a server that is gone delays its end by 5 s instead of 15 s."""
    kubeconfig = operator_kubeconfig(MULTIGRES, control_plane)
    command = (*launcher, *short_periods(periods))
    operator = OperatorProcess("multigres", kubeconfig, namespace, log, launcher=command)
    if periods:
        settings.setdefault("default_graceful_shutdown_period", "1s")
        settings.setdefault("shutdown_grace", "5s")
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
    *,
    periods: Mapping[str, float] = SHORT,
    **settings: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """The same with webhooks; yields once the API server calls them. `namespace` may be several, by comma: the first
    is the operator's own."""
    homes = tuple(namespace.split(","))
    reached = {
        "webhook_url": "https://127.0.0.1:0",
        "webhook_bind_address": "127.0.0.1:0",
        "webhook_cert_path": str(log.parent / "webhook-certificate"),
        "namespace": homes[0],
    }
    try:
        options = {**reached, **settings}
        with running_operator(control_plane, namespace, log, launcher, periods=periods, **options) as process:
            _wait_for_webhooks(process, kubectl, homes[-1], log)
            yield process
    finally:
        policies = restrict_to_namespaces(webhook_configurations.child_policy(""), homes)
        names = [f"{policy['kind']}/{policy['metadata']['name']}" for policy in policies]
        kubectl("delete", "--ignore-not-found", *names)


def _wait_for_webhooks(process: subprocess.Popen[bytes], kubectl: Kubectl, namespace: str, log: Path) -> None:
    """The API server takes a moment to use new webhooks, and learns of the two configurations independently."""
    spec = {"cells": [{"zone": "z1"}]}
    metadata = {"name": "probe", "namespace": namespace}
    probe = {"apiVersion": API_VERSION, "kind": "MultigresCluster", "metadata": metadata, "spec": spec}
    broken = {**probe, "spec": {**spec, "templateDefaults": {"cellTemplate": "gone"}}}
    path = f"/apis/{API_VERSION}/namespaces/{namespace}/multigresclusters?dryRun=All"
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        is_defaulted = b"databases" in kubectl.server.call("POST", path, probe).body
        if is_defaulted and b"does not exist" in kubectl.server.call("POST", path, broken).body:
            return
        time.sleep(0.2)
    end = "\n".join(log.read_text().splitlines()[-10:])
    pytest.fail(f"the API server does not call the webhooks; the operator logged:\n{end}")


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
