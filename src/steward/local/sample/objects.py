"""The sample of `steward up`: a database over the cluster's zones, and a registry with a dozen customers.

It is created once; later changes by the user are kept until `steward sample reset` restores it. After its namespace is
deleted, the next `steward up` creates it again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum
from importlib import resources
from typing import Any, Final

import msgspec
import yaml

from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import NAMESPACE as NAMESPACE_KIND
from steward.kube.objects.kinds import SERVICE_ACCOUNT, Key, Manifest, Ref, ref_of
from steward.kube.objects.options import ApplyOptions
from steward.local.errors import LocalError, SampleStillDeleting
from steward.local.sample import namespace

NAMESPACE: Final = namespace.NAMESPACE
CLUSTER: Final = "orders"
REGISTRY: Final = "customers"
MANAGER: Final = "steward-sample"
_COMPLETE_ANNOTATION: Final = "steward.local/sample"
_OPTIONS_ANNOTATION: Final = "steward.local/sample-options"
_FILES: Final = ("cluster.yaml", "tenants.yaml")
_MOST_CELLS: Final = 3
_LEAST_SERVERS: Final = 3
_CLUSTER_TEMPLATE: Final = "standard"
"""The ShardTemplate of the cluster; the one of customers' databases, which have one cell, has enough servers."""
_POLL_SECONDS: Final = 0.1
_TRIES: Final = 300
_DELETION_TRIES: Final = 3000
_FORCED: Final = ApplyOptions(manager=MANAGER, force=True)


class Databases(Enum):
    """Whether the sample has MultigresClusters, whose images may be missing where pods run in containers."""

    INCLUDED = "included"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class ContainerImage:
    name: str
    port: int  # on which it serves HTTP


@dataclass(frozen=True)
class SampleOptions:
    """What of the sample the cluster can run."""

    zones: tuple[str, ...]
    web: ContainerImage = ContainerImage("nginx:stable", 80)
    databases: Databases = Databases.INCLUDED


def objects(options: SampleOptions) -> list[Manifest]:
    """The sample's manifests, with a cell in each of the first three zones; customers' databases have one cell."""
    cell_zones = cluster_zones(options)
    manifests = [document for name in _FILES for document in _documents(name)]
    if options.databases is Databases.LEFT_OUT:
        manifests = [manifest for manifest in manifests if not _is_of_databases(manifest)]
    for manifest in manifests:
        manifest["metadata"]["namespace"] = NAMESPACE
        _set_web_image(manifest, options.web)
        _set_servers(manifest, len(cell_zones))
        for spec, cells in _cluster_specs(manifest, cell_zones):
            spec["cells"] = [{"zone": zone} for zone in cells]
    return manifests


def cluster_zones(options: SampleOptions) -> tuple[str, ...]:
    """The zones in which the cluster has a cell."""
    return tuple(dict.fromkeys(options.zones))[:_MOST_CELLS]


def _set_servers(manifest: Manifest, cells: int) -> None:
    """Three servers of the cluster in all: a shard needs two for its first primary, and a third to keep one through a
    restart."""
    if (manifest["kind"], manifest["metadata"]["name"]) == ("ShardTemplate", _CLUSTER_TEMPLATE):
        for pool in manifest["spec"]["pools"].values():
            pool["replicasPerCell"] = -(-_LEAST_SERVERS // cells)


def _is_of_databases(manifest: Manifest) -> bool:
    return manifest["kind"] in {"MultigresCluster", "ShardTemplate"} or "manifests" in manifest["spec"]


def _set_web_image(manifest: Manifest, image: ContainerImage) -> None:
    for deployment in manifest["spec"].get("deployments", ()):
        for container in deployment["spec"]["spec"]["template"]["spec"]["containers"]:
            container["image"] = image.name
    for service in manifest["spec"].get("services", ()):
        for port in service["spec"]["spec"]["ports"]:
            port["targetPort"] = image.port


def _documents(name: str) -> list[Manifest]:
    text = (resources.files("steward.local.sample") / "manifests" / name).read_text()
    return list(yaml.safe_load_all(text))


def _cluster_specs(
    manifest: Manifest, cell_zones: tuple[str, ...]
) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    if manifest["kind"] == "MultigresCluster":
        return [(manifest["spec"], cell_zones)]
    return [(entry["spec"]["spec"], cell_zones[:1]) for entry in manifest["spec"].get("manifests", ())]


async def ensure(client: Client, options: SampleOptions) -> bool:
    """Create the sample unless it exists; return whether it was created."""
    if await _is_complete(client):
        return False
    await client.apply(_namespace({}), _FORCED)
    await _wait_for_service_account(client)
    await _apply_objects(client, options)
    # Last, so that the next `up` continues an interrupted one.
    known = {_OPTIONS_ANNOTATION: msgspec.json.encode(options).decode()}
    await client.apply(_namespace({_COMPLETE_ANNOTATION: "made", **known}), _FORCED)
    return True


async def is_terminating(client: Client) -> bool:
    """Whether the user has deleted the namespace and its objects are not all gone yet."""
    found = await _live_namespace(client)
    return found is not None and "deletionTimestamp" in found["metadata"]


async def wait_until_deleted(client: Client) -> None:
    """SampleStillDeleting after five minutes. The operators have to run: they remove the finalizers."""
    for _ in range(_DELETION_TRIES):
        if not await is_terminating(client):
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise SampleStillDeleting(
        f"The namespace {NAMESPACE} is still being deleted. See what is left: steward status -n {NAMESPACE} --local"
    )


async def restore(client: Client) -> int:
    """Apply the sample's objects again, as they were created; return how many there are."""
    found = await _live_namespace(client)
    if found is None:
        raise LocalError("there is no sample: `steward up` creates it")
    stored = found["metadata"].get("annotations", {}).get(_OPTIONS_ANNOTATION)
    if stored is None or "deletionTimestamp" in found["metadata"]:
        raise LocalError(
            f"the sample cannot be restored: delete the namespace {NAMESPACE}, then run `steward up`"
        )
    options = msgspec.json.decode(stored, type=SampleOptions)
    if terminating := [each for each in map(ref_of, objects(options)) if await _is_terminating(client, each)]:
        names = ", ".join(map(str, terminating))
        raise LocalError(
            f"still being deleted: {names}. Try again when they are gone; if `steward hold -n {NAMESPACE} --local` "
            "lists one, its deletion waits for your approval"
        )
    return await _apply_objects(client, options)


async def _is_terminating(client: Client, ref: Ref) -> bool:
    try:
        return "deletionTimestamp" in (await client.get(*ref))["metadata"]
    except NotFound:
        return False


async def _apply_objects(client: Client, options: SampleOptions) -> int:
    manifests = objects(options)
    for manifest in manifests:
        await client.apply(manifest, _FORCED)
    return len(manifests)


async def _live_namespace(client: Client) -> Manifest | None:
    try:
        return await client.get(NAMESPACE_KIND, Key("", NAMESPACE))
    except NotFound:
        return None


async def _is_complete(client: Client) -> bool:
    found = await _live_namespace(client)
    return found is not None and _COMPLETE_ANNOTATION in found["metadata"].get("annotations", {})


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
