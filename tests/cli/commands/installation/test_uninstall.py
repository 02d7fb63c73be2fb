"""Uninstalling removes finalizers, despite concurrent writes and operators that still run."""

from steward.cli.commands.installation.uninstall import (
    RemainingResource,
    deleted_first,
    helm_refusal,
    remove_finalizers,
)
from steward.install.manifests import manifests
from steward.install.values import Values
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.kube.objects.patches import MergePatch

CONFIG_MAP = Kind("v1", "ConfigMap")
OURS, THEIRS = "multigres.com/cleanup", "example.org/theirs"


def test_operators_lose_their_rights_before_finalizers_are_removed() -> None:
    """A process outlives its Deployment for a while: with its rights, it would add its finalizers again."""
    kinds = {manifest["kind"] for manifest in deleted_first(manifests(Values()))}
    assert {"Deployment", "ClusterRoleBinding", "RoleBinding"} <= kinds


def test_what_helm_installed_is_left_to_helm() -> None:
    annotations = {"meta.helm.sh/release-name": "pg", "meta.helm.sh/release-namespace": "ops"}
    owned: Manifest = {"kind": "Deployment", "metadata": {"name": "a", "annotations": annotations}}
    assert helm_refusal([{"kind": "Role", "metadata": {"name": "b"}}, owned]) == (
        "Helm installed this, so Helm removes it: helm uninstall pg --namespace ops"
    )


def test_definitions_that_helm_left_can_be_uninstalled() -> None:
    left = {"meta.helm.sh/release-name": "pg", "meta.helm.sh/release-namespace": "ops"}
    assert helm_refusal([{"kind": "CustomResourceDefinition", "metadata": {"annotations": left}}]) == ""


async def test_finalizers_are_removed_despite_a_concurrent_write(client: Client, namespace: str) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "held"))
    made = await _create_with_finalizer(client, ref)
    await client.patch(ref, MergePatch({"metadata": {"finalizers": [OURS, THEIRS]}}))

    await remove_finalizers(client, RemainingResource(ref, made["metadata"]["resourceVersion"], (OURS,)))

    assert (await client.get(ref.kind, ref.key))["metadata"]["finalizers"] == [THEIRS]
    await client.patch(ref, MergePatch({"metadata": {"finalizers": None}}))


async def test_a_deleted_object_needs_no_removal_of_finalizers(client: Client, namespace: str) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "never"))
    await remove_finalizers(client, RemainingResource(ref, "1", (OURS,)))


async def _create_with_finalizer(client: Client, ref: Ref) -> Manifest:
    metadata = {"name": ref.key.name, "namespace": ref.key.namespace, "finalizers": [OURS]}
    await client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    return await client.get(ref.kind, ref.key)
