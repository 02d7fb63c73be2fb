"""Carries out actions with the reader's rights: which are allowed, what one would change, and doing it."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import yaml
from msgspec.structs import replace

from steward.cli.update_requests import UpdateRequest, read_refusal
from steward.kube.client.client import Access, Client
from steward.kube.objects.kinds import Manifest
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from steward.page.models.action import Action

FIELD_MANAGER: Final = "steward-page"
_HIDDEN_METADATA: Final = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


async def allowed_actions(client: Client, actions: Iterable[Action]) -> list[Action]:
    """Those that RBAC allows the reader. Most rights are for all names: one review then answers for a whole kind."""
    found = list(actions)
    accesses = [await _access(client, action) for action in found]
    of_all_names = {replace(each, name="") for each in accesses}
    allowed = await _allowed(client, of_all_names)
    by_name = {each for each in accesses if replace(each, name="") not in allowed}
    allowed |= await _allowed(client, by_name - of_all_names)
    return [
        action
        for action, access in zip(found, accesses, strict=True)
        if access in allowed or replace(access, name="") in allowed
    ]


async def _allowed(client: Client, accesses: Iterable[Access]) -> set[Access]:
    asked = list(accesses)
    answers = await asyncio.gather(*map(client.review_access, asked))
    return {access for access, answer in zip(asked, answers, strict=True) if answer.allowed}


async def _access(client: Client, action: Action) -> Access:
    kind, key = action.written_kind, action.ref.key
    resource = await client.discovery.resource(kind)
    name = key.name if action.patch is not None else ""
    return Access(
        verb=action.verb, group=kind.group, resource=resource.plural, namespace=key.namespace, name=name
    )


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
