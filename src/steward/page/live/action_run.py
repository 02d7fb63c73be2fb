"""Carries out actions with the reader's rights: which are allowed, what one would change, and doing it."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml

from steward.cli.update_requests import UpdateRequest, read_refusal
from steward.kube.client.client import Access, Client
from steward.kube.objects.kinds import Manifest
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.page.models.actions import Action

FIELD_MANAGER: Final = "steward-page"
_HIDDEN_METADATA: Final = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


async def allowed_actions(client: Client, actions: Iterable[Action]) -> list[Action]:
    """Those that RBAC allows the reader."""
    found = list(actions)
    answers = await asyncio.gather(*(_is_allowed(client, action) for action in found))
    return [action for action, is_allowed in zip(found, answers, strict=True) if is_allowed]


async def _is_allowed(client: Client, action: Action) -> bool:
    kind, key = action.written_kind, action.ref.key
    resource = await client.discovery.resource(kind)
    name = key.name if action.patch is not None else ""
    access = Access(
        verb=action.verb, group=kind.group, resource=resource.plural, namespace=key.namespace, name=name
    )
    return (await client.review_access(access)).allowed


async def refusal(client: Client, action: Action) -> str:
    """Why the operator would refuse an update of a template; "" for other actions."""
    annotations = {} if action.patch is None else (action.patch.changes["metadata"].get("annotations") or {})
    for name in (APPLY_NOW, ROLL_BACK):
        if name in annotations:
            return await read_refusal(client, UpdateRequest(action.ref, name, annotations[name]))
    return ""


async def preview_action(client: Client, action: Action) -> list[str]:
    """What would change, by dry runs on the API server, as lines of a diff."""
    if action.patch is None:
        created = [await client.create(each, manager=FIELD_MANAGER, dry_run=True) for each in action.creates]
        return [line for body in created for line in _diff({}, msgspec.json.decode(body))]
    before = await client.get(*action.ref)
    after = await client.patch(action.ref, action.patch, manager=FIELD_MANAGER, dry_run=True)
    return _diff(before, msgspec.json.decode(after))


async def perform_action(client: Client, action: Action) -> None:
    if action.patch is not None:
        await client.patch(action.ref, action.patch, manager=FIELD_MANAGER)
    for manifest in action.creates:
        await client.create(manifest, manager=FIELD_MANAGER)


def _diff(before: Manifest, after: Manifest) -> list[str]:
    """Pure."""
    old, new = (_written(each) if each else [] for each in (before, after))
    return list(difflib.unified_diff(old, new, "now", "then", lineterm="", n=1))


def _written(manifest: Manifest) -> list[str]:
    meta: dict[str, Any] = manifest.get("metadata") or {}
    kept = {name: value for name, value in meta.items() if name not in _HIDDEN_METADATA}
    shown = {**manifest, "metadata": kept}
    shown.pop("status", None)
    return yaml.safe_dump(shown, sort_keys=True, allow_unicode=True, width=100).splitlines()
