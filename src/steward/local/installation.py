"""Installs Steward on a local control plane, without its workloads, which run as processes here.

CRDs, permissions and webhooks are the shipped ones. Only the address of the webhooks differs: a port of this machine,
with a certificate of the cluster's own CA, as cert-manager would provide it.
"""

from __future__ import annotations

import asyncio
import base64
import time

from steward.install import manifests
from steward.install.operators import OPERATORS, ShippedOperator
from steward.install.rbac import databases_for_tenants
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest, ref_of
from steward.kube.objects.options import ApplyOptions
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed
from steward.local.service_accounts import account_objects, service_account_user

MANAGER = "steward-local"
_CRD = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1


async def install(client: Client) -> None:
    """Apply CRDs and permissions, and wait until the API server serves the kinds. Idempotent."""
    definitions = [crd for operator in OPERATORS for crd in manifests.crds(operator)]
    await asyncio.gather(*(_apply(client, manifest) for manifest in definitions))
    rights = [manifest for operator in OPERATORS for manifest in account_objects(operator)]
    for manifest in (*rights, databases_for_tenants()):
        await _apply(client, manifest)
    await asyncio.gather(*(_wait_until_established(client, crd["metadata"]["name"]) for crd in definitions))
    for crd in definitions:
        await _wait_until_discovered(client, crd)


async def register_webhooks(
    client: Client, plane: ControlPlane, operator: ShippedOperator, port: int
) -> None:
    """Register the webhooks of an operator that serves them already."""
    for manifest in _webhooks(plane, operator, port):
        await _apply(client, manifest)


async def unregister_webhooks(client: Client) -> None:
    """Delete the webhook configurations: without an operator that answers, the API server would reject writes."""
    for operator in OPERATORS:
        for manifest in manifests.WEBHOOKS[operator]({"url": ""}, ""):
            try:
                await client.delete(ref_of(manifest))
            except (NotFound, NoSuchKind):
                continue


def _webhooks(plane: ControlPlane, operator: ShippedOperator, port: int) -> list[Manifest]:
    bundle = base64.b64encode(plane.ca_file.read_bytes()).decode()
    client_config = {"url": f"https://127.0.0.1:{port}", "caBundle": bundle}
    return manifests.WEBHOOKS[operator](client_config, service_account_user(operator))


async def _apply(client: Client, manifest: Manifest) -> None:
    await client.apply(manifest, ApplyOptions(manager=MANAGER, force=True))


async def _wait_until_established(client: Client, name: str) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not _is_established(await client.get(_CRD, Key("", name))):
        if time.monotonic() > deadline:
            raise ComponentFailed(
                f"The API server does not serve {name}: start over with `steward down --purge`."
            )
        await asyncio.sleep(_POLL_SECONDS)


async def _wait_until_discovered(client: Client, crd: Manifest) -> None:
    """Wait until discovery lists the kind: on a new control plane, up to a second after Established."""
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
    conditions = (crd.get("status") or {}).get("conditions") or ()  # null until the first update
    return any(
        condition["type"] == "Established" and condition["status"] == "True" for condition in conditions
    )
