"""Every verb against the real API server."""

import json
from typing import Any

import msgspec
import pytest
from aiohttp import web
from msgspec import Struct

from steward.kube import errors
from steward.kube.client.client import (
    Access,
    ApplyOptions,
    Client,
    DeleteOptions,
    Impersonation,
    JsonPatch,
    ListQuery,
    MergePatch,
    StrategicPatch,
    Subject,
    WatchQuery,
    connect,
)
from steward.kube.config.settings import ConnectionSettings
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    NAMESPACE,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE_ACCOUNT,
    Key,
    Kind,
    Manifest,
    Ref,
)
from steward.kube.objects.meta import ObjectMeta
from steward.kube.transport.request import Request
from steward.kube.transport.transport import Hooks, Transport, TransportOptions
from tests.kube.support.instant_clock import InstantClock
from tests.kube.support.scripted_server import in_turn, ok, serving, status

MINE = ApplyOptions(manager="mine")


class ConfigMapView(Struct):
    metadata: ObjectMeta
    data: dict[str, str] = {}


def config_map(namespace: str, name: str = "a", **data: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def deployment(namespace: str, replicas: int = 0) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    }


def pod(namespace: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": namespace, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web"}]},
    }


def decoded(body: bytes) -> dict[str, Any]:
    return msgspec.json.decode(body, type=dict[str, Any])


async def test_a_created_object_is_read_as_dict_or_as_a_view(client: Client, namespace: str) -> None:
    created = decoded(await client.create(config_map(namespace, x="1"), manager="mine"))
    key = Key(namespace, "a")
    assert created["metadata"]["managedFields"][0]["manager"] == "mine"
    assert (await client.get(CONFIG_MAP, key))["data"] == {"x": "1"}
    view = await client.get(CONFIG_MAP, key, ConfigMapView)
    assert (view.data, view.metadata.uid) == ({"x": "1"}, created["metadata"]["uid"])


async def test_an_object_that_exists_is_not_created_again(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace))
    with pytest.raises(errors.AlreadyExists, match='configmaps "a" already exists'):
        await client.create(config_map(namespace))


async def test_a_missing_object_is_not_found(client: Client, namespace: str) -> None:
    with pytest.raises(errors.NotFound, match='configmaps "no" not found'):
        await client.get(CONFIG_MAP, Key(namespace, "no"))
    with pytest.raises(errors.NotFound, match='namespaces "no-such" not found'):
        await client.create(config_map("no-such"))


async def test_a_kind_that_is_not_served_is_named(client: Client, namespace: str) -> None:
    with pytest.raises(errors.NoSuchKind, match=r"does not serve Thing \(nowhere.test/v1\)"):
        await client.get(Kind("nowhere.test/v1", "Thing"), Key(namespace, "a"))


async def test_a_dry_run_changes_nothing_and_needs_no_lease(
    settings: ConnectionSettings, namespace: str
) -> None:
    def refuse(request: Request) -> None:
        raise errors.LeaseLost("not the leader")

    client = await connect(settings, TransportOptions(hooks=Hooks(before_write=refuse)))
    await client.create(config_map(namespace), dry_run=True)
    await client.apply(config_map(namespace), ApplyOptions(manager="mine", dry_run=True))
    assert (await client.review_access(Access(verb="get", resource="pods"))).allowed
    assert (
        await client.list(CONFIG_MAP, ListQuery(namespace=namespace, field_selector="metadata.name=a"))
    ).items == []
    with pytest.raises(errors.LeaseLost):
        await client.apply(config_map(namespace), MINE)
    await client.close()


async def test_apply_creates_changes_and_lets_go_of_fields(client: Client, namespace: str) -> None:
    await client.apply(config_map(namespace, x="1", y="1"), MINE)
    body = await client.apply(config_map(namespace, y="2"), MINE)
    assert decoded(body)["data"] == {"y": "2"}


async def test_an_unforced_apply_names_the_managers_that_hold_its_fields(
    client: Client, namespace: str
) -> None:
    await client.apply(config_map(namespace, x="1", y="1"), ApplyOptions(manager="first"))
    await client.apply(config_map(namespace, z="1"), ApplyOptions(manager="second"))
    unforced = ApplyOptions(manager="mine", force=False)
    with pytest.raises(errors.FieldConflict) as caught:
        await client.apply(config_map(namespace, x="2", z="2"), unforced)
    assert set(caught.value.managers) == {("first", ".data.x"), ("second", ".data.z")}
    body = await client.apply(config_map(namespace, x="2", z="2"), MINE)
    assert decoded(body)["data"] == {"x": "2", "y": "1", "z": "2"}


async def test_strict_validation_rejects_unknown_fields(client: Client, namespace: str) -> None:
    with pytest.raises(errors.BadRequest, match="unknown field"):
        await client.create({**config_map(namespace), "dta": {}}, field_validation="Strict")


async def test_invalid_names_its_causes_by_field(client: Client, namespace: str) -> None:
    broken = deployment(namespace)
    broken["spec"]["template"]["spec"]["containers"][0]["name"] = "Not A Name"
    broken["spec"]["replicas"] = -1
    with pytest.raises(errors.Invalid) as caught:
        await client.create(broken)
    assert set(caught.value.causes) == {"spec.replicas", "spec.template.spec.containers[0].name"}
    assert "must be greater than or equal to 0" in caught.value.causes["spec.replicas"][0]


async def test_the_three_patch_types(client: Client, namespace: str) -> None:
    ref = Ref(DEPLOYMENT, Key(namespace, "web"))
    await client.create(deployment(namespace))
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side"}]}}}}
    strategic = decoded(await client.patch(ref, StrategicPatch(sidecar)))
    assert {c["name"] for c in strategic["spec"]["template"]["spec"]["containers"]} == {"web", "side"}
    merged = decoded(await client.patch(ref, MergePatch(sidecar)))
    assert [c["name"] for c in merged["spec"]["template"]["spec"]["containers"]] == ["side"]
    remove = JsonPatch([{"op": "replace", "path": "/spec/replicas", "value": 0}])
    assert decoded(await client.patch(ref, remove, manager="mine"))["spec"]["replicas"] == 0


async def test_a_patch_that_expects_another_version_is_rejected(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace))
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    with pytest.raises(errors.Conflict, match="the object has been modified"):
        await client.patch(ref, MergePatch({"metadata": {"resourceVersion": "1"}, "data": {"x": "1"}}))
    add = {"op": "add", "path": "/data", "value": {"x": "1"}}
    with pytest.raises(errors.Conflict, match="the object has been modified"):
        await client.patch(ref, JsonPatch.at_version("1", [add]))
    test = {"op": "test", "path": "/metadata/resourceVersion", "value": "1"}
    # 422 stands for requests that stay invalid, which is why our patches do not test the version.
    with pytest.raises(errors.Invalid):
        await client.patch(ref, JsonPatch([test, add]))


async def test_replace_needs_the_version_it_read(client: Client, namespace: str) -> None:
    first = decoded(await client.create(config_map(namespace, x="1")))
    await client.replace({**first, "data": {"x": "2"}})
    with pytest.raises(errors.Conflict, match="the object has been modified"):
        await client.replace({**first, "data": {"x": "3"}})
    assert (await client.get(CONFIG_MAP, Key(namespace, "a")))["data"] == {"x": "2"}


async def test_status_is_written_apart_from_the_spec(client: Client, namespace: str) -> None:
    await client.create(deployment(namespace))
    status_of = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": 9},
        "status": {"collisionCount": 7},
    }
    body = await client.apply(status_of, ApplyOptions(manager="mine", subresource="status"))
    written = decoded(body)
    assert written["status"]["collisionCount"] == 7
    assert written["spec"]["replicas"] == 0


async def test_a_kind_without_a_subresource_is_an_error(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace))
    with pytest.raises(errors.NoSuchKind, match=r"ConfigMap \(v1\), or not this part of it"):
        await client.patch(Ref(CONFIG_MAP, Key(namespace, "a")), MergePatch({}), "scale")
    assert (await client.get(CONFIG_MAP, Key(namespace, "a")))["metadata"]["name"] == "a"


async def test_a_delete_spares_an_object_that_is_not_the_expected_one(client: Client, namespace: str) -> None:
    created = decoded(await client.create(config_map(namespace)))["metadata"]
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    for options in (DeleteOptions(uid="another"), DeleteOptions(resource_version="1")):
        with pytest.raises(errors.Conflict, match="in the precondition"):
            await client.delete(ref, options)
    await client.delete(ref, DeleteOptions(uid=created["uid"], resource_version=created["resourceVersion"]))
    with pytest.raises(errors.NotFound):
        await client.delete(ref, DeleteOptions(uid=created["uid"]))


@pytest.mark.parametrize(
    ("propagation", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")]
)
async def test_propagation_is_the_callers_choice(
    client: Client, namespace: str, propagation: Any, finalizer: str
) -> None:
    held = config_map(namespace)
    held["metadata"]["finalizers"] = ["steward.test/hold"]
    created = decoded(await client.create(held))["metadata"]
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    await client.delete(ref, DeleteOptions(propagation=propagation))
    await _watched(
        client, ref, lambda found: finalizer in found["metadata"]["finalizers"], created["resourceVersion"]
    )
    await client.patch(ref, MergePatch({"metadata": {"finalizers": None}}))


async def test_a_grace_of_zero_is_sent(client: Client, namespace: str) -> None:
    await client.create({**pod(namespace), "spec": {**pod(namespace)["spec"], "nodeName": "nowhere"}})
    ref = Ref(POD, Key(namespace, "web"))
    await client.delete(ref, DeleteOptions(grace_seconds=0))
    with pytest.raises(errors.NotFound):
        await client.get(POD, ref.key)


async def test_pages_become_one_list(client: Client, namespace: str) -> None:
    for number in range(7):
        await client.create(config_map(namespace, f"n{number}"))
    names = {f"n{number}" for number in range(7)}
    for limit in (0, 1, 3, 500):
        found = await client.list(CONFIG_MAP, ListQuery(namespace=namespace, limit=limit), ConfigMapView)
        assert {item.metadata.name for item in found.items} >= names
        assert int(found.resource_version) > 0


async def test_has_any_reads_one_object(client: Client, namespace: str) -> None:
    labelled = [config_map(namespace, name) for name in ("a", "b")]
    for manifest in labelled:
        manifest["metadata"]["labels"] = {"app": "x"}
        await client.create(manifest)
    assert await client.has_any(CONFIG_MAP, ListQuery(namespace=namespace, label_selector="app=x"))
    assert not await client.has_any(CONFIG_MAP, ListQuery(namespace=namespace, label_selector="app=y"))


async def test_listed_objects_have_api_version_and_kind(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace))
    for item in (await client.list(CONFIG_MAP, ListQuery(namespace=namespace))).items:
        assert (item["apiVersion"], item["kind"]) == ("v1", "ConfigMap")


async def test_a_list_may_come_from_the_servers_cache(client: Client, namespace: str) -> None:
    created = decoded(await client.create(config_map(namespace)))
    version = created["metadata"]["resourceVersion"]
    query = ListQuery(namespace=namespace, resource_version=version, match="NotOlderThan", limit=0)
    found = await client.list(CONFIG_MAP, query, ConfigMapView)
    assert "a" in {item.metadata.name for item in found.items}
    stale = await client.list(CONFIG_MAP, ListQuery(namespace=namespace, resource_version="0"))
    assert int(stale.resource_version) > 0


async def test_raw_items_keep_their_bytes(client: Client, namespace: str) -> None:
    await client.create(config_map(namespace, x="1"))
    found = await client.list(CONFIG_MAP, ListQuery(namespace=namespace), msgspec.Raw)
    assert any(b'"data":{"x":"1"}' in bytes(item) for item in found.items)


async def test_pages_that_expire_are_read_again_in_one_piece() -> None:
    def page(token: str, *names: str) -> web.Response:
        items = [{"metadata": {"name": name}} for name in names]
        return ok(kind="ConfigMapList", metadata={"resourceVersion": "5", "continue": token}, items=items)

    resources = [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["list"]}]
    answers = in_turn(
        ok(kind="APIVersions"),
        ok(kind="APIResourceList", resources=resources),
        page("more", "a"),
        status(410, "Expired"),
        page("", "a", "b"),
    )
    async with serving(answers) as server:
        client = await connect(server.settings)
        found = await client.list(CONFIG_MAP, ListQuery(namespace="shop", limit=1), ConfigMapView)
        await client.close()
    assert [item.metadata.name for item in found.items] == ["a", "b"]
    root = "GET /api/v1/namespaces/shop/configmaps"
    assert server.calls[2:] == [f"{root}?limit=1", f"{root}?limit=1&continue=more", root]


async def test_a_watch_gives_events_from_a_version_on(client: Client, namespace: str) -> None:
    version = (await client.list(CONFIG_MAP, ListQuery(namespace=namespace))).resource_version
    await client.create(config_map(namespace, x="1"))
    query = WatchQuery(namespace=namespace, resource_version=version)
    async with client.watch(CONFIG_MAP, query) as lines:
        events = [json.loads(await anext(lines))]
        while events[-1]["object"]["metadata"]["name"] != "a":
            events.append(json.loads(await anext(lines)))
    assert events[-1]["type"] == "ADDED"


async def test_a_watch_of_a_kind_that_is_not_served_is_an_error() -> None:
    resources = [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["watch"]}]
    answers = in_turn(
        ok(kind="APIVersions"),
        ok(kind="APIResourceList", resources=resources),
        web.Response(status=404, text="404 page not found\n"),
    )
    async with serving(answers) as server:
        client = await connect(server.settings)
        with pytest.raises(errors.NoSuchKind, match=r"does not serve ConfigMap \(v1\)"):
            async with client.watch(CONFIG_MAP, WatchQuery()):
                pytest.fail("there is nothing to watch")
        await client.close()


async def test_a_410_for_a_list_without_pages_is_raised() -> None:
    resources = [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": ["list"]}]
    answers = in_turn(
        ok(kind="APIVersions"), ok(kind="APIResourceList", resources=resources), status(410, "Expired")
    )
    async with serving(answers) as server:
        client = await connect(server.settings)
        with pytest.raises(errors.Gone):
            await client.list(CONFIG_MAP, ListQuery(limit=0))
        await client.close()
    assert len(server.calls) == 3


async def test_an_eviction_against_its_budget_is_raised_at_once(client: Client, namespace: str) -> None:
    ref = Ref(POD, Key(namespace, "web"))
    await client.create(pod(namespace))
    await _watched(client, ref, lambda found: found["status"]["phase"] == "Running")
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    await client.create(budget)
    budget_ref = Ref(POD_DISRUPTION_BUDGET, Key(namespace, "keep"))
    await _watched(client, budget_ref, lambda found: found.get("status", {}).get("currentHealthy") == 1)
    with pytest.raises(errors.DisruptionBudget, match="The disruption budget keep needs 1 healthy pods"):
        await client.evict(ref)
    await client.delete(budget_ref)
    version = (await client.get(POD, ref.key))["metadata"]["resourceVersion"]
    await client.evict(ref)
    await _watched(client, ref, lambda found: "deletionTimestamp" in found["metadata"], version)


async def _watched(client: Client, ref: Ref, wanted: Any, since: str = "") -> None:
    """Waits until the object meets the condition, or has met it since that version."""
    name = f"metadata.name={ref.key.name}"
    query = WatchQuery(namespace=ref.key.namespace, field_selector=name, resource_version=since)
    async with client.watch(ref.kind, query) as lines:
        async for line in lines:
            event = json.loads(line)
            if event["type"] != "BOOKMARK" and wanted(event["object"]):
                return


async def _account_token(settings: ConnectionSettings, namespace: str) -> str:
    transport = Transport(settings)
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    body = b'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}'
    answer = await transport.request(Request(method="POST", path=path, body=body))
    await transport.close()
    token: str = decoded(answer.body)["status"]["token"]
    return token


async def test_a_token_is_reviewed(client: Client, settings: ConnectionSettings, namespace: str) -> None:
    answer = await client.review_token(await _account_token(settings, namespace))
    assert answer.authenticated
    assert answer.user == f"system:serviceaccount:{namespace}:default"
    assert f"system:serviceaccounts:{namespace}" in answer.groups
    assert not (await client.review_token("nonsense")).authenticated


async def test_access_is_reviewed_for_others_and_for_oneself(client: Client, namespace: str) -> None:
    access = Access(verb="get", resource="secrets", namespace=namespace)
    nobody = Subject(user="nobody")
    assert not (await client.review_access(access, nobody)).allowed
    assert (await client.review_access(access, Subject(user="x", groups=("system:masters",)))).allowed
    assert (await client.review_access(access)).allowed
    as_nobody = client.as_user(Impersonation(user="nobody"))
    assert not (await as_nobody.review_access(access)).allowed
    assert (await client.review_access(Access(verb="get", path="/version"), nobody)).allowed is False


async def test_acting_as_someone_else_has_their_rights(client: Client, namespace: str) -> None:
    eve = client.as_user(Impersonation(user="eve", groups=("system:authenticated",)))
    with pytest.raises(errors.Forbidden) as caught:
        await eve.list(POD, ListQuery(namespace=namespace))
    assert (caught.value.user, caught.value.verb, caught.value.resource) == ("eve", "list", "pods")
    assert (await client.list(POD, ListQuery(namespace=namespace))).items == []


async def test_impersonation_carries_uid_groups_and_extras(client: Client) -> None:
    who = Impersonation(
        user="eve",
        uid="7",
        groups=("system:masters", "b"),
        extra={"example.org/scope": ("x", "y"), "Ü b": ("z",)},
    )
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}
    seen = decoded(await client.as_user(who).create(review))["status"]["userInfo"]
    assert (seen["username"], seen["uid"]) == ("eve", "7")
    assert {"system:masters", "b"} <= set(seen["groups"])
    assert seen["extra"]["example.org/scope"] == ["x", "y"]
    assert seen["extra"]["Ü b"] == ["z"]


async def test_settings_that_impersonate_do_so_in_every_call(
    settings: ConnectionSettings, namespace: str
) -> None:
    client = await connect(msgspec.structs.replace(settings, impersonation=Impersonation(user="eve")))
    with pytest.raises(errors.Forbidden, match='User "eve" cannot get resource "configmaps"'):
        await client.get(CONFIG_MAP, Key(namespace, "a"))
    await client.close()


async def test_a_service_account_uses_its_token(settings: ConnectionSettings, namespace: str) -> None:
    token = await _account_token(settings, namespace)
    account = ConnectionSettings(
        server=settings.server,
        tls=msgspec.structs.replace(
            settings.tls, certificate=type(settings.tls.key)(), key=type(settings.tls.key)()
        ),
        auth=msgspec.structs.replace(settings.auth, token=token),
    )
    client = await connect(account)
    with pytest.raises(errors.Forbidden) as caught:
        await client.get(SERVICE_ACCOUNT, Key(namespace, "default"))
    assert caught.value.user == f"system:serviceaccount:{namespace}:default"
    await client.close()


async def test_cluster_scoped_kinds_need_no_namespace_and_others_do(client: Client, namespace: str) -> None:
    assert (await client.get(NAMESPACE, Key("", namespace)))["metadata"]["name"] == namespace
    with pytest.raises(ValueError, match="configmaps 'a' needs a namespace"):
        await client.get(CONFIG_MAP, Key("", "a"))


async def test_a_timeout_can_be_set_for_all_calls_of_a_client() -> None:
    options = TransportOptions(clock=InstantClock())
    busy = status(429, "TooManyRequests", {"Retry-After": "5"})
    async with serving(in_turn(busy)) as server:
        client = await connect(server.settings, options)
        with pytest.raises(errors.TooManyRequests):
            await client.with_timeout(3).get(CONFIG_MAP, Key("a", "b"))
        await client.close()
