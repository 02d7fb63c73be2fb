"""Refusals that server-side apply cannot get out of by itself, on the real API server."""

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
async def at_work(settings: ConnectionSettings, client: Client, namespace: str) -> AsyncIterator[Bench]:
    await install_widgets(client)
    kinds = (DEPLOYMENT, POD_DISRUPTION_BUDGET, SERVICE, STATEFUL_SET, WIDGET)
    async with bench(settings, namespace, *kinds) as at_work:
        yield at_work


async def test_a_union_branch_is_switched(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    manifest["spec"]["strategy"] = {"type": "RollingUpdate"}
    await at_work.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "Recreate"}

    await at_work.apply(manifest)

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert live["spec"]["strategy"] == {"type": "Recreate"}
    await assert_only_we_apply(at_work, client, manifest)


async def test_a_union_branch_is_switched_back(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    manifest["spec"]["strategy"] = {"type": "Recreate"}
    await at_work.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}

    await at_work.apply(manifest)

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert live["spec"]["strategy"]["rollingUpdate"]["maxSurge"] == 1
    await assert_only_we_apply(at_work, client, manifest)


async def test_a_stateful_set_goes_to_on_delete(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("StatefulSet", at_work.namespace)
    del manifest["spec"]["updateStrategy"]
    await at_work.apply(manifest)
    manifest["spec"]["updateStrategy"] = {"type": "OnDelete"}

    await at_work.apply(manifest)

    await assert_only_we_apply(at_work, client, manifest)


async def test_what_healing_set_can_still_be_dropped(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    del manifest["spec"]["strategy"]
    await at_work.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "Recreate"}
    await at_work.apply(manifest)
    del manifest["spec"]["strategy"]

    await at_work.apply(manifest)

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert live["spec"]["strategy"]["type"] == "RollingUpdate"


async def test_a_foreign_port_number_is_put_back(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Service", at_work.namespace)
    manifest["spec"]["type"] = "NodePort"
    await at_work.apply(manifest)
    before = await client.get(SERVICE, ref_of(manifest).key)
    live = await edit(client, manifest, {"op": "replace", "path": "/spec/ports/0/port", "value": 8080})
    await at_work.caught_up(manifest, live)

    await at_work.apply(manifest)

    after = await client.get(SERVICE, ref_of(manifest).key)
    assert after["spec"]["ports"] == before["spec"]["ports"]
    await assert_only_we_apply(at_work, client, manifest)


async def test_a_foreign_container_port_is_put_back(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    await at_work.apply(manifest)
    path = "/spec/template/spec/containers/0/ports/0/containerPort"
    live = await edit(client, manifest, {"op": "replace", "path": path, "value": 5433})
    await at_work.caught_up(manifest, live)

    await at_work.apply(manifest)

    after = await client.get(DEPLOYMENT, ref_of(manifest).key)
    assert at_path(after, path) == 5432
    await assert_only_we_apply(at_work, client, manifest)


async def test_a_foreign_volume_source_is_put_back(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    await at_work.apply(manifest)
    volume = "/spec/template/spec/volumes/2"
    live = await edit(
        client,
        manifest,
        {"op": "remove", "path": f"{volume}/configMap"},
        {"op": "add", "path": f"{volume}/emptyDir", "value": {}},
    )
    await at_work.caught_up(manifest, live)

    await at_work.apply(manifest)

    after = at_path(await client.get(DEPLOYMENT, ref_of(manifest).key), volume)
    assert "configMap" in after
    assert "emptyDir" not in after
    await assert_only_we_apply(at_work, client, manifest)


async def test_an_exclusive_field_set_by_somebody_else_goes(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("PodDisruptionBudget", at_work.namespace)
    await at_work.apply(manifest)
    live = await edit(
        client,
        manifest,
        {"op": "remove", "path": "/spec/maxUnavailable"},
        {"op": "add", "path": "/spec/minAvailable", "value": 1},
    )
    await at_work.caught_up(manifest, live)

    await at_work.apply(manifest)

    await assert_only_we_apply(at_work, client, manifest)


async def test_what_cannot_be_healed_is_told(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Service", at_work.namespace)
    await at_work.apply(manifest)
    manifest["spec"]["clusterIP"] = "None"
    before = await client.get(SERVICE, ref_of(manifest).key)

    with pytest.raises(Invalid, match="may not change once set"):
        await at_work.apply(manifest)

    assert await client.get(SERVICE, ref_of(manifest).key) == before


async def test_an_invalid_new_object_is_told(at_work: Bench) -> None:
    manifest = manifest_of("Service", at_work.namespace)
    manifest["spec"]["ports"][0]["port"] = 0

    with pytest.raises(Invalid, match=r"spec\.ports"):
        await at_work.apply(manifest)


async def test_a_map_of_a_custom_resource_may_lose_its_last_key(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Widget", at_work.namespace)
    await at_work.apply(manifest)
    manifest["spec"]["labels"] = {}

    await at_work.apply(manifest)

    live = await client.get(WIDGET, ref_of(manifest).key)
    assert live["spec"]["labels"] == {}
    await assert_only_we_apply(at_work, client, manifest)


async def test_without_force_nothing_is_cleared_away(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    manifest["spec"]["strategy"] = {"type": "RollingUpdate"}
    await at_work.apply(manifest)
    manifest["spec"]["strategy"] = {"type": "Recreate"}

    with pytest.raises(Invalid, match="may not be specified when strategy"):
        await at_work.apply(manifest, ApplyOptions(manager=OURS.manager, force=False))


async def assert_only_we_apply(at_work: Bench, client: Client, manifest: Manifest) -> None:
    """Nothing is left of the healing: no owner of its own, and nothing more to send."""
    live = await client.get(kind_of(manifest), ref_of(manifest).key)
    managers = {entry["manager"] for entry in live["metadata"]["managedFields"]}
    assert managers - {"kube-controller-manager"} == {OURS.manager}
    await at_work.caught_up(manifest, live)
    assert await at_work.requests_of(manifest) == []
