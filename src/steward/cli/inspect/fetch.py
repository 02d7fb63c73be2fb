"""Reads what the verbs look at: a few lists, side by side. A kind that the cluster does not have is an empty list."""

from __future__ import annotations

import asyncio

from steward.cli.inspect.object_tree import KINDS
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind, Manifest
from steward.kube.objects.options import ListQuery

_OURS = ("app.kubernetes.io/managed-by=multigres-operator", "kubernetes-tenants.org/tenant")
"""What tells our objects from those of others, one or the other; no object has both."""
_FILTERED = ("apps/v1", "v1")
"""Groups in which most objects belong to others."""


async def read_objects(client: Client, namespace: str) -> list[Manifest]:
    """Of one namespace, or of all of them."""
    lists = await asyncio.gather(*(read_kind(client, kind, namespace) for kind in KINDS))
    return [found for listed in lists for found in listed]


async def read_kind(client: Client, kind: Kind, namespace: str) -> list[Manifest]:
    """Of a kind that others use too, only what is ours."""
    selectors = _OURS if kind.api_version in _FILTERED else ("",)
    try:
        listings = [
            await client.list(kind, ListQuery(namespace=namespace, label_selector=selector))
            for selector in selectors
        ]
    except (NoSuchKind, NotFound):
        return []
    found = (item for listing in listings for item in listing.items)
    return [{**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in found]
