"""Creates the nodes and storage classes of a cluster, and waits until pods can run in it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from steward.local.bootstrap import objects
from steward.local.bootstrap.api import NODES, BootstrapClient
from steward.local.bootstrap.objects import Object
from steward.local.health import wait_until_ready
from steward.local.kwok.nodes import NODE_ANNOTATION
from steward.local.processes import Service
from steward.local.provisioner import classes
from steward.local.settings import ControlPlaneSettings, Layout

LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class ExpectedNodes:
    """Nodes that must become ready. `service` makes them ready: its log says why they do not."""

    names: frozenset[str]
    service: Service
    heard_since: datetime = LONG_AGO  # a stopped kubelet leaves its node as ready


async def apply_bootstrap_objects(
    settings: ControlPlaneSettings, layout: Layout, api: BootstrapClient
) -> None:
    """Create what kwok needs: Nodes too, because kwok simulates those that exist."""
    desired = objects.nodes(settings)
    await asyncio.gather(*map(api.apply, [*objects.storage_classes(), *desired]))
    names = frozenset(node["metadata"]["name"] for node in desired)
    await wait_for_nodes(layout, api, ExpectedNodes(names, layout.service("kwok")))


async def apply_container_objects(layout: Layout, api: BootstrapClient, nodes: ExpectedNodes) -> None:
    """Create what a cluster with containers needs. Kubelets register their nodes themselves."""
    await asyncio.gather(*map(api.apply, classes.storage_classes()))
    await wait_for_nodes(layout, api, nodes)


async def wait_for_nodes(layout: Layout, api: BootstrapClient, nodes: ExpectedNodes) -> None:
    """Delete nodes of an earlier start that are no longer expected, and wait for the others."""
    surplus = {node["metadata"]["name"] for node in await _our_nodes(api)} - nodes.names
    await asyncio.gather(*(api.delete(f"{NODES}/{name}") for name in surplus))
    await wait_until_ready(nodes.service, lambda: _nodes_ready(api, nodes))
    await wait_until_ready(layout.service("kube-controller-manager"), lambda: _accounts_ready(api))


async def _our_nodes(api: BootstrapClient) -> list[Object]:
    found: list[Object] = (await api.get(f"{NODES}?labelSelector={objects.NODE_LABEL}"))["items"]
    return found


async def _nodes_ready(api: BootstrapClient, nodes: ExpectedNodes) -> bool:
    ready = {node["metadata"]["name"] for node in await _our_nodes(api) if _is_ready(node, nodes.heard_since)}
    return nodes.names <= ready


def _is_ready(node: Object, heard_since: datetime) -> bool:
    """Ready, or not ready because of the annotation."""
    conditions = node.get("status", {}).get("conditions", [])
    is_annotated = NODE_ANNOTATION in node["metadata"].get("annotations", {})
    return is_annotated or any(
        each["type"] == "Ready" and each["status"] == "True" and _heartbeat(each) >= heard_since
        for each in conditions
    )


def _heartbeat(condition: Object) -> datetime:
    text = condition.get("lastHeartbeatTime")
    return datetime.fromisoformat(text) if text else LONG_AGO


async def _accounts_ready(api: BootstrapClient) -> bool:
    """Pods can be created only after their namespace has its service account."""
    return await api.get("/api/v1/namespaces/default/serviceaccounts/default") is not None
