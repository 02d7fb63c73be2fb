import json
import secrets
from typing import Any

import pytest
from aiohttp import web

from steward.kube import errors
from steward.kube.client.client import ApplyOptions, Client, WatchQuery, connect
from steward.kube.client.discovery import REFRESH_SECONDS, Discovery
from steward.kube.objects.kinds import (
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    NODE,
    POD,
    Key,
    Kind,
    Manifest,
    Ref,
)
from steward.kube.transport.transport import TransportOptions
from tests.kube.support.instant_clock import InstantClock
from tests.kube.support.scripted_server import Answer, ok, serving, status, transport_to

WIDGET = Kind("shop.test/v1", "Widget")


def aggregate(*versions: tuple[str, str, str, list[str]]) -> web.Response:
    """Groups of (group, version, freshness, kinds)."""
    items = [
        {
            "metadata": {"name": group},
            "versions": [
                {
                    "version": version,
                    "freshness": freshness,
                    "resources": [
                        {
                            "resource": f"{kind.lower()}s",
                            "responseKind": {"kind": kind},
                            "scope": "Namespaced",
                            "verbs": ["get"],
                        }
                        for kind in kinds
                    ],
                }
            ],
        }
        for group, version, freshness, kinds in versions
    ]
    return ok(kind="APIGroupDiscoveryList", items=items)


def by_path(answers: dict[str, web.Response]) -> Answer:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        found = answers.get(request.path) or web.Response(status=404, text="404 page not found\n")
        return web.Response(status=found.status, body=found.body, content_type=found.content_type)

    return answer


async def test_built_in_kinds_are_found_with_their_scope_verbs_and_subresources(client: Client) -> None:
    deployment = await client.discovery.resource(DEPLOYMENT)
    assert (deployment.group, deployment.version, deployment.plural) == ("apps", "v1", "deployments")
    assert deployment.namespaced
    assert {"get", "list", "watch", "patch"} <= deployment.verbs
    assert {"status", "scale"} <= deployment.subresources
    assert deployment.path(Key("a", "b"), "status") == "/apis/apps/v1/namespaces/a/deployments/b/status"
    node = await client.discovery.resource(NODE)
    assert not node.namespaced
    assert node.path(Key("ignored", "n:1")) == "/api/v1/nodes/n%3A1"
    pod = await client.discovery.resource(POD)
    assert (pod.collection(), pod.collection("a")) == ("/api/v1/pods", "/api/v1/namespaces/a/pods")
    assert "eviction" in pod.subresources


async def test_a_kind_is_found_by_its_name_alone_in_every_group_that_has_it(client: Client) -> None:
    assert await client.discovery.kinds_named("Deployment") == (DEPLOYMENT,)
    assert {kind.group for kind in await client.discovery.kinds_named("Event")} == {"", "events.k8s.io"}
    assert await client.discovery.kinds_named("Nothing") == ()


def definition(group: str) -> Manifest:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                    },
                }
            ],
        },
    }


async def _until(client: Client, name: str, wanted: Any) -> None:
    query = WatchQuery(field_selector=f"metadata.name={name}")
    async with client.watch(CUSTOM_RESOURCE_DEFINITION, query) as lines:
        async for line in lines:
            if wanted(json.loads(line)):
                return


def _established(event: dict[str, Any]) -> bool:
    conditions = event["object"].get("status", {}).get("conditions") or ()
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)


async def test_a_kind_installed_later_is_found_and_one_removed_is_missed(
    settings: Any, client: Client, namespace: str
) -> None:
    group = f"g{secrets.token_hex(4)}.test"
    kind, clock = Kind(f"{group}/v1", "Widget"), InstantClock()
    late = await connect(settings, TransportOptions(clock=clock))
    with pytest.raises(errors.NoSuchKind):
        await late.get(kind, Key(namespace, "w"))
    crd = definition(group)
    await client.apply(crd, ApplyOptions(manager="test"))
    await _until(client, crd["metadata"]["name"], _established)
    await _served(late, clock, kind)
    widget = {
        "apiVersion": kind.api_version,
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": namespace},
    }
    await late.apply({**widget, "spec": {"x": 1}}, ApplyOptions(manager="test"))
    assert (await late.get(kind, Key(namespace, "w")))["spec"] == {"x": 1}
    removed = Ref(CUSTOM_RESOURCE_DEFINITION, Key("", crd["metadata"]["name"]))
    await client.delete(removed)
    with pytest.raises(errors.NoSuchKind):
        await _until_it_fails(late, clock, kind, namespace)
    await late.close()


async def _served(client: Client, clock: InstantClock, kind: Kind) -> None:
    """Waits for the server's discovery, which lags behind the definition; each turn is one request."""
    for _ in range(500):
        clock.advance(REFRESH_SECONDS)
        try:
            await client.discovery.resource(kind)
        except errors.NoSuchKind:
            continue
        return
    pytest.fail(f"{kind} was never served")


async def _until_it_fails(client: Client, clock: InstantClock, kind: Kind, namespace: str) -> None:
    for _ in range(500):
        clock.advance(REFRESH_SECONDS)
        await client.list(kind)
    pytest.fail(f"{kind} is still served")


async def test_one_question_answers_for_all_kinds_of_a_root() -> None:
    answers = {"/apis": aggregate(("shop.test", "v1", "Current", ["Widget", "Gadget"]))}
    async with serving(by_path(answers)) as server, transport_to(server) as transport:
        discovery = Discovery(transport, InstantClock())
        for _ in range(3):
            await discovery.resource(WIDGET)
            await discovery.resource(Kind("shop.test/v1", "Gadget"))
    assert server.calls == ["GET /apis"]
    accept = server.seen[0].headers.getall("Accept")
    assert "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" in accept[0]


async def test_misses_ask_again_but_not_more_often_than_every_few_seconds() -> None:
    clock = InstantClock()
    answers = {"/apis": aggregate()}
    async with serving(by_path(answers)) as server, transport_to(server) as transport:
        discovery = Discovery(transport, clock)
        for _ in range(5):
            with pytest.raises(errors.NoSuchKind):
                await discovery.resource(WIDGET)
        assert server.calls == ["GET /apis"]
        answers["/apis"] = aggregate(("shop.test", "v1", "Current", ["Widget"]))
        clock.advance(REFRESH_SECONDS)
        assert (await discovery.resource(WIDGET)).plural == "widgets"


async def test_an_invalidated_kind_is_discovered_again_before_its_next_use() -> None:
    clock = InstantClock()
    answers = {"/apis": aggregate(("shop.test", "v1", "Current", ["Widget"]))}
    async with serving(by_path(answers)) as server, transport_to(server) as transport:
        discovery = Discovery(transport, clock)
        await discovery.resource(WIDGET)
        discovery.invalidate(WIDGET)
        await discovery.resource(WIDGET)
        assert len(server.calls) == 1
        answers["/apis"] = aggregate()
        clock.advance(REFRESH_SECONDS)
        with pytest.raises(errors.NoSuchKind):
            await discovery.resource(WIDGET)


async def test_a_broken_aggregated_group_fails_its_own_kinds_and_no_others() -> None:
    answers = {
        "/apis": aggregate(("shop.test", "v1", "Current", ["Widget"]), ("broken.test", "v1", "Stale", [])),
        "/apis/broken.test/v1": status(503, "ServiceUnavailable", message="no endpoints"),
    }
    options = TransportOptions(clock=InstantClock())
    async with serving(by_path(answers)) as server, transport_to(server, options) as transport:
        discovery = Discovery(transport, options.clock)
        with pytest.raises(errors.Unavailable, match="no endpoints"):
            await discovery.resource(Kind("broken.test/v1", "Lost"))
        assert (await discovery.resource(WIDGET)).plural == "widgets"


async def test_without_aggregated_discovery_each_group_version_is_read() -> None:
    resources = [
        {"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": ["get"]},
        {"name": "widgets/status", "kind": "Widget", "namespaced": True, "verbs": ["get"]},
        {"name": "widgets/scale", "kind": "Scale", "namespaced": True, "verbs": ["get"]},
    ]
    pods = [{"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get"]}]
    answers = {
        "/apis": ok(kind="APIGroupList", groups=[]),
        "/apis/shop.test/v1": ok(kind="APIResourceList", resources=resources),
        "/api/v1": ok(kind="APIResourceList", resources=pods),
    }
    async with serving(by_path(answers)) as server, transport_to(server) as transport:
        discovery = Discovery(transport, InstantClock())
        widget = await discovery.resource(WIDGET)
        assert widget.subresources == {"status", "scale"}
        assert (await discovery.resource(POD)).plural == "pods"
        with pytest.raises(errors.NoSuchKind):
            await discovery.resource(Kind("other.test/v1", "Thing"))
        await discovery.resource(WIDGET)
    assert server.calls == ["GET /apis", "GET /apis/shop.test/v1", "GET /api/v1", "GET /apis/other.test/v1"]


async def test_a_failed_discovery_may_be_repeated_at_once() -> None:
    answers = {"/apis": status(403, "Forbidden", message="no")}
    async with serving(by_path(answers)) as server, transport_to(server) as transport:
        discovery = Discovery(transport, InstantClock())
        with pytest.raises(errors.Forbidden):
            await discovery.resource(WIDGET)
        answers["/apis"] = aggregate(("shop.test", "v1", "Current", ["Widget"]))
        assert (await discovery.resource(WIDGET)).plural == "widgets"
