"""What the rendered objects of the lab would change: each beside the live object, read with the reader's rights."""

from __future__ import annotations

import asyncio

import yaml

from steward.kube.client.client import Client
from steward.kube.errors import KubeError, NotFound, Unauthorized
from steward.kube.objects.kinds import SECRET, Key, Manifest, Ref, ref_of
from steward.page.live.comparison import compare
from steward.page.models.lab import LabFinding, LabInput, LabResult, try_out
from steward.page.models.structs import Model

DEFAULT_NAMESPACE = "default"


class LabObject(Model, frozen=True):
    """`change` is new, changed, same, or why it is not known."""

    kind: str
    namespace: str
    name: str
    text: str
    change: str
    diff: list[str]


class LabPreview(Model, frozen=True):
    findings: list[LabFinding]
    objects: list[LabObject]
    rejected: list[str]
    error: str


async def preview(client: Client, given: LabInput) -> LabPreview:
    """The rendering runs in a thread: a template may take a tenth of a second for each row."""
    result: LabResult = await asyncio.to_thread(try_out, given)
    objects = await asyncio.gather(*(_preview_object(client, each) for each in result.objects))
    return LabPreview(result.findings, list(objects), result.rejected, result.error)


async def _preview_object(client: Client, rendered: Manifest) -> LabObject:
    ref = ref_of(rendered)
    change, diff = await _change(client, ref, rendered)
    text = yaml.safe_dump(rendered, sort_keys=False, allow_unicode=True, width=100)
    return LabObject(ref.kind.kind, ref.key.namespace, ref.key.name, text, change, diff)


async def _change(client: Client, ref: Ref, rendered: Manifest) -> tuple[str, list[str]]:
    if ref.kind == SECRET:
        return "Secrets are not compared", []
    try:
        resource = await client.discovery.resource(ref.kind)
        namespace = (ref.key.namespace or DEFAULT_NAMESPACE) if resource.namespaced else ""
        live = await client.get(ref.kind, Key(namespace, ref.key.name))
    except NotFound:
        return "new", []
    except Unauthorized:
        raise
    except KubeError as error:
        return str(error), []
    found = compare(rendered, live)
    return ("changed" if found.diff else "same"), found.diff
