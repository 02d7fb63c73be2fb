"""A running multigres operator as a process, and other fixtures of this folder."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest

from steward.kube.client.client import connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.cache_rules import SHARD
from steward.multigres.views import ShardView
from tests.multigres.support.certificates import SHARD_SPEC, CertificateScenario
from tests.multigres.support.operator import remove_finalizers, running_operator
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """kubectl against a server that has the nine kinds. Client-side apply, as users do it."""
    found = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, found, CUSTOM_KINDS)
    return found


@pytest.fixture
def namespace(namespace: str, kubectl: Kubectl) -> Iterator[str]:
    """The test's namespace. Finalizers are removed at the end: no operator is left to do it."""
    yield namespace
    if namespaces.external_control_plane():
        remove_finalizers(kubectl, namespace)


@pytest.fixture
def operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An operator for the test's own namespace."""
    with running_operator(control_plane, namespace, tmp_path / "operator.log") as process:
        yield process


@pytest.fixture(scope="module")
def long_namespace(api_server: ApiServer) -> Iterator[str]:
    """A namespace that the tests of one file share."""
    name = namespaces.create_namespace(api_server)
    yield name
    namespaces.release_namespace(api_server, name)


@pytest.fixture
async def certificates(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> AsyncIterator[CertificateScenario]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    # The shard must exist: the garbage collector deletes Secrets without an owner.
    metadata = {"name": "s", "namespace": namespace, "labels": {"multigres.com/cluster": "demo"}}
    shard = {"apiVersion": SHARD.api_version, "kind": SHARD.kind, "metadata": metadata, "spec": SHARD_SPEC}
    yield CertificateScenario(client, msgspec.json.decode(await client.create(shard), type=ShardView))
    await client.close()
