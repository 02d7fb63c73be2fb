"""Runs the tenants operator as a process of its own."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from steward.install.operators import TENANTS
from steward.local.control_plane import ControlPlane
from steward.tenants.api.group import API_VERSION
from steward.tenants.api.kinds import CUSTOM_KINDS
from steward.testkit import FaultProxy
from tests.support import definitions
from tests.support.identities import operator_kubeconfig, operator_token
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process
from tests.tenants.support.customers import until
from tests.tenants.support.manifests import resource, template


@contextmanager
def running_operator(
    control_plane: ControlPlane, namespace: str, log: Path, /, launcher: tuple[str, ...] = (), **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for one namespace, so that tests can run concurrently. It must exit without an error."""
    kubeconfig = operator_kubeconfig(TENANTS, control_plane)
    operator = OperatorProcess("tenants", kubeconfig, namespace, log, launcher=launcher)
    with run_operator_process(operator, **{"sqlite_root": str(log.parent), **settings}) as process:
        yield process


@asynccontextmanager
async def proxied_operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, directory: Path
) -> AsyncIterator[tuple[FaultProxy, OperatorProcess]]:
    """A proxy to the API server, and an operator that uses it and is not started yet."""
    await asyncio.to_thread(definitions.install_crds, control_plane, kubectl, CUSTOM_KINDS)
    await asyncio.to_thread(operator_kubeconfig, TENANTS, control_plane)
    token = await asyncio.to_thread(operator_token, TENANTS, kubectl)
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        config = proxy.write_kubeconfig(directory / "kubeconfig", token)
        yield proxy, OperatorProcess("tenants", config, namespace, directory / "log")


@contextmanager
def operator_with_webhooks(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """The same with webhooks, once the API server calls them on this machine."""
    webhook_settings = {
        "webhook_url": "https://127.0.0.1:0",
        "webhook_bind_address": "127.0.0.1:0",
        "webhook_cert_path": str(log.parent / "webhook-certificate"),
        "namespace": namespace,
    }
    with running_operator(control_plane, namespace, log, **webhook_settings) as process:
        _until_webhooks_are_called(kubectl, namespace)
        yield process


def _until_webhooks_are_called(kubectl: Kubectl, namespace: str) -> None:
    """The API server takes a moment to use new webhooks: until a template that cannot be parsed is denied."""
    broken = template(configMaps=[resource(nameTemplate="{{ .uid")])
    path = f"/apis/{API_VERSION}/namespaces/{namespace}/tenanttemplates?dryRun=All"
    until(lambda: b"unclosed action" in kubectl.server.call("POST", path, broken).body)
