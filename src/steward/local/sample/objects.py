"""The sample of `steward up`: a database over the cluster's zones, and a dozen customers who become applications.

It is made once. Afterwards it is the visitor's: what was changed, emptied or deleted in it stays so. Who deletes its
namespace gets it anew with the next `steward up`.
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
_DONE: Final = "steward.local/sample"
_FILES: Final = ("cluster.yaml", "tenants.yaml")
_MOST_CELLS: Final = 3
_POLL_SECONDS: Final = 0.1
_TRIES: Final = 300


def objects(zones: tuple[str, ...]) -> list[Manifest]:
    """With a cell in each of the first three zones; a customer's own database has one, in the first."""
    places = tuple(dict.fromkeys(zones))[:_MOST_CELLS]
    found = [document for name in _FILES for document in _documents(name)]
    for manifest in found:
        manifest["metadata"]["namespace"] = NAMESPACE
        for spec, cells in _cluster_specs(manifest, places):
            spec["cells"] = [{"zone": zone} for zone in cells]
    return found


def _documents(name: str) -> list[Manifest]:
    text = (resources.files("steward.local.sample") / "manifests" / name).read_text()
    return list(yaml.safe_load_all(text))


def _cluster_specs(
    manifest: Manifest, places: tuple[str, ...]
) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    if manifest["kind"] == "MultigresCluster":
        return [(manifest["spec"], places)]
    return [(each["spec"]["spec"], places[:1]) for each in manifest["spec"].get("manifests", ())]


async def ensure(client: Client, zones: tuple[str, ...]) -> bool:
    """Make it where there is none; whether it was made."""
    if await _is_there(client):
        return False
    options = ApplyOptions(manager=MANAGER, force=True)
    await client.apply(_namespace({}), options)
    await _until_pods_may_run(client)
    for manifest in objects(zones):
        await client.apply(manifest, options)
    # Last: an interrupted `up` goes on where it was.
    await client.apply(_namespace({_DONE: "made"}), options)
    return True


async def _is_there(client: Client) -> bool:
    try:
        found = await client.get(NAMESPACE_KIND, Key("", NAMESPACE))
    except NotFound:
        return False
    return _DONE in found["metadata"].get("annotations", {})


def _namespace(annotations: dict[str, str]) -> Manifest:
    metadata = {"name": NAMESPACE, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


async def _until_pods_may_run(client: Client) -> None:
    for _ in range(_TRIES):
        try:
            await client.get(SERVICE_ACCOUNT, Key(NAMESPACE, "default"))
        except NotFound:
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return
