"""Actions on a registry, its templates and a Tenant. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from steward.cli.commands.hold import APPROVAL_ANNOTATION, HeldDeletion, describe_cure, held_deletion
from steward.cli.hints import command_line
from steward.cli.operations.outcome import RequestError
from steward.cli.operations.sync_requests import GUARD_NOTE, request_value, sync_patch
from steward.kube.objects.kinds import Key, Manifest, Ref, ref_of
from steward.kube.objects.patches import MergePatch
from steward.page.inventory.inventory import REGISTRY, TEMPLATE, TENANT
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.action import Action, pause_action
from steward.page.models.structs import cure_command


def registry_actions(snapshot: Snapshot, key: Key, now: datetime) -> Iterator[Action]:
    registry = snapshot.manifest(REGISTRY, key)
    if registry is None:
        return
    yield from _object_actions(registry)
    yield from _sync(registry, now)
    for template in snapshot.inventory.manifests(TEMPLATE, key.namespace):
        if template["spec"].get("registryId") == key.name:
            yield from _object_actions(template, about=template["metadata"]["name"])


def _object_actions(manifest: Manifest, about: str = "") -> Iterator[Action]:
    held = held_deletion(manifest)
    if held is not None and held.approve_with:
        yield _approval(held, about)
    yield pause_action(ref_of(manifest), manifest, about=about)


def _approval(held: HeldDeletion, about: str) -> Action:
    annotations = {APPROVAL_ANNOTATION: held.approve_with}
    kind, name = held.ref.kind.kind, held.ref.key.name
    return Action(
        f"approve {kind}/{name}",
        f"Approve the deletion of {held.deletion.get('count', 0)} Tenants of {kind} {name}",
        held.message,
        cure_command(describe_cure(held)),
        held.ref,
        MergePatch.metadata_at_version(held.version, annotations=annotations),
        short="Approve the deletion",
        about=about,
        typed=name,
    )


def _sync(registry: Manifest, now: datetime) -> Iterator[Action]:
    """Not offered while the operator would not read the table."""
    ref, value = ref_of(registry), request_value(now)
    try:
        patch = sync_patch(ref, registry, value)
    except RequestError:
        return
    yield Action(
        "sync",
        "Sync now",
        f"The table is read at once. {GUARD_NOTE}.",
        command_line("sync", ref.key.name, namespace=ref.key.namespace),
        ref,
        patch,
        moment=value,
    )


def tenant_actions(snapshot: Snapshot, key: Key) -> Iterator[Action]:
    facts = snapshot.inventory.tenants.get(key)
    if facts is not None:
        found = {"metadata": {"resourceVersion": facts.version}, "spec": {"paused": facts.is_paused}}
        yield pause_action(Ref(TENANT, key), found)
