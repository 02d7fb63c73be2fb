"""Gives a cluster its nodes and storage classes, and waits until pods can run in it."""

from __future__ import annotations

import asyncio

from steward.local.bootstrap import objects
from steward.local.bootstrap.api import NODES, Api
from steward.local.health import wait_until_ready
from steward.local.kwok.nodes import NODE
from steward.local.settings import ControlPlaneSettings, Layout


async def set_up(settings: ControlPlaneSettings, layout: Layout, api: Api) -> None:
    wanted = objects.nodes(settings)
    await asyncio.gather(*map(api.apply, [*objects.storage_classes(), *wanted]))
    names = {node["metadata"]["name"] for node in wanted}
    ours = await api.get(f"{NODES}?labelSelector={objects.NODE_LABEL}")
    surplus = {node["metadata"]["name"] for node in ours["items"]} - names
    await asyncio.gather(*(api.delete(f"{NODES}/{name}") for name in surplus))
    await wait_until_ready(layout.service("kwok"), lambda: _nodes_ready(api, names))
    await wait_until_ready(layout.service("kube-controller-manager"), lambda: _accounts_ready(api))


async def _nodes_ready(api: Api, names: set[str]) -> bool:
    nodes = (await api.get(f"{NODES}?labelSelector={objects.NODE_LABEL}"))["items"]
    ready = {node["metadata"]["name"] for node in nodes if _is_settled(node)}
    return names <= ready


def _is_settled(node: objects.Object) -> bool:
    """Ready, or made unready by an annotation on purpose."""
    conditions = node.get("status", {}).get("conditions", [])
    on_purpose = NODE in node["metadata"].get("annotations", {})
    return on_purpose or any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


async def _accounts_ready(api: Api) -> bool:
    """Pods can be made only once their namespace has its service account."""
    return await api.get("/api/v1/namespaces/default/serviceaccounts/default") is not None
