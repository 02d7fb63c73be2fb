"""Nothing keeps a finalizer that nobody answers any more, whatever happens while an installation goes."""

from collections.abc import AsyncIterator

import pytest

from steward.cli.commands.uninstall import Living, first_to_go, release
from steward.install.manifests import manifests
from steward.install.values import Values
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.local.control_plane import ControlPlane

CONFIG_MAP = Kind("v1", "ConfigMap")
OURS, THEIRS = "multigres.com/cleanup", "example.org/theirs"


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


def test_operators_lose_their_rights_before_anything_is_released() -> None:
    """A process outlives its Deployment for a while: with its rights, it would put its finalizers back."""
    kinds = {manifest["kind"] for manifest in first_to_go(manifests(Values()))}
    assert {"Deployment", "ClusterRoleBinding", "RoleBinding"} <= kinds


async def test_what_was_written_since_it_was_listed_is_released_all_the_same(
    client: Client, namespace: str
) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "held"))
    made = await _held(client, ref)
    await client.patch(ref, MergePatch({"metadata": {"finalizers": [OURS, THEIRS]}}))

    await release(client, Living(ref, made["metadata"]["resourceVersion"], (OURS,)))

    assert (await client.get(ref.kind, ref.key))["metadata"]["finalizers"] == [THEIRS]
    await client.patch(ref, MergePatch({"metadata": {"finalizers": None}}))


async def test_what_is_gone_meanwhile_needs_no_release(client: Client, namespace: str) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "never"))
    await release(client, Living(ref, "1", (OURS,)))


async def _held(client: Client, ref: Ref) -> Manifest:
    metadata = {"name": ref.key.name, "namespace": ref.key.namespace, "finalizers": [OURS]}
    await client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    return await client.get(ref.kind, ref.key)
