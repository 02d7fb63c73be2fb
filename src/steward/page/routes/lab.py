"""The lab: pasted manifests and rows are checked, rendered and compared; templates of the cluster can be loaded."""

from __future__ import annotations

import asyncio
from typing import Final

import yaml
from aiohttp import web

from steward.kube.objects.kinds import Key, Manifest
from steward.page.access.sessions import Session
from steward.page.inventory.inventory import REGISTRY, TEMPLATE
from steward.page.inventory.snapshot import Snapshot
from steward.page.live.lab_preview import preview
from steward.page.models.lab import LabInput
from steward.page.routes.context import PageContext
from steward.page.routes.login import read_json
from steward.page.routes.responses import Refused, json_response

# Rendering keeps a core busy: readers wait for each other, not the streams for them.
_ONE_AT_A_TIME: Final = asyncio.Semaphore(1)


async def try_manifests(request: web.BaseRequest, session: Session) -> web.Response:
    given = await read_json(request, LabInput)
    async with _ONE_AT_A_TIME:
        return json_response(await preview(session.client, given))


async def list_templates(session: Session, context: PageContext) -> web.Response:
    async with context.pool.use(session.workspace_key, session.client) as (workspace, _):
        await workspace.wait_first_snapshot()
        found = workspace.snapshot.inventory.manifests(TEMPLATE)
        names = sorted(f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in found)
        return json_response(names)


async def load_template(request: web.BaseRequest, session: Session, context: PageContext) -> web.Response:
    namespace, _, name = request.query.get("name", "").partition("/")
    async with context.pool.use(session.workspace_key, session.client) as (workspace, _):
        await workspace.wait_first_snapshot()
        text = template_text(workspace.snapshot, Key(namespace, name))
    if not text:
        raise Refused(404, "there is no such template")
    return json_response({"text": text})


def template_text(snapshot: Snapshot, key: Key) -> str:
    """The template and its registry as a user would write them; "" if there is no such template. Pure."""
    template = snapshot.manifest(TEMPLATE, key)
    if template is None:
        return ""
    registry = snapshot.manifest(REGISTRY, Key(key.namespace, str(template["spec"].get("registryId", ""))))
    documents = [_written(each) for each in (template, registry) if each is not None]
    return yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True, width=100)


def _written(manifest: Manifest) -> Manifest:
    meta = manifest["metadata"]
    named = {name: meta[name] for name in ("name", "namespace") if name in meta}
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": named,
        "spec": manifest.get("spec") or {},
    }
