"""Server-side apply on the real API server, for every kind that an operator applies."""

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from steward.kube.apply.applier import Applier, ApplyOutcome
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
async def applying(
    request: pytest.FixtureRequest, settings: ConnectionSettings, client: Client, namespace: str
) -> AsyncIterator[Bench]:
    """An applier with caches of the tested kind, or of all kinds."""
    params = getattr(request.node, "callspec", None)
    kinds = (kind_of(MANIFESTS[params.params["name"]]),) if params else ALL_KINDS
    if WIDGET in kinds:
        await install_widgets(client)
    async with bench(settings, namespace, *kinds) as applying:
        yield applying


@pytest.fixture
async def owner(client: Client, namespace: str) -> Manifest:
    """The owner of every object of a test."""
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
async def test_a_second_apply_sends_no_request(applying: Bench, owner: Manifest, name: str) -> None:
    manifest = manifest_of(name, applying.namespace, owner)

    first = await applying.apply(manifest)
    assert first.outcome is ApplyOutcome.CREATED

    assert await applying.requests_of(copy.deepcopy(manifest)) == []


@pytest.mark.parametrize("name", ["ConfigMap", "Deployment", "Widget"])
async def test_the_result_has_the_fields_that_we_own_afterwards(
    applying: Bench, owner: Manifest, name: str
) -> None:
    manifest = manifest_of(name, applying.namespace, owner)
    ref = ref_of(manifest)

    created = await applying.apply(manifest)
    assert created.owned is not None
    assert created.owned == applying.store(ref.kind).owned_fields(ref.key)

    manifest["metadata"]["labels"]["changed"] = "yes"
    changed = await applying.apply(copy.deepcopy(manifest))
    unchanged = await applying.apply(manifest)
    assert (changed.outcome, unchanged.outcome) == (ApplyOutcome.CHANGED, ApplyOutcome.UNCHANGED)
    assert changed.owned == unchanged.owned != created.owned


@pytest.mark.parametrize("name", KINDS)
async def test_a_restart_sends_no_write(
    settings: ConnectionSettings, applying: Bench, owner: Manifest, name: str
) -> None:
    manifest = manifest_of(name, applying.namespace, owner)
    await applying.apply(manifest)
    before = await applying.client.get(kind_of(manifest), ref_of(manifest).key)

    async with bench(settings, applying.namespace, kind_of(manifest)) as restarted:
        first = await restarted.requests_of(manifest)
        second = await restarted.requests_of(manifest)

    # Only the server knows the schema of a custom resource: defaults inside atomic values cost one dry run.
    assert first == (["PATCH 200"] if name == "Widget" else [])
    assert second == []
    after = await applying.client.get(kind_of(manifest), ref_of(manifest).key)
    assert our_entry(after) == our_entry(before)


def our_entry(live: Manifest) -> Manifest:
    return next(entry for entry in live["metadata"]["managedFields"] if entry["manager"] == OURS.manager)


async def test_the_dry_run_of_one_object_answers_for_all_of_its_kind(
    settings: ConnectionSettings, applying: Bench
) -> None:
    fleet = [manifest_of("Widget", applying.namespace) for _ in range(3)]
    for number, manifest in enumerate(fleet):
        manifest["metadata"]["name"] = f"widget-{number}"
        manifest["spec"]["size"] = number
        await applying.apply(manifest)

    async with bench(settings, applying.namespace, WIDGET) as restarted:
        costs = [await restarted.requests_of(manifest) for manifest in fleet]

    assert costs == [["PATCH 200"], [], []]


@pytest.mark.parametrize("name", KINDS)
async def test_a_foreign_edit_of_any_owned_field_is_taken_back_by_one_request(
    applying: Bench, client: Client, owner: Manifest, name: str
) -> None:
    manifest = manifest_of(name, applying.namespace, owner)
    await applying.apply(manifest)
    ref = ref_of(manifest)
    for path, value in (*FOREIGN_EDITS[name], *METADATA_EDITS):
        before = await client.get(ref.kind, ref.key)
        edited = await edit(client, manifest, {"op": "replace", "path": path, "value": value})
        assert at_path(edited, path) != at_path(before, path), path
        await applying.caught_up(manifest, edited)

        assert await applying.requests_of(manifest) == ["PATCH 200"], path

        assert at_path(await client.get(ref.kind, ref.key), path) == at_path(before, path), path
        assert await applying.requests_of(manifest) == [], path


@pytest.mark.parametrize("name", sorted(DROPPED))
async def test_a_dropped_key_is_removed_and_an_added_key_is_sent(
    applying: Bench, client: Client, name: str
) -> None:
    whole = manifest_of(name, applying.namespace)
    ref = ref_of(whole)
    for path in DROPPED[name]:
        await applying.apply(whole)
        before = await client.get(ref.kind, ref.key)
        shown = path.replace("/stringData/", "/data/")
        assert at_path(before, shown) is not None, path
        less = copy.deepcopy(whole)
        drop(less, path)

        assert (await applying.apply(less)).outcome is ApplyOutcome.CHANGED, path

        assert at_path(await client.get(ref.kind, ref.key), shown) != at_path(before, shown), path
        assert await applying.requests_of(less) == [], path
        assert (await applying.apply(whole)).outcome is ApplyOutcome.CHANGED, path
        assert at_path(await client.get(ref.kind, ref.key), shown) == at_path(before, shown), path


def drop(manifest: Manifest, pointer: str) -> None:
    above, _, name = pointer.rpartition("/")
    parent = at_path(manifest, above) if above else manifest
    del parent[int(name) if isinstance(parent, list) else name.replace("~1", "/")]


@pytest.mark.parametrize("name", KINDS)
async def test_fields_of_another_manager_cost_nothing(applying: Bench, client: Client, name: str) -> None:
    manifest = manifest_of(name, applying.namespace)
    await applying.apply(manifest)
    other = {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {
            "name": manifest["metadata"]["name"],
            "namespace": applying.namespace,
            "labels": {"team": "blue"},
            "annotations": {"note": "theirs"},
            "finalizers": ["steward.test/theirs"],
        },
    }
    await client.apply(other, ApplyOptions(manager="somebody-else"))
    ref = ref_of(manifest)
    await applying.caught_up(manifest, await client.get(ref.kind, ref.key))

    assert await applying.requests_of(manifest) == []

    await client.patch(ref, MergePatch({"metadata": {"finalizers": None}}))


@pytest.mark.parametrize("given", [{}, None], ids=["empty", "null"])
async def test_an_empty_map_is_not_owned_so_that_others_may_fill_and_empty_it(
    settings: ConnectionSettings, namespace: str, client: Client, given: Any
) -> None:
    # As with a Deployment, whose controller writes an annotation at any time.
    manifest = manifest_of("ConfigMap", namespace)
    less = copy.deepcopy(manifest)
    less["metadata"]["annotations"] = less["binaryData"] = given
    ref = ref_of(manifest)
    fillings: list[Manifest] = [
        {"metadata": {"annotations": {"theirs": "1"}}, "binaryData": {"theirs": "MQ=="}},
        {"metadata": {"annotations": {"theirs": "2"}}, "binaryData": {"theirs": "Mg=="}},
        {"metadata": {"annotations": None}, "binaryData": None},
    ]
    async with bench(settings, namespace, CONFIG_MAP) as applying:
        await applying.apply(manifest)
        assert (await applying.apply(less)).outcome is ApplyOutcome.CHANGED
        assert "annotations" not in (await client.get(ref.kind, ref.key))["metadata"]

        for filling in fillings:
            await client.patch(ref, MergePatch(filling), manager="a-controller")
            await applying.caught_up(manifest, await client.get(ref.kind, ref.key))

            assert await applying.requests_of(less) == [], filling


async def test_a_map_that_we_apply_empty_and_the_server_fills_costs_one_dry_run_after_a_restart(
    settings: ConnectionSettings, applying: Bench, client: Client
) -> None:
    fleet = [manifest_of("StatefulSet", applying.namespace) for _ in range(3)]
    for number, manifest in enumerate(fleet):
        manifest["metadata"]["name"] = f"set-{number}"
        manifest["spec"]["updateStrategy"] = {}
        await applying.apply(manifest)
        assert await applying.requests_of(manifest) == []

    async with bench(settings, applying.namespace, kind_of(fleet[0])) as restarted:
        costs = [await restarted.requests_of(manifest) for manifest in fleet]

    assert costs == [["PATCH 200"], [], []]


async def test_an_item_that_another_manager_adds_to_our_list_stays_and_costs_nothing(
    applying: Bench, client: Client
) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    await applying.apply(manifest)
    sidecar = {"name": "proxy", "image": "proxy:1"}
    live = await edit(
        client, manifest, {"op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar}
    )
    await applying.caught_up(manifest, live)

    assert await applying.requests_of(manifest) == []


async def test_the_order_of_our_list_items_is_kept(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Deployment", applying.namespace)
    await applying.apply(manifest)
    manifest["spec"]["template"]["spec"]["initContainers"].reverse()

    assert await applying.requests_of(manifest) == ["PATCH 200"]

    live = await client.get(DEPLOYMENT, ref_of(manifest).key)
    names = [container["name"] for container in live["spec"]["template"]["spec"]["initContainers"]]
    assert names == ["sidecar", "copy"]
    assert await applying.requests_of(manifest) == []


@pytest.mark.parametrize(("name", "path", "value"), SPELLINGS)
async def test_another_spelling_of_the_same_value_is_not_sent(
    applying: Bench, name: str, path: str, value: Any
) -> None:
    manifest = manifest_of(name, applying.namespace)
    await applying.apply(manifest)
    above, _, last = path.rpartition("/")
    at_path(manifest, above)[last] = value

    assert await applying.requests_of(manifest) == []


async def test_status_is_applied_once_and_put_back_after_a_foreign_edit(
    applying: Bench, client: Client
) -> None:
    manifest = manifest_of("Widget", applying.namespace)
    await applying.apply(manifest)
    status = {
        "apiVersion": WIDGET.api_version,
        "kind": WIDGET.kind,
        "metadata": {"name": manifest["metadata"]["name"], "namespace": applying.namespace},
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
    await applying.apply(status, STATUS)
    assert await applying.requests_of(status, STATUS) == []
    assert await applying.requests_of(manifest) == []

    ref = ref_of(manifest)
    await client.patch(ref, MergePatch({"status": {"phase": "Edited"}}), "status", manager="somebody-else")
    await applying.caught_up(manifest, await client.get(ref.kind, ref.key))

    assert await applying.requests_of(manifest) == []
    assert await applying.requests_of(status, STATUS) == ["PATCH 200"]
    assert (await client.get(ref.kind, ref.key))["status"]["phase"] == "Running"


async def test_a_condition_that_we_drop_from_the_status_is_removed(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Widget", applying.namespace)
    await applying.apply(manifest)
    conditions = [{"type": "Ready", "status": "False"}, {"type": "Stalled", "status": "True"}]
    identity = {"name": manifest["metadata"]["name"], "namespace": applying.namespace}
    status = {**manifest, "metadata": identity, "status": {"conditions": conditions}}
    del status["spec"]
    await applying.apply(status, STATUS)
    status["status"]["conditions"] = conditions[:1]

    await applying.apply(status, STATUS)

    live = await client.get(WIDGET, ref_of(manifest).key)
    assert [condition["type"] for condition in live["status"]["conditions"]] == ["Ready"]


async def test_a_namespace_is_applied_like_anything_else(applying: Bench, client: Client) -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": f"{applying.namespace}-more", "labels": {"a": "b"}},
    }
    assert (await applying.applier.apply(manifest, OURS)).outcome is ApplyOutcome.CREATED
    applying.requests.clear()

    assert (await applying.applier.apply(manifest, OURS)).outcome is ApplyOutcome.UNCHANGED

    assert applying.requests == ["GET 200"]
    await client.delete(Ref(NAMESPACE, Key("", manifest["metadata"]["name"])))


@pytest.mark.parametrize("name", ["ConfigMap", "Deployment", "Service", "Widget"])
async def test_without_a_cache_the_object_is_read_and_not_written(applying: Bench, name: str) -> None:
    manifest = manifest_of(name, applying.namespace)
    await applying.applier.apply(manifest, OURS)
    applying.requests.clear()

    applied = await applying.applier.apply(manifest, OURS)

    assert applied.outcome is ApplyOutcome.UNCHANGED
    assert applying.requests == ["GET 200"]


async def test_an_object_outside_the_cache_rule_is_read_and_not_written(applying: Bench) -> None:
    manifest = manifest_of("ConfigMap", applying.namespace)
    manifest["metadata"]["labels"] = {"other": "label"}
    await applying.apply(manifest)

    assert await applying.requests_of(manifest) == ["GET 200"]


async def test_string_data_is_folded_so_that_a_foreign_edit_shows(applying: Bench, client: Client) -> None:
    manifest = manifest_of("Secret", applying.namespace)
    await applying.apply(manifest)
    live = await edit(client, manifest, {"op": "remove", "path": "/data/password"})
    await applying.caught_up(manifest, live)

    assert await applying.requests_of(manifest) == ["PATCH 200"]

    assert "password" in (await client.get(SECRET, ref_of(manifest).key))["data"]
    assert "stringData" in manifest


async def test_a_field_that_another_manager_holds_is_a_conflict_without_force(
    applying: Bench, client: Client
) -> None:
    manifest = manifest_of("ConfigMap", applying.namespace)
    await client.apply({**manifest, "data": {"mode": "theirs"}}, ApplyOptions(manager="somebody-else"))

    with pytest.raises(FieldConflict) as conflict:
        await applying.applier.apply(manifest, ApplyOptions(manager=OURS.manager, force=False))

    assert conflict.value.managers == (("somebody-else", ".data.mode"),)


async def test_a_new_process_needs_one_dry_run(settings: ConnectionSettings, applying: Bench) -> None:
    manifest = manifest_of("Widget", applying.namespace)
    await applying.apply(manifest)
    fresh = Applier(applying.client)
    applying.requests.clear()

    applied = await fresh.apply(manifest, OURS, applying.store(WIDGET))

    assert applied.outcome is ApplyOutcome.UNCHANGED
    assert applying.requests == ["PATCH 200"]


async def test_a_change_inside_an_atomic_value_is_written_after_a_restart(
    settings: ConnectionSettings, applying: Bench, client: Client
) -> None:
    manifest = manifest_of("Widget", applying.namespace)
    await applying.apply(manifest)
    manifest["spec"]["cells"] = [{"name": "z1"}]

    async with bench(settings, applying.namespace, WIDGET) as restarted:
        assert (await restarted.apply(manifest)).outcome is ApplyOutcome.CHANGED
        assert await restarted.requests_of(manifest) == []

    live = await client.get(WIDGET, ref_of(manifest).key)
    assert live["spec"]["cells"] == [{"name": "z1", "weight": 1}]


def test_every_kind_has_its_foreign_edits() -> None:
    assert FOREIGN_EDITS.keys() == MANIFESTS.keys()
    assert all(isinstance(kind, Kind) for kind in ALL_KINDS)
