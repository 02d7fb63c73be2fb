"""Lists the objects that the verbs show, concurrently. A kind that the cluster does not serve is an empty list."""

from __future__ import annotations

import asyncio

from steward.cli.inspect.object_tree import KINDS
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind, Manifest
from steward.kube.objects.options import ListQuery

_LABEL_SELECTORS = ("app.kubernetes.io/managed-by=multigres-operator", "kubernetes-tenants.org/tenant")
"""Selectors of managed objects, one for each operator; no object matches both."""
_SHARED_API_VERSIONS = ("apps/v1", "v1")
"""API versions in which most objects are not managed by Steward."""


async def read_objects(client: Client, namespace: str) -> list[Manifest]:
    """Reads a namespace; "" means all namespaces."""
    lists = await asyncio.gather(*(read_kind(client, kind, namespace) for kind in KINDS))
    return [found for listed in lists for found in listed]


async def read_kind(client: Client, kind: Kind, namespace: str) -> list[Manifest]:
    """Reads the objects of a kind; of built-in kinds, only managed objects."""
    selectors = _LABEL_SELECTORS if kind.api_version in _SHARED_API_VERSIONS else ("",)
    try:
        listings = [
            await client.list(kind, ListQuery(namespace=namespace, label_selector=selector))
            for selector in selectors
        ]
    except (NoSuchKind, NotFound):
        return []
    found = (item for listing in listings for item in listing.items)
    return [{**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in found]
