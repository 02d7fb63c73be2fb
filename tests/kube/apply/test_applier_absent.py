"""Apply only where nothing stands: one call makes the object, and nobody else's is ever touched."""

import copy
from collections.abc import AsyncIterator

import pytest

from steward.kube.apply.applier import Outcome
from steward.kube.client.client import Client
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import AlreadyExists
from steward.kube.objects.kinds import Manifest, kind_of, ref_of
from steward.kube.objects.options import ApplyOptions
from tests.kube.support.applied_kinds import MANIFESTS, manifest_of
from tests.kube.support.applying import ALL_KINDS, MANAGER, Bench, bench, install_widgets
from tests.kube.support.widgets import WIDGET

ONLY_IF_ABSENT = ApplyOptions(manager=MANAGER, only_if_absent=True)
CAREFULLY = ApplyOptions(manager=MANAGER, force=False, only_if_absent=True)


@pytest.fixture
async def at_work(settings: ConnectionSettings, client: Client, namespace: str) -> AsyncIterator[Bench]:
    await install_widgets(client)
    async with bench(settings, namespace, *ALL_KINDS) as at_work:
        yield at_work


async def test_what_is_made_in_one_call_is_ours_by_apply_and_needs_no_other(at_work: Bench) -> None:
    for name in sorted(MANIFESTS):
        manifest = manifest_of(name, at_work.namespace)
        at_work.requests.clear()

        applied = await at_work.apply(manifest, ONLY_IF_ABSENT)

        assert applied.outcome is Outcome.CREATED, name
        assert at_work.requests == ["PATCH 201"], name
        assert await at_work.requests_of(copy.deepcopy(manifest)) == [], name


@pytest.mark.parametrize("options", [ONLY_IF_ABSENT, CAREFULLY], ids=["forced", "careful"])
@pytest.mark.parametrize("name", ["ConfigMap", "Deployment", "Widget"])
async def test_what_somebody_else_has_there_is_not_touched(
    at_work: Bench, client: Client, name: str, options: ApplyOptions
) -> None:
    manifest = manifest_of(name, at_work.namespace)
    theirs = await made_by_another(client, manifest)

    with pytest.raises(
        AlreadyExists, match=f"{kind_of(manifest).kind} {at_work.namespace}/.* is there already"
    ):
        await at_work.apply(manifest, options)

    found = await client.get(kind_of(manifest), ref_of(manifest).key)
    assert found["metadata"]["uid"] == theirs["metadata"]["uid"]
    assert [entry for entry in found["metadata"]["managedFields"] if entry["manager"] == MANAGER] == []
    assert found["metadata"].get("labels") == theirs["metadata"].get("labels")


async def test_a_value_that_is_the_same_by_chance_is_no_permission(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Widget", at_work.namespace)
    await client.apply(manifest, ApplyOptions(manager="another"))

    with pytest.raises(AlreadyExists):
        await at_work.apply(manifest, CAREFULLY)

    found = await client.get(WIDGET, ref_of(manifest).key)
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"another"}


async def made_by_another(client: Client, manifest: Manifest) -> Manifest:
    other = copy.deepcopy(manifest)
    other["metadata"]["labels"] = {"app": "another"}
    await client.create(other, manager="another")
    return await client.get(kind_of(manifest), ref_of(manifest).key)
