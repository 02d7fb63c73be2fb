"""Steward on a local control plane: what an installation brings, but for the workloads, which run as processes here.

The definitions, the rights and the webhooks are the shipped ones. Only how the API server reaches a webhook differs:
by an address of this machine, with a certificate of the cluster's own CA, as cert-manager would provide it.
"""

from __future__ import annotations

import asyncio
import base64
import time

from steward.install import manifests
from steward.install.operators import SHIPPED, Shipped
from steward.install.rbac import databases_for_tenants
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest, ref_of
from steward.kube.objects.options import ApplyOptions
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed
from steward.local.service_accounts import account_objects, user_of

MANAGER = "steward-local"
_CRD = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1


async def install(client: Client) -> None:
    """The definitions and the rights. Applied again, they change nothing."""
    definitions = [crd for operator in SHIPPED for crd in manifests.crds(operator)]
    await asyncio.gather(*(_apply(client, manifest) for manifest in definitions))
    rights = [manifest for operator in SHIPPED for manifest in account_objects(operator)]
    for manifest in (*rights, databases_for_tenants()):
        await _apply(client, manifest)
    await asyncio.gather(*(_until_established(client, crd["metadata"]["name"]) for crd in definitions))
    for crd in definitions:
        await _until_served(client, crd)


async def register(client: Client, plane: ControlPlane, operator: Shipped, port: int) -> None:
    """Tell the API server of webhooks that are served by now."""
    for manifest in _webhooks(plane, operator, port):
        await _apply(client, manifest)


async def unregister(client: Client) -> None:
    """Nobody answers any more, so nobody shall be asked."""
    for operator in SHIPPED:
        for manifest in manifests.WEBHOOKS[operator]({"url": ""}, ""):
            try:
                await client.delete(ref_of(manifest))
            except (NotFound, NoSuchKind):
                continue


def _webhooks(plane: ControlPlane, operator: Shipped, port: int) -> list[Manifest]:
    bundle = base64.b64encode(plane.ca_file.read_bytes()).decode()
    reached = {"url": f"https://127.0.0.1:{port}", "caBundle": bundle}
    return manifests.WEBHOOKS[operator](reached, user_of(operator))


async def _apply(client: Client, manifest: Manifest) -> None:
    await client.apply(manifest, ApplyOptions(manager=MANAGER, force=True))


async def _until_established(client: Client, name: str) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not _is_established(await client.get(_CRD, Key("", name))):
        if time.monotonic() > deadline:
            raise ComponentFailed(
                f"The API server does not serve {name}: begin anew with `steward down --purge`."
            )
        await asyncio.sleep(_POLL_SECONDS)


async def _until_served(client: Client, crd: Manifest) -> None:
    """Until discovery tells of its kind: that comes after Established, by a second on a machine that has just begun."""
    spec = crd["spec"]
    kind = Kind(f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"])
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            await client.discovery.resource(kind)
        except NoSuchKind:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return


def _is_established(crd: Manifest) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()  # null until somebody has looked at it
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
