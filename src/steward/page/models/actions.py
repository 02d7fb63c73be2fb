"""The actions that an object offers now: what each writes, and the command that does the same. Pure.

An action is bound to what the reader saw: its digest names what it writes, and a reader who confirms sends it back. The
patch names the version of the object, so that it cannot overtake another change.
Nothing here is offered that the operators have no request for, such as a read of the table at once.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from steward.cli.commands.backup import Request, backup_manifests
from steward.cli.commands.backups import BACKUP
from steward.cli.commands.hold import APPROVAL_ANNOTATION, HeldDeletion, describe_cure, held_deletion
from steward.cli.hints import command_line
from steward.cli.primary_switchover import SwitchError, observed_primary, shard_label
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import CLUSTER, SHARD
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.rollout.node_drain import SWITCH_FROM
from steward.multigres.template_updates.history import accept_patch, revision_history, rollback_patch
from steward.page.inventory.inventory import REGISTRY, TEMPLATE, TENANT
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.addresses import ViewAddress, ViewKind
from steward.page.models.cluster import cluster_template_state
from steward.page.models.structs import cure_command


class Action(NamedTuple):
    """`typed` is what the reader must type before it is done, "" for nothing; `creates` are whole objects."""

    id: str
    label: str
    text: str
    command: str
    ref: Ref
    patch: MergePatch | None = None
    creates: tuple[Manifest, ...] = ()
    typed: str = ""

    @property
    def written_kind(self) -> Kind:
        return self.ref.kind if self.patch is not None else BACKUP

    @property
    def verb(self) -> str:
        return "patch" if self.patch is not None else "create"

    @property
    def digest(self) -> str:
        """Without the version: a status that is written meanwhile does not change what the reader agreed to."""
        changes = {} if self.patch is None else self.patch.changes
        annotations = (changes.get("metadata") or {}).get("annotations")
        written = [self.id, annotations, changes.get("spec"), [each["spec"] for each in self.creates]]
        return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()[:24]


def available_actions(snapshot: Snapshot, address: ViewAddress, now: datetime) -> list[Action]:
    match address.kind:
        case ViewKind.CLUSTER:
            found = snapshot.manifest(CLUSTER, address.key)
            return [] if found is None else list(_cluster_actions(snapshot, found, now))
        case ViewKind.REGISTRY:
            return list(_registry_actions(snapshot, address.key))
        case ViewKind.TENANT:
            return list(_tenant_actions(snapshot, address.key))
        case _:
            return []


def _registry_actions(snapshot: Snapshot, key: Key) -> Iterator[Action]:
    registry = snapshot.manifest(REGISTRY, key)
    if registry is None:
        return
    templates = snapshot.inventory.manifests(TEMPLATE, key.namespace)
    shown = [each for each in templates if each["spec"].get("registryId") == key.name]
    for manifest in (registry, *shown):
        held = held_deletion(manifest)
        if held is not None and held.approve_with:
            yield _approval(held)
        yield _pause(
            ref_of(manifest), manifest["metadata"]["resourceVersion"], is_paused=_is_paused(manifest)
        )


def _approval(held: HeldDeletion) -> Action:
    annotations = {APPROVAL_ANNOTATION: held.approve_with}
    return Action(
        f"approve {held.ref.kind.kind}/{held.ref.key.name}",
        "Approve the deletion",
        held.message,
        cure_command(describe_cure(held)),
        held.ref,
        MergePatch.metadata_at_version(held.version, annotations=annotations),
        typed=held.ref.key.name,
    )


def _is_paused(manifest: Manifest) -> bool:
    return bool((manifest.get("spec") or {}).get("paused"))


def _pause(ref: Ref, version: str, *, is_paused: bool) -> Action:
    spec = {"paused": None if is_paused else True}
    change = shlex.quote(json.dumps({"spec": spec}, separators=(",", ":")))
    kind, name = ref.kind.kind, ref.key.name
    word = "Resume" if is_paused else "Pause"
    return Action(
        f"{word.lower()} {kind}/{name}",
        f"{word} {kind} {name}",
        "What waited is applied again." if is_paused else "Nothing of it is changed until it is resumed.",
        f"kubectl patch {kind.lower()} {name} -n {ref.key.namespace} --type merge -p {change}",
        ref,
        MergePatch({"metadata": {"resourceVersion": version}, "spec": spec}),
    )


def _tenant_actions(snapshot: Snapshot, key: Key) -> Iterator[Action]:
    facts = snapshot.inventory.tenants.get(key)
    if facts is not None:
        yield _pause(Ref(TENANT, key), facts.version, is_paused=facts.is_paused)


def _cluster_actions(snapshot: Snapshot, cluster: Manifest, now: datetime) -> Iterator[Action]:
    ref, version = ref_of(cluster), cluster["metadata"]["resourceVersion"]
    yield from _update_actions(snapshot, cluster)
    yield _pause(ref, version, is_paused=_is_paused(cluster))
    shards = [
        each
        for each in snapshot.inventory.manifests(SHARD, ref.key.namespace)
        if (each["metadata"].get("labels") or {}).get(CLUSTER_LABEL) == ref.key.name
    ]
    for shard in sorted(shards, key=shard_label):
        yield from _switch(shard, ref)
    if shards:
        yield _backup(ref, shards, now)


def _update_actions(snapshot: Snapshot, cluster: Manifest) -> Iterator[Action]:
    state = cluster_template_state(snapshot, cluster)
    name, namespace = state.ref.key.name, state.ref.key.namespace
    if state.is_waiting:
        apply_it = command_line("updates", "apply", name, namespace=namespace)
        yield Action(
            "apply-update",
            "Apply the update",
            state.message,
            apply_it,
            state.ref,
            accept_patch(state.version),
        )
    for entry in revision_history(state.revisions):
        if not entry.is_active:
            revision = entry.revision
            yield Action(
                f"rollback {revision.name}",
                f"Roll back to {revision.template} generation {revision.content.generation}",
                "It stays active until the template changes or is applied again.",
                command_line("updates", "rollback", name, revision.name, namespace=namespace),
                state.ref,
                rollback_patch(state.version, revision.name),
            )


def _switch(shard: Manifest, cluster: Ref) -> Iterator[Action]:
    """Not offered if no other server can take over."""
    try:
        primary = observed_primary(shard)
    except SwitchError:
        return
    label = shard_label(shard)
    yield Action(
        f"switch {label}",
        f"Switch the primary of {label}",
        f"{primary} is the primary now; writes fail for a moment while another server takes over.",
        command_line("switchover", cluster.key.name, "--shard", label, namespace=cluster.key.namespace),
        ref_of(shard),
        MergePatch.metadata_at_version(
            shard["metadata"]["resourceVersion"], annotations={SWITCH_FROM: primary}
        ),
    )


def _backup(cluster: Ref, shards: list[Manifest], now: datetime) -> Action:
    name, namespace = cluster.key.name, cluster.key.namespace
    specs = [each["spec"] for each in shards]
    paths = [
        ShardPath(name, each["databaseName"], each["tableGroupName"], each["shardName"]) for each in specs
    ]
    return Action(
        "backup",
        "Back up now",
        f"A full backup of {len(paths)} shard{'s' * (len(paths) != 1)}.",
        command_line("backup", name, namespace=namespace),
        cluster,
        creates=tuple(backup_manifests(Request(name, namespace, "full", ""), sorted(paths), now)),
    )


def action_dict(action: Action) -> dict[str, Any]:
    return {
        "id": action.id,
        "label": action.label,
        "text": action.text,
        "command": action.command,
        "typed": action.typed,
        "digest": action.digest,
    }
