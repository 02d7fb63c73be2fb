"""The API server accepts every status that a schema allows, whatever the status before it was."""

from typing import Any

import pytest

from steward.kube.apply.applier import Applier
from steward.kube.client.client import Client
from steward.kube.crd.schema import CustomKind
from steward.kube.objects.kinds import Manifest, ref_of
from steward.kube.objects.options import ApplyOptions
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.runtime.plan.steps import Status, status_manifest
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.multigres.support.schema_values import SchemaValues, status_schema
from tests.support.definitions import install_crds
from tests.support.kubectl import Kubectl
from tests.tenants.support import manifests

DRAWN = 25
OPTIONS = ApplyOptions(manager="operator-under-test", subresource="status")
SPECS: dict[str, dict[str, Any]] = {
    "MultigresCluster": {"cells": [{"zone": "z1"}]},
    "TopoServer": {},
    "Cell": {"name": "z1"},
    "TableGroup": {"databaseName": "postgres", "tableGroupName": "default"},
    "Shard": {"shardName": "0-inf"},
    "TenantRegistry": manifests.registry()["spec"],
    "TenantTemplate": manifests.template()["spec"],
    "Tenant": manifests.tenant()["spec"],
}
KINDS = [custom for custom in (*MULTIGRES_KINDS, *TENANT_KINDS) if custom.kind in SPECS]


@pytest.fixture(scope="session")
def definitions(control_plane: ControlPlane) -> None:
    install_crds(control_plane, Kubectl(control_plane.kubeconfig), (*MULTIGRES_KINDS, *TENANT_KINDS))


async def create(client: Client, namespace: str, custom: CustomKind) -> Manifest:
    metadata = {"name": "drawn", "namespace": namespace}
    kind = {"apiVersion": custom.api_version, "kind": custom.kind}
    manifest = {**kind, "metadata": metadata, "spec": SPECS[custom.kind]}
    await client.create(manifest)
    return manifest


@pytest.mark.parametrize("custom", KINDS, ids=lambda custom: custom.kind)
async def test_every_status_can_follow_every_other(
    definitions: None, client: Client, namespace: str, custom: CustomKind
) -> None:
    ref, applier, schema = (
        ref_of(await create(client, namespace, custom)),
        Applier(client),
        status_schema(custom),
    )
    for seed in range(DRAWN):
        # Every status names the generation that it is about.
        drawn = {**SchemaValues(seed).value(schema), "observedGeneration": seed}
        await applier.apply(status_manifest(Status(ref, drawn)), OPTIONS)


async def test_the_last_entry_of_a_map_can_be_dropped(
    definitions: None, client: Client, namespace: str
) -> None:
    """A cluster that no longer uses templates has no applied generations."""
    [custom] = [each for each in KINDS if each.kind == "MultigresCluster"]
    ref, applier = ref_of(await create(client, namespace, custom)), Applier(client)
    for generations in ({"CoreTemplate/a": 1}, {}):
        status = {"observedGeneration": 1, "appliedTemplateGenerations": generations}
        await applier.apply(status_manifest(Status(ref, status)), OPTIONS)
    live = await client.get(ref.kind, ref.key)
    assert live["status"] == {"observedGeneration": 1}
