"""Apply only if absent: one request creates the object, and an existing object is never changed."""

import copy
from collections.abc import AsyncIterator

import pytest

from steward.kube.apply.applier import ApplyOutcome
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
async def applying(settings: ConnectionSettings, client: Client, namespace: str) -> AsyncIterator[Bench]:
    await install_widgets(client)
    async with bench(settings, namespace, *ALL_KINDS) as applying:
        yield applying


async def test_an_object_that_was_created_in_one_call_needs_no_second_apply(applying: Bench) -> None:
    for name in sorted(MANIFESTS):
        manifest = manifest_of(name, applying.namespace)
        applying.requests.clear()

        applied = await applying.apply(manifest, ONLY_IF_ABSENT)

        assert applied.outcome is ApplyOutcome.CREATED, name
        assert applying.requests == ["PATCH 201"], name
        assert await applying.requests_of(copy.deepcopy(manifest)) == [], name


@pytest.mark.parametrize("options", [ONLY_IF_ABSENT, CAREFULLY], ids=["forced", "careful"])
@pytest.mark.parametrize("name", ["ConfigMap", "Deployment", "Widget"])
async def test_an_existing_object_of_another_manager_is_not_changed(
    applying: Bench, client: Client, name: str, options: ApplyOptions
) -> None:
    manifest = manifest_of(name, applying.namespace)
    theirs = await made_by_another(client, manifest)

    with pytest.raises(
        AlreadyExists, match=f"{kind_of(manifest).kind} {applying.namespace}/.* already exists"
    ):
        await applying.apply(manifest, options)

    found = await client.get(kind_of(manifest), ref_of(manifest).key)
    assert found["metadata"]["uid"] == theirs["metadata"]["uid"]
    assert [entry for entry in found["metadata"]["managedFields"] if entry["manager"] == MANAGER] == []
    assert found["metadata"].get("labels") == theirs["metadata"].get("labels")


async def test_a_value_that_is_the_same_by_chance_is_no_permission(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Widget", applying.namespace)
    await client.apply(manifest, ApplyOptions(manager="another"))

    with pytest.raises(AlreadyExists):
        await applying.apply(manifest, CAREFULLY)

    found = await client.get(WIDGET, ref_of(manifest).key)
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"another"}


async def made_by_another(client: Client, manifest: Manifest) -> Manifest:
    other = copy.deepcopy(manifest)
    other["metadata"]["labels"] = {"app": "another"}
    await client.create(other, manager="another")
    return await client.get(kind_of(manifest), ref_of(manifest).key)
