"""The sample of `steward up`: a database over the cluster's zones, and a registry with a dozen customers.

It is created once; later changes by the user are kept. After its namespace is deleted, the next `steward up` creates it
again.
"""

from __future__ import annotations

import asyncio
from importlib import resources
from typing import Any, Final

import yaml

from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import NAMESPACE as NAMESPACE_KIND
from steward.kube.objects.kinds import SERVICE_ACCOUNT, Key, Manifest
from steward.kube.objects.options import ApplyOptions

NAMESPACE: Final = "demo"
CLUSTER: Final = "orders"
REGISTRY: Final = "customers"
MANAGER: Final = "steward-sample"
_COMPLETE_ANNOTATION: Final = "steward.local/sample"
_FILES: Final = ("cluster.yaml", "tenants.yaml")
_MOST_CELLS: Final = 3
_POLL_SECONDS: Final = 0.1
_TRIES: Final = 300


def objects(zones: tuple[str, ...]) -> list[Manifest]:
    """The sample's manifests, with a cell in each of the first three zones; customers' databases have one cell."""
    cell_zones = tuple(dict.fromkeys(zones))[:_MOST_CELLS]
    manifests = [document for name in _FILES for document in _documents(name)]
    for manifest in manifests:
        manifest["metadata"]["namespace"] = NAMESPACE
        for spec, cells in _cluster_specs(manifest, cell_zones):
            spec["cells"] = [{"zone": zone} for zone in cells]
    return manifests


def _documents(name: str) -> list[Manifest]:
    text = (resources.files("steward.local.sample") / "manifests" / name).read_text()
    return list(yaml.safe_load_all(text))


def _cluster_specs(
    manifest: Manifest, cell_zones: tuple[str, ...]
) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    if manifest["kind"] == "MultigresCluster":
        return [(manifest["spec"], cell_zones)]
    return [(entry["spec"]["spec"], cell_zones[:1]) for entry in manifest["spec"].get("manifests", ())]


async def ensure(client: Client, zones: tuple[str, ...]) -> bool:
    """Create the sample unless it exists; return whether it was created."""
    if await _is_complete(client):
        return False
    options = ApplyOptions(manager=MANAGER, force=True)
    await client.apply(_namespace({}), options)
    await _wait_for_service_account(client)
    for manifest in objects(zones):
        await client.apply(manifest, options)
    # Last, so that the next `up` continues an interrupted one.
    await client.apply(_namespace({_COMPLETE_ANNOTATION: "made"}), options)
    return True


async def _is_complete(client: Client) -> bool:
    try:
        found = await client.get(NAMESPACE_KIND, Key("", NAMESPACE))
    except NotFound:
        return False
    return _COMPLETE_ANNOTATION in found["metadata"].get("annotations", {})


def _namespace(annotations: dict[str, str]) -> Manifest:
    metadata = {"name": NAMESPACE, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


async def _wait_for_service_account(client: Client) -> None:
    for _ in range(_TRIES):
        try:
            await client.get(SERVICE_ACCOUNT, Key(NAMESPACE, "default"))
        except NotFound:
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return
