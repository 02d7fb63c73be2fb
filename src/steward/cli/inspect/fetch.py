"""Lists the objects that the verbs show, concurrently. A kind that the cluster does not serve is an empty list.

Objects of Tenants may be in other namespaces than their Tenant: the status of the Tenant names them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from steward.cli.inspect.object_tree import KINDS, TENANT_LABEL, TENANT_NAMESPACE_LABEL
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, NoSuchKind, NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind, Manifest
from steward.kube.objects.options import ListQuery

LABEL_SELECTORS = ("app.kubernetes.io/managed-by=multigres-operator", TENANT_LABEL)
"""Selectors of managed objects, one for each operator; no object matches both."""
SHARED_API_VERSIONS = ("apps/v1", "v1", "networking.k8s.io/v1")
"""API versions in which most objects are not managed by Steward."""
_OPTIONAL_KINDS = (kinds.SERVICE, kinds.INGRESS)
"""Kinds that are shown to users who may list them: no health depends on them."""
_TENANT_KINDS = (
    Kind("multigres.com/v1alpha1", "MultigresCluster"),
    kinds.DEPLOYMENT,
    kinds.STATEFUL_SET,
    kinds.SERVICE,
    kinds.INGRESS,
    kinds.PERSISTENT_VOLUME_CLAIM,
)
_FEW_NAMESPACES = 3


async def read_objects(client: Client, namespace: str) -> list[Manifest]:
    """Reads a namespace, and objects of its Tenants elsewhere; "" means all namespaces."""
    lists = await asyncio.gather(*(read_kind(client, kind, namespace) for kind in KINDS))
    found = [each for listed in lists for each in listed]
    elsewhere = other_namespaces(found, namespace) if namespace else frozenset()
    return [*found, *await _read_elsewhere(client, namespace, elsewhere)] if elsewhere else found


def other_namespaces(objects: Iterable[Manifest], namespace: str) -> frozenset[str]:
    """The namespaces in which Tenants of this one have objects, as their status records them. Pure."""
    applied = (
        record.get("namespace", "")
        for each in objects
        if each["kind"] == "Tenant"
        for record in (each.get("status") or {}).get("applied") or ()
    )
    return frozenset(applied) - {"", namespace}


async def _read_elsewhere(client: Client, home: str, namespaces: frozenset[str]) -> list[Manifest]:
    """In one list for each kind where there are many namespaces and the user may list them all."""
    selector = f"{TENANT_LABEL},{TENANT_NAMESPACE_LABEL}={home}"
    lists = await asyncio.gather(*(_list_in(client, kind, selector, namespaces) for kind in _TENANT_KINDS))
    found = (each for listed in lists for each in listed)
    return [each for each in found if each["metadata"]["namespace"] in namespaces]


async def _list_in(client: Client, kind: Kind, selector: str, namespaces: frozenset[str]) -> list[Manifest]:
    if len(namespaces) > _FEW_NAMESPACES:
        try:
            return await _list(client, kind, "", (selector,))
        except Forbidden:
            pass
    lists = await asyncio.gather(*(_list_if_allowed(client, kind, each, (selector,)) for each in namespaces))
    return [each for listed in lists for each in listed]


async def read_kind(client: Client, kind: Kind, namespace: str) -> list[Manifest]:
    """Reads the objects of a kind; of built-in kinds, only managed objects."""
    selectors = LABEL_SELECTORS if kind.api_version in SHARED_API_VERSIONS else ("",)
    read = _list_if_allowed if kind in _OPTIONAL_KINDS else _list
    return await read(client, kind, namespace, selectors)


async def _list_if_allowed(
    client: Client, kind: Kind, namespace: str, selectors: tuple[str, ...]
) -> list[Manifest]:
    try:
        return await _list(client, kind, namespace, selectors)
    except Forbidden:
        return []


async def _list(client: Client, kind: Kind, namespace: str, selectors: tuple[str, ...]) -> list[Manifest]:
    try:
        listings = [
            await client.list(kind, ListQuery(namespace=namespace, label_selector=selector))
            for selector in selectors
        ]
    except (NoSuchKind, NotFound):
        return []
    found = (item for listing in listings for item in listing.items)
    return [{**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in found]
