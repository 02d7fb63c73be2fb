"""Creates the nodes and storage classes of a cluster, and waits until pods can run in it."""

from __future__ import annotations

import asyncio

from steward.local.bootstrap import objects
from steward.local.bootstrap.api import NODES, BootstrapClient
from steward.local.health import wait_until_ready
from steward.local.kwok.nodes import NODE_ANNOTATION
from steward.local.settings import ControlPlaneSettings, Layout


async def apply_bootstrap_objects(
    settings: ControlPlaneSettings, layout: Layout, api: BootstrapClient
) -> None:
    desired = objects.nodes(settings)
    await asyncio.gather(*map(api.apply, [*objects.storage_classes(), *desired]))
    names = {node["metadata"]["name"] for node in desired}
    ours = await api.get(f"{NODES}?labelSelector={objects.NODE_LABEL}")
    surplus = {node["metadata"]["name"] for node in ours["items"]} - names
    await asyncio.gather(*(api.delete(f"{NODES}/{name}") for name in surplus))
    await wait_until_ready(layout.service("kwok"), lambda: _nodes_ready(api, names))
    await wait_until_ready(layout.service("kube-controller-manager"), lambda: _accounts_ready(api))


async def _nodes_ready(api: BootstrapClient, names: set[str]) -> bool:
    nodes = (await api.get(f"{NODES}?labelSelector={objects.NODE_LABEL}"))["items"]
    ready = {node["metadata"]["name"] for node in nodes if _is_ready(node)}
    return names <= ready


def _is_ready(node: objects.Object) -> bool:
    """Ready, or not ready because of the annotation."""
    conditions = node.get("status", {}).get("conditions", [])
    is_annotated = NODE_ANNOTATION in node["metadata"].get("annotations", {})
    return is_annotated or any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


async def _accounts_ready(api: BootstrapClient) -> bool:
    """Pods can be created only after their namespace has its service account."""
    return await api.get("/api/v1/namespaces/default/serviceaccounts/default") is not None
