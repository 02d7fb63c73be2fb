"""Server-side apply on the real API server, over every kind that an operator of ours applies."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from steward.kube.apply.applier import Applier, Outcome
from steward.kube.client.client import Client
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    NAMESPACE,
    SECRET,
    Key,
    Kind,
    Manifest,
    Ref,
    kind_of,
    ref_of,
)
from steward.kube.objects.options import ApplyOptions
from steward.kube.objects.patches import MergePatch
from tests.kube.support.applied_kinds import MANIFESTS, manifest_of
from tests.kube.support.applying import ALL_KINDS, OURS, STATUS, Bench, at_path, bench, edit, install_widgets
from tests.kube.support.edits import DROPPED, FOREIGN_EDITS, METADATA_EDITS, SPELLINGS
from tests.kube.support.widgets import WIDGET

KINDS = sorted(MANIFESTS)


@pytest.fixture
async def at_work(
    request: pytest.FixtureRequest, settings: ConnectionSettings, client: Client, namespace: str
) -> AsyncIterator[Bench]:
    """Caches of the kind that the test is about, or of all."""
    params = getattr(request.node, "callspec", None)
    kinds = (kind_of(MANIFESTS[params.params["name"]]),) if params else ALL_KINDS
    if WIDGET in kinds:
        await install_widgets(client)
    async with bench(settings, namespace, *kinds) as at_work:
        yield at_work


@pytest.fixture
async def owner(client: Client, namespace: str) -> Manifest:
    """What every object of a test belongs to, as children of ours do."""
    name = Key(namespace, "owner")
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "owner", "namespace": namespace},
    }
    await client.apply(manifest, ApplyOptions(manager="owner"))
    live = await client.get(CONFIG_MAP, name)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": live["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


@pytest.mark.parametrize("name", KINDS)
async def test_a_second_apply_sends_no_request(at_work: Bench, owner: Manifest, name: str) -> None:
    manifest = manifest_of(name, at_work.namespace, owner)

    first = await at_work.apply(manifest)
    assert first.outcome is Outcome.CREATED

    assert await at_work.requests_of(copy.deepcopy(manifest)) == []


@pytest.mark.parametrize("name", KINDS)
async def test_a_restart_sends_no_write(
    settings: ConnectionSettings, at_work: Bench, owner: Manifest, name: str
) -> None:
    manifest = manifest_of(name, at_work.namespace, owner)
    await at_work.apply(manifest)
    before = await at_work.client.get(kind_of(manifest), ref_of(manifest).key)

    async with bench(settings, at_work.namespace, kind_of(manifest)) as restarted:
        first = await restarted.requests_of(manifest)
        second = await restarted.requests_of(manifest)

    # Only the server knows the schema of a custom resource: its defaults inside atomic values cost one dry run.
    assert first == (["PATCH 200"] if name == "Widget" else [])
    assert second == []
    after = await at_work.client.get(kind_of(manifest), ref_of(manifest).key)
    assert our_entry(after) == our_entry(before)


def our_entry(live: Manifest) -> Manifest:
    return next(entry for entry in live["metadata"]["managedFields"] if entry["manager"] == OURS.manager)


async def test_what_a_dry_run_settled_for_one_object_holds_for_a_fleet(
    settings: ConnectionSettings, at_work: Bench
) -> None:
    fleet = [manifest_of("Widget", at_work.namespace) for _ in range(3)]
    for number, manifest in enumerate(fleet):
        manifest["metadata"]["name"] = f"widget-{number}"
        manifest["spec"]["size"] = number
        await at_work.apply(manifest)

    async with bench(settings, at_work.namespace, WIDGET) as restarted:
        costs = [await restarted.requests_of(manifest) for manifest in fleet]

    assert costs == [["PATCH 200"], [], []]


@pytest.mark.parametrize("name", KINDS)
async def test_a_foreign_edit_of_any_owned_field_is_taken_back_by_one_request(
    at_work: Bench, client: Client, owner: Manifest, name: str
) -> None:
    manifest = manifest_of(name, at_work.namespace, owner)
    await at_work.apply(manifest)
    ref = ref_of(manifest)
    for path, value in (*FOREIGN_EDITS[name], *METADATA_EDITS):
        before = await client.get(ref.kind, ref.key)
        edited = await edit(client, manifest, {"op": "replace", "path": path, "value": value})
        assert at_path(edited, path) != at_path(before, path), path
        await at_work.caught_up(manifest, edited)

        assert await at_work.requests_of(manifest) == ["PATCH 200"], path

        assert at_path(await client.get(ref.kind, ref.key), path) == at_path(before, path), path
        assert await at_work.requests_of(manifest) == [], path


@pytest.mark.parametrize("name", sorted(DROPPED))
async def test_a_key_that_we_drop_goes_away_and_one_that_we_add_is_sent(
    at_work: Bench, client: Client, name: str
) -> None:
    whole = manifest_of(name, at_work.namespace)
    ref = ref_of(whole)
    for path in DROPPED[name]:
        await at_work.apply(whole)
        before = await client.get(ref.kind, ref.key)
        shown = path.replace("/stringData/", "/data/")
        assert at_path(before, shown) is not None, path
        less = copy.deepcopy(whole)
        drop(less, path)

        assert (await at_work.apply(less)).outcome is Outcome.CHANGED, path

        assert at_path(await client.get(ref.kind, ref.key), shown) != at_path(before, shown), path
        assert await at_work.requests_of(less) == [], path
        assert (await at_work.apply(whole)).outcome is Outcome.CHANGED, path
        assert at_path(await client.get(ref.kind, ref.key), shown) == at_path(before, shown), path


def drop(manifest: Manifest, pointer: str) -> None:
    above, _, name = pointer.rpartition("/")
    parent = at_path(manifest, above) if above else manifest
    del parent[int(name) if isinstance(parent, list) else name.replace("~1", "/")]


@pytest.mark.parametrize("name", KINDS)
async def test_fields_of_another_manager_cost_nothing(at_work: Bench, client: Client, name: str) -> None:
    manifest = manifest_of(name, at_work.namespace)
    await at_work.apply(manifest)
    other = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {
            "name": manifest["metadata"]["name"],
            "namespace": at_work.namespace,
            "labels": {"team": "blue"},
            "annotations": {"note": "theirs"},
            "finalizers": ["steward.test/theirs"],
        },
    }
    await client.apply(other, ApplyOptions(manager="somebody-else"))
    ref = ref_of(manifest)
    await at_work.caught_up(manifest, await client.get(ref.kind, ref.key))

    assert await at_work.requests_of(manifest) == []

    await client.patch(ref, MergePatch({"metadata": {"finalizers": None}}))


@pytest.mark.parametrize("given", [{}, None], ids=["empty", "null"])
async def test_an_empty_map_is_nobodys_so_that_others_may_fill_and_empty_it(
    settings: ConnectionSettings, namespace: str, client: Client, given: Any
) -> None:
    # As it happens to a Deployment, whose controller writes an annotation at a time of its own.
    manifest = manifest_of("ConfigMap", namespace)
    less = copy.deepcopy(manifest)
    less["metadata"]["annotations"] = less["binaryData"] = given
    ref = ref_of(manifest)
    fillings: list[Manifest] = [
        {"metadata": {"annotations": {"theirs": "1"}}, "binaryData": {"theirs": "MQ=="}},
        {"metadata": {"annotations": {"theirs": "2"}}, "binaryData": {"theirs": "Mg=="}},
        {"metadata": {"annotations": None}, "binaryData": None},
    ]
    async with bench(settings, namespace, CONFIG_MAP) as at_work:
        await at_work.apply(manifest)
        assert (await at_work.apply(less)).outcome is Outcome.CHANGED
        assert "annotations" not in (await client.get(ref.kind, ref.key))["metadata"]

        for filling in fillings:
            await client.patch(ref, MergePatch(filling), manager="a-controller")
            await at_work.caught_up(manifest, await client.get(ref.kind, ref.key))

            assert await at_work.requests_of(less) == [], filling


async def test_a_map_that_we_apply_empty_and_the_server_fills_is_asked_about_once_after_a_restart(
    settings: ConnectionSettings, at_work: Bench, client: Client
) -> None:
    fleet = [manifest_of("StatefulSet", at_work.namespace) for _ in range(3)]
    for number, manifest in enumerate(fleet):
        manifest["metadata"]["name"] = f"set-{number}"
        manifest["spec"]["updateStrategy"] = {}
        await at_work.apply(manifest)
        assert await at_work.requests_of(manifest) == []

    async with bench(settings, at_work.namespace, kind_of(fleet[0])) as restarted:
        costs = [await restarted.requests_of(manifest) for manifest in fleet]

    assert costs == [["PATCH 200"], [], []]


async def test_an_item_that_another_manager_adds_to_our_list_stays_and_costs_nothing(
    at_work: Bench, client: Client
) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    await at_work.apply(manifest)
    sidecar = {"name": "proxy", "image": "proxy:1"}
    live = await edit(
        client, manifest, {"op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar}
    )
    await at_work.caught_up(manifest, live)

    assert await at_work.requests_of(manifest) == []


async def test_the_order_of_our_list_items_is_kept(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", at_work.namespace)
    await at_work.apply(manifest)
    manifest["spec"]["template"]["spec"]["initContainers"].reverse()

    assert await at_work.requests_of(manifest) == ["PATCH 200"]

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    names = [container["name"] for container in live["spec"]["template"]["spec"]["initContainers"]]
    assert names == ["sidecar", "copy"]
    assert await at_work.requests_of(manifest) == []


@pytest.mark.parametrize(("name", "path", "value"), SPELLINGS)
async def test_another_spelling_of_the_same_value_is_not_sent(
    at_work: Bench, name: str, path: str, value: Any
) -> None:
    manifest = manifest_of(name, at_work.namespace)
    await at_work.apply(manifest)
    above, _, last = path.rpartition("/")
    at_path(manifest, above)[last] = value

    assert await at_work.requests_of(manifest) == []


async def test_status_is_applied_once_and_put_back_after_a_foreign_edit(
    at_work: Bench, client: Client
) -> None:
    manifest = manifest_of("Widget", at_work.namespace)
    await at_work.apply(manifest)
    status = {
        "apiVersion": WIDGET.api_version,
        "kind": WIDGET.kind,
        "metadata": {"name": manifest["metadata"]["name"], "namespace": at_work.namespace},
        "status": {
            "phase": "Running",
            "observedGeneration": 1,
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Fine",
                    "message": "",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }
            ],
        },
    }
    await at_work.apply(status, STATUS)
    assert await at_work.requests_of(status, STATUS) == []
    assert await at_work.requests_of(manifest) == []

    ref = ref_of(manifest)
    await client.patch(ref, MergePatch({"status": {"phase": "Edited"}}), "status", manager="somebody-else")
    await at_work.caught_up(manifest, await client.get(ref.kind, ref.key))

    assert await at_work.requests_of(manifest) == []
    assert await at_work.requests_of(status, STATUS) == ["PATCH 200"]
    assert (await client.get(ref.kind, ref.key))["status"]["phase"] == "Running"


async def test_a_condition_that_we_drop_from_status_goes_away(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Widget", at_work.namespace)
    await at_work.apply(manifest)
    conditions = [{"type": "Ready", "status": "False"}, {"type": "Stalled", "status": "True"}]
    identity = {"name": manifest["metadata"]["name"], "namespace": at_work.namespace}
    status = {**manifest, "metadata": identity, "status": {"conditions": conditions}}
    del status["spec"]
    await at_work.apply(status, STATUS)
    status["status"]["conditions"] = conditions[:1]

    await at_work.apply(status, STATUS)

    live = await client.get(WIDGET, ref_of(manifest).key)
    assert [condition["type"] for condition in live["status"]["conditions"]] == ["Ready"]


async def test_a_namespace_is_applied_like_anything_else(at_work: Bench, client: Client) -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": f"{at_work.namespace}-more", "labels": {"a": "b"}},
    }
    assert (await at_work.applier.apply(manifest, OURS)).outcome is Outcome.CREATED
    at_work.requests.clear()

    assert (await at_work.applier.apply(manifest, OURS)).outcome is Outcome.UNCHANGED

    assert at_work.requests == ["GET 200"]
    await client.delete(Ref(NAMESPACE, Key("", manifest["metadata"]["name"])))


@pytest.mark.parametrize("name", ["ConfigMap", "Deployment", "Service", "Widget"])
async def test_without_a_cache_the_object_is_read_and_not_written(at_work: Bench, name: str) -> None:
    manifest = manifest_of(name, at_work.namespace)
    await at_work.applier.apply(manifest, OURS)
    at_work.requests.clear()

    applied = await at_work.applier.apply(manifest, OURS)

    assert applied.outcome is Outcome.UNCHANGED
    assert at_work.requests == ["GET 200"]


async def test_an_object_outside_the_cache_rule_is_read_and_not_written(at_work: Bench) -> None:
    manifest = manifest_of("ConfigMap", at_work.namespace)
    manifest["metadata"]["labels"] = {"other": "label"}
    await at_work.apply(manifest)

    assert await at_work.requests_of(manifest) == ["GET 200"]


async def test_string_data_is_folded_so_that_a_foreign_edit_shows(at_work: Bench, client: Client) -> None:
    manifest = manifest_of("Secret", at_work.namespace)
    await at_work.apply(manifest)
    live = await edit(client, manifest, {"op": "remove", "path": "/data/password"})
    await at_work.caught_up(manifest, live)

    assert await at_work.requests_of(manifest) == ["PATCH 200"]

    assert "password" in (await client.get(SECRET, ref_of(manifest).key))["data"]
    assert "stringData" in manifest


async def test_a_field_that_another_manager_holds_is_a_conflict_without_force(
    at_work: Bench, client: Client
) -> None:
    manifest = manifest_of("ConfigMap", at_work.namespace)
    await client.apply({**manifest, "data": {"mode": "theirs"}}, ApplyOptions(manager="somebody-else"))

    with pytest.raises(FieldConflict) as conflict:
        await at_work.applier.apply(manifest, ApplyOptions(manager=OURS.manager, force=False))

    assert conflict.value.managers == (("somebody-else", ".data.mode"),)


async def test_a_fresh_process_shares_what_another_learned_only_through_the_server(
    settings: ConnectionSettings, at_work: Bench
) -> None:
    manifest = manifest_of("Widget", at_work.namespace)
    await at_work.apply(manifest)
    fresh = Applier(at_work.client)
    at_work.requests.clear()

    applied = await fresh.apply(manifest, OURS, at_work.store(WIDGET))

    assert applied.outcome is Outcome.UNCHANGED
    assert at_work.requests == ["PATCH 200"]


async def test_a_change_inside_an_atomic_value_is_written_after_a_restart(
    settings: ConnectionSettings, at_work: Bench, client: Client
) -> None:
    manifest = manifest_of("Widget", at_work.namespace)
    await at_work.apply(manifest)
    manifest["spec"]["cells"] = [{"name": "z1"}]

    async with bench(settings, at_work.namespace, WIDGET) as restarted:
        assert (await restarted.apply(manifest)).outcome is Outcome.CHANGED
        assert await restarted.requests_of(manifest) == []

    live = await client.get(WIDGET, ref_of(manifest).key)
    assert live["spec"]["cells"] == [{"name": "z1", "weight": 1}]


def test_every_kind_has_its_foreign_edits() -> None:
    assert FOREIGN_EDITS.keys() == MANIFESTS.keys()
    assert all(isinstance(kind, Kind) for kind in ALL_KINDS)
