"""Repair of rejected applies, on the real API server."""

from collections.abc import AsyncIterator

import pytest

from steward.kube.client.client import Client
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import Invalid
from steward.kube.objects.kinds import (
    DEPLOYMENT,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
    Manifest,
    kind_of,
    ref_of,
)
from steward.kube.objects.options import ApplyOptions
from tests.kube.support.applied_kinds import manifest_of
from tests.kube.support.applying import OURS, Bench, at_path, bench, edit, install_widgets
from tests.kube.support.widgets import WIDGET


@pytest.fixture
async def applying(settings: ConnectionSettings, client: Client, namespace: str) -> AsyncIterator[Bench]:
    await install_widgets(client)
    kinds = (DEPLOYMENT, POD_DISRUPTION_BUDGET, SERVICE, STATEFUL_SET, WIDGET)
    async with bench(settings, namespace, *kinds) as applying:
        yield applying


async def test_a_union_branch_is_switched(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    manifest["spec"]["strategy"] = {"type": "RollingUpdate"}
    await applying.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "Recreate"}

    await applying.apply(manifest)

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert live["spec"]["strategy"] == {"type": "Recreate"}
    await assert_only_we_apply(applying, client, manifest)


async def test_a_union_branch_is_switched_back(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    manifest["spec"]["strategy"] = {"type": "Recreate"}
    await applying.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}

    await applying.apply(manifest)

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert live["spec"]["strategy"]["rollingUpdate"]["maxSurge"] == 1
    await assert_only_we_apply(applying, client, manifest)


async def test_a_stateful_set_changes_to_on_delete(applying: Bench, client: Client) -> None:
    manifest = manifest_of("StatefulSet", applying.namespace)
    del manifest["spec"]["updateStrategy"]
    await applying.apply(manifest)
    manifest["spec"]["updateStrategy"] = {"type": "OnDelete"}

    await applying.apply(manifest)

    await assert_only_we_apply(applying, client, manifest)


async def test_fields_that_a_repair_set_can_still_be_removed(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    del manifest["spec"]["strategy"]
    await applying.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "Recreate"}
    await applying.apply(manifest)
    del manifest["spec"]["strategy"]

    await applying.apply(manifest)

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert live["spec"]["strategy"]["type"] == "RollingUpdate"


async def test_a_foreign_port_number_is_put_back(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Service", applying.namespace)
    manifest["spec"]["type"] = "NodePort"
    await applying.apply(manifest)
    before = await client.get(SERVICE, ref_of(manifest).key)
    live = await edit(client, manifest, {"op": "replace", "path": "/spec/ports/0/port", "value": 8080})
    await applying.caught_up(manifest, live)

    await applying.apply(manifest)

    after = await client.get(SERVICE, ref_of(manifest).key)
    assert after["spec"]["ports"] == before["spec"]["ports"]
    await assert_only_we_apply(applying, client, manifest)


async def test_a_foreign_container_port_is_put_back(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    await applying.apply(manifest)
    path = "/spec/template/spec/containers/0/ports/0/containerPort"
    live = await edit(client, manifest, {"op": "replace", "path": path, "value": 5433})
    await applying.caught_up(manifest, live)

    await applying.apply(manifest)

    after = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert at_path(after, path) == 5432
    await assert_only_we_apply(applying, client, manifest)


async def test_a_foreign_volume_source_is_put_back(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    await applying.apply(manifest)
    volume = "/spec/template/spec/volumes/2"
    live = await edit(
        client,
        manifest,
        {"op": "remove", "path": f"{volume}/configMap"},
        {"op": "add", "path": f"{volume}/emptyDir", "value": {}},
    )
    await applying.caught_up(manifest, live)

    await applying.apply(manifest)

    after = at_path(await client.get(DEPLOYMENT, ref_of(manifest).key), volume)
    assert "configMap" in after
    assert "emptyDir" not in after
    await assert_only_we_apply(applying, client, manifest)


async def test_an_exclusive_field_of_another_manager_is_removed(applying: Bench, client: Client) -> None:
    manifest = manifest_of("PodDisruptionBudget", applying.namespace)
    await applying.apply(manifest)
    live = await edit(
        client,
        manifest,
        {"op": "remove", "path": "/spec/maxUnavailable"},
        {"op": "add", "path": "/spec/minAvailable", "value": 1},
    )
    await applying.caught_up(manifest, live)

    await applying.apply(manifest)

    await assert_only_we_apply(applying, client, manifest)


async def test_a_rejection_that_cannot_be_repaired_is_raised(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Service", applying.namespace)
    await applying.apply(manifest)
    manifest["spec"]["clusterIP"] = "None"
    before = await client.get(SERVICE, ref_of(manifest).key)

    with pytest.raises(Invalid, match="may not change once set"):
        await applying.apply(manifest)

    assert await client.get(SERVICE, ref_of(manifest).key) == before


async def test_the_rejection_of_an_invalid_new_object_is_raised(applying: Bench) -> None:
    manifest = manifest_of("Service", applying.namespace)
    manifest["spec"]["ports"][0]["port"] = 0

    with pytest.raises(Invalid, match=r"spec\.ports"):
        await applying.apply(manifest)


async def test_a_map_of_a_custom_resource_may_lose_its_last_key(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Widget", applying.namespace)
    await applying.apply(manifest)
    manifest["spec"]["labels"] = {}

    await applying.apply(manifest)

    live = await client.get(WIDGET, ref_of(manifest).key)
    assert live["spec"]["labels"] == {}
    await assert_only_we_apply(applying, client, manifest)


async def test_without_force_nothing_is_repaired(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    manifest["spec"]["strategy"] = {"type": "RollingUpdate"}
    await applying.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "Recreate"}

    with pytest.raises(Invalid, match="may not be specified when strategy"):
        await applying.apply(manifest, ApplyOptions(manager=OURS.manager, force=False))


async def assert_only_we_apply(applying: Bench, client: Client, manifest: Manifest) -> None:
    """The repair manager has no entry, and another apply sends nothing."""
    live = await client.get(kind_of(manifest), ref_of(manifest).key)
    managers = {entry["manager"] for entry in live["metadata"]["managedFields"]}
    assert managers - {"kube-controller-manager"} == {OURS.manager}
    await applying.caught_up(manifest, live)
    assert await applying.requests_of(manifest) == []
