"""Apply where a mutating webhook changes the manifest."""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from steward.certificates.authority import Profile, Subject, Validity, make_authority, sign_leaf
from steward.kube.apply.applier import ApplyOutcome
from steward.kube.client.client import Client
from steward.kube.config.settings import ConnectionSettings
from steward.kube.objects.kinds import MUTATING_WEBHOOKS, Key, Manifest, Ref, ref_of
from steward.kube.objects.options import ApplyOptions
from tests.kube.support.applied_kinds import manifest_of
from tests.kube.support.applying import Bench, bench, edit, install_widgets
from tests.kube.support.scripted_server import serving
from tests.kube.support.widgets import GROUP, WIDGET

Operations = list[dict[str, Any]]
Mutation = Callable[[Manifest], Operations]


def defaults(widget: Manifest) -> Operations:
    """Sets a field that no manager has set, and one inside each cell, which is an atomic value."""
    operations: Operations = [{"op": "add", "path": "/spec/labels/injected", "value": "yes"}]
    for number, cell in enumerate(widget["spec"].get("cells", [])):
        if "zone" not in cell:
            operations.append(
                {"op": "add", "path": f"/spec/cells/{number}/zone", "value": f"zone-of-{cell['name']}"}
            )
    return operations


def rewriting(widget: Manifest) -> Operations:
    """Changes a scalar that we own, as a webhook that mirrors images does."""
    text = widget["spec"].get("text", "")
    return (
        [] if text.startswith("mirror/") else [{"op": "add", "path": "/spec/text", "value": f"mirror/{text}"}]
    )


@asynccontextmanager
async def webhook(client: Client, namespace: str, directory: Path, mutate: Mutation) -> AsyncIterator[None]:
    async def answer(request: web.Request) -> web.StreamResponse:
        review = await request.json()
        patch = json.dumps(mutate(review["request"]["object"])).encode()
        response = {
            "uid": review["request"]["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(patch).decode(),
        }
        return web.json_response(
            {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
        )

    authority, context = certificates(directory)
    async with serving(answer, context) as server:
        await client.create(configuration(namespace, server.url, authority))
        try:
            yield
        finally:
            await client.delete(Ref(MUTATING_WEBHOOKS, Key("", namespace)))


def certificates(directory: Path) -> tuple[bytes, ssl.SSLContext]:
    name, validity = Subject("webhook", ("test",)), Validity(time.time() - 60, time.time() + 3600)
    authority = make_authority(name, validity)
    leaf = sign_leaf(authority, Profile(name, ip_addresses=("127.0.0.1",)), validity)
    file = directory / "server.pem"
    file.write_bytes(leaf.certificate + leaf.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    return authority.certificate, context


def configuration(namespace: str, url: str, authority: bytes) -> Manifest:
    return {
        "apiVersion": MUTATING_WEBHOOKS.api_version,
        "kind": MUTATING_WEBHOOKS.kind,
        "metadata": {"name": namespace},
        "webhooks": [
            {
                "name": "widgets.steward.test",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode()},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [
                    {
                        "apiGroups": [GROUP],
                        "apiVersions": ["v1"],
                        "resources": ["widgets"],
                        "operations": ["CREATE", "UPDATE"],
                    }
                ],
            }
        ],
    }


@pytest.fixture
async def applying(settings: ConnectionSettings, client: Client, namespace: str) -> AsyncIterator[Bench]:
    await install_widgets(client)
    async with bench(settings, namespace, WIDGET) as applying:
        yield applying


def widget(namespace: str) -> Manifest:
    manifest = manifest_of("Widget", namespace)
    manifest["spec"]["text"] = "image"
    return manifest


async def mutated(applying: Bench, client: Client, manifest: Manifest, mark: str) -> Manifest:
    """Applies until the API server calls the new webhook."""
    ref = ref_of(manifest)
    async with asyncio.timeout(120):
        while True:
            await client.apply(manifest, ApplyOptions(manager="steward-test"))
            live = await client.get(WIDGET, ref.key)
            if mark in json.dumps(live["spec"]):
                await applying.caught_up(manifest, live)
                return live
            await client.delete(ref)


@pytest.mark.parametrize(("mutate", "mark"), [(defaults, "zone-of-z1"), (rewriting, "mirror/")])
async def test_fields_that_a_webhook_writes_are_not_reverted(
    applying: Bench, client: Client, tmp_path: Path, mutate: Mutation, mark: str
) -> None:
    manifest = widget(applying.namespace)
    async with webhook(client, applying.namespace, tmp_path, mutate):
        before = await mutated(applying, client, manifest, mark)

        assert (await applying.apply(manifest)).outcome is ApplyOutcome.UNCHANGED
        assert await applying.requests_of(manifest) == []

        after = await client.get(WIDGET, ref_of(manifest).key)
        assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


@pytest.mark.parametrize(("mutate", "mark"), [(defaults, "zone-of-z1"), (rewriting, "mirror/")])
async def test_our_own_change_and_a_foreign_edit_still_go_through(
    applying: Bench, client: Client, tmp_path: Path, mutate: Mutation, mark: str
) -> None:
    manifest = widget(applying.namespace)
    async with webhook(client, applying.namespace, tmp_path, mutate):
        await mutated(applying, client, manifest, mark)
        await applying.apply(manifest)

        manifest["spec"]["cells"] = [{"name": "z9"}]
        manifest["spec"]["text"] = "other"
        assert (await applying.apply(manifest)).outcome is ApplyOutcome.CHANGED
        assert await applying.requests_of(manifest) == []

        live = await edit(
            client, manifest, {"op": "replace", "path": "/spec/cells/0/name", "value": "edited"}
        )
        await applying.caught_up(manifest, live)
        assert await applying.requests_of(manifest) == ["PATCH 200"]
        assert (await client.get(WIDGET, ref_of(manifest).key))["spec"]["cells"][0]["name"] == "z9"
