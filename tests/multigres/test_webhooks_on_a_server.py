"""The webhooks of multigres, called by a real API server, and the policy that protects children."""

import asyncio
import base64
import itertools
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from steward.admission.authority import Profile, Subject, Validity, make_authority, sign_leaf
from steward.admission.server import ServerSettings, WebhookServer
from steward.admission.serving_certificate import ServingCertificate
from steward.kube.cache import Caches
from steward.kube.client import Client, connect
from steward.kube.config import ConfigSource, load_settings
from steward.kube.kinds import Manifest, ref_of
from steward.local.control_plane import ControlPlane
from steward.multigres.admission import MultigresWebhooks
from steward.multigres.rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE, Rules
from steward.multigres.server_rules import child_policy, webhook_configurations
from tests.kubectl import Kubectl

SEEDS = Path(__file__).parent / "seeds"
NAME = Subject("webhook", "tests")


def certificate_files(directory: Path) -> bytes:
    """A server certificate for loopback in `directory`; returns the authority that signed it."""
    span = Validity(time.time() - 60, time.time() + 3600)
    authority = make_authority(NAME, span)
    leaf = sign_leaf(authority, Profile(NAME, ("localhost",), ("127.0.0.1",)), span)
    (directory / "tls.crt").write_bytes(leaf.certificate)
    (directory / "tls.key").write_bytes(leaf.key)
    return authority.certificate


def only_in(namespace: str, configuration: Manifest) -> Manifest:
    """The control plane is shared: only the test's own namespace asks the test's own webhooks."""
    configuration["metadata"]["name"] += f"-{namespace}"
    here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    for webhook in configuration["webhooks"]:
        webhook["namespaceSelector"] = here
    return configuration


@pytest_asyncio.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    connected = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield connected
    await connected.close()


@pytest_asyncio.fixture
async def webhooks(client: Client, kubectl: Kubectl, namespace: str, tmp_path: Path) -> AsyncIterator[None]:
    authority = certificate_files(tmp_path)
    caches = Caches(client)
    rules = Rules("", (namespace,))
    templates = {
        CORE_TEMPLATE: caches.store(rules.core_template),
        CELL_TEMPLATE: caches.store(rules.cell_template),
        SHARD_TEMPLATE: caches.store(rules.shard_template),
    }
    handlers = MultigresWebhooks(client, caches.store(rules.cluster), templates)
    server = WebhookServer(ServerSettings(host="127.0.0.1", port=0), ServingCertificate(tmp_path))
    for webhook in handlers.webhooks():
        server.add(webhook)
    await caches.start()
    await caches.wait_synced()
    await server.start()
    bundle = base64.b64encode(authority).decode()
    reached = {"url": f"https://127.0.0.1:{server.port}", "caBundle": bundle}
    made = [only_in(namespace, configuration) for configuration in webhook_configurations(reached)]
    for configuration in made:
        await client.create(configuration)
    await asyncio.to_thread(_until_called, kubectl, namespace)
    yield
    for configuration in made:
        await client.delete(ref_of(configuration))
    await server.stop()
    await caches.stop()


def _until_called(kubectl: Kubectl, namespace: str) -> None:
    """The API server takes a moment to know of its webhooks."""
    probe = ("create", "--dry-run=server", "-o", "json", "-f", "-")
    while "databases" not in kubectl(*probe, document=cluster(namespace)):
        time.sleep(0.1)


def cluster(namespace: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "mini", "namespace": namespace},
        "spec": {"cells": [{"zone": "z1"}], **spec},
    }


def template(kind: str, namespace: str, name: str, spec: Any = None) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "multigres.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec or {}}


async def call(kubectl: Kubectl, *args: str, document: Any = None) -> str:
    """kubectl in a thread: the webhooks answer from this very loop."""
    return await asyncio.to_thread(lambda: kubectl(*args, document=document))


async def refused(kubectl: Kubectl, *args: str, document: Any = None) -> str:
    return await asyncio.to_thread(lambda: kubectl.refused(*args, document=document))


async def version(kubectl: Kubectl, namespace: str, name: str) -> tuple[int, str]:
    found = await asyncio.to_thread(lambda: kubectl.json("get", "mgc", name, "-n", namespace))
    return found["metadata"]["generation"], found["metadata"]["resourceVersion"]


@pytest.mark.parametrize("how", [["apply"], ["apply", "--server-side"]], ids=" ".join)
async def test_the_smallest_cluster_shows_everything_and_a_second_apply_changes_nothing(
    webhooks: None, kubectl: Kubectl, namespace: str, how: list[str]
) -> None:
    manifest = yaml.safe_load((SEEDS / "multigrescluster-minimal-cluster.yaml").read_text())
    manifest["metadata"]["namespace"] = namespace
    await call(kubectl, *how, "-f", "-", document=manifest)
    first = await version(kubectl, namespace, "minimal-cluster")
    stored = await asyncio.to_thread(lambda: kubectl.json("get", "mgc", "minimal-cluster", "-n", namespace))
    assert stored["spec"]["cells"][0]["name"] == "us-east-1a"
    assert stored["spec"]["databases"][0]["tablegroups"][0]["shards"][0]["spec"]["pools"]["default"]
    await call(kubectl, *how, "-f", "-", document=manifest)
    assert await version(kubectl, namespace, "minimal-cluster") == first


async def test_all_errors_are_told_at_once_with_their_fields(
    webhooks: None, kubectl: Kubectl, namespace: str
) -> None:
    small = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    spec = {"templateDefaults": {"cellTemplate": "gone"}, "multiadmin": {"spec": {"resources": small}}}
    told = await refused(kubectl, "create", "-f", "-", document=cluster(namespace, **spec))
    assert "spec.templateDefaults.cellTemplate: CellTemplate 'gone' does not exist" in told
    assert "spec.multiadmin.spec.resources.limits.cpu: the limit 1 is below the request 2" in told


async def test_a_template_applied_a_moment_before_is_known(
    webhooks: None, kubectl: Kubectl, namespace: str
) -> None:
    both = [
        template("CellTemplate", namespace, "new"),
        cluster(namespace, templateDefaults={"cellTemplate": "new"}),
    ]
    await call(kubectl, "create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": both})


async def test_advice_comes_as_a_warning(webhooks: None, kubectl: Kubectl, namespace: str) -> None:
    document = cluster(namespace, pvcDeletionPolicy={"whenDeleted": "Delete"})
    told = await asyncio.to_thread(lambda: kubectl.warned("create", "-f", "-", document=document))
    assert "Warning: spec.pvcDeletionPolicy.whenDeleted: Delete loses all data" in told


async def test_a_later_choice_of_a_template_takes_the_written_out_branch_back(
    webhooks: None, kubectl: Kubectl, namespace: str
) -> None:
    await call(kubectl, "create", "-f", "-", document=template("CoreTemplate", namespace, "core"))
    await call(kubectl, "create", "-f", "-", document=cluster(namespace))
    patch = '{"spec":{"globalTopoServer":{"templateRef":"core"}}}'
    await call(kubectl, "patch", "mgc", "mini", "-n", namespace, "--type=merge", "-p", patch)
    stored = await asyncio.to_thread(lambda: kubectl.json("get", "mgc", "mini", "-n", namespace))
    assert stored["spec"]["globalTopoServer"] == {"templateRef": "core"}


async def test_a_volume_cannot_shrink(webhooks: None, kubectl: Kubectl, namespace: str) -> None:
    await call(kubectl, "create", "-f", "-", document=cluster(namespace))
    patch = '[{"op":"replace","path":"/spec/globalTopoServer/etcd/storage/size","value":"1Mi"}]'
    told = await refused(kubectl, "patch", "mgc", "mini", "-n", namespace, "--type=json", "-p", patch)
    assert "cannot shrink from 1Gi to 1Mi: a volume only grows" in told


async def test_a_template_in_use_cannot_be_deleted_and_its_users_are_named(
    webhooks: None, kubectl: Kubectl, namespace: str
) -> None:
    await call(kubectl, "create", "-f", "-", document=template("ShardTemplate", namespace, "used"))
    await call(
        kubectl, "create", "-f", "-", document=cluster(namespace, templateDefaults={"shardTemplate": "used"})
    )
    told = await refused(kubectl, "delete", "sht", "used", "-n", namespace)
    assert "is in use by MultigresCluster mini" in told


async def test_a_template_edit_that_would_break_a_sound_cluster_is_refused(
    webhooks: None, kubectl: Kubectl, namespace: str
) -> None:
    await call(kubectl, "create", "-f", "-", document=template("ShardTemplate", namespace, "used"))
    await call(
        kubectl, "create", "-f", "-", document=cluster(namespace, templateDefaults={"shardTemplate": "used"})
    )
    broken = {"pools": {"main": {"postgres": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}}}
    document = template("ShardTemplate", namespace, "used", broken)
    told = await refused(kubectl, "apply", "-f", "-", document=document)
    assert "would break MultigresCluster mini" in told


async def test_children_are_kept_from_others_and_their_annotations_are_not(
    client: Client, kubectl: Kubectl, namespace: str
) -> None:
    policy, binding = child_policy("system:serviceaccount:steward:multigres")
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}
    for manifest in (policy, binding):
        manifest["metadata"]["name"] += f"-{namespace}"
    policy["spec"]["matchConstraints"] |= here
    binding["spec"]["policyName"] = policy["metadata"]["name"]
    child = template("Cell", namespace, "made-before", {"name": "z1", "zone": "z1"})
    await client.create(child)
    await client.create(policy)
    await client.create(binding)
    told = await asyncio.to_thread(_until_refused, kubectl, namespace)
    assert "this object is kept by Steward" in told
    created = await refused(
        kubectl, "create", "-f", "-", document=template("Cell", namespace, "mine", {"name": "z"})
    )
    assert "this object is kept by Steward" in created
    await call(kubectl, "annotate", "cell", "made-before", "-n", namespace, "multigres.com/force-delete=true")
    await call(kubectl, "delete", "cell", "made-before", "-n", namespace)
    await client.delete(ref_of(binding))
    await client.delete(ref_of(policy))


def _until_refused(kubectl: Kubectl, namespace: str) -> str:
    """The API server takes a moment to know of a policy; each try is another change, since none at all passes."""
    for attempt in itertools.count():
        patch = f'{{"spec":{{"zone":"z{attempt}"}}}}'
        edit = ("patch", "cell", "made-before", "-n", namespace, "--type=merge", "-p", patch)
        if told := kubectl.outcome(*edit)[1]:
            return told
        time.sleep(0.1)
    raise AssertionError("unreachable")
