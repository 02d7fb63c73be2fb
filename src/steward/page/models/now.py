"""The view Now: the sentences of `steward status`, problems first, and what waits for a user. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from steward.cli.commands.hold import describe_cure, held_deletion
from steward.cli.commands.status import kept_claims_line, status_lines
from steward.cli.hints import cluster_flags, command_line
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.forgotten_claims import forgotten_claims
from steward.cli.inspect.object_health import Health, condition
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.render import UPDATE_WAITS
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Key, Manifest, Ref, ref_of
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.status.conditions import BACKUP_HEALTHY
from steward.page.inventory.inventory import REGISTRY, TEMPLATE, TENANT
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.addresses import registry_address
from steward.page.models.structs import (
    Model,
    Note,
    ObjectLink,
    Sentence,
    cure_command,
    node_sentence,
    object_link,
)

SHOWN_SENTENCES: Final = 200
_MARK_WIDTH: Final = 2


class HealthCount(Model, frozen=True):
    """Objects of one kind by health."""

    kind: str
    failed: int
    waiting: int
    ready: int


class Waiting(Model, frozen=True):
    """Something that waits for a user: a held deletion, an update, a rejected row or a stale backup."""

    object: ObjectLink
    text: str
    command: str = ""
    names: tuple[ObjectLink, ...] = ()
    more_names: int = 0
    """How many Tenants a held deletion has besides those that are named."""


class RolloutBar(Model, frozen=True):
    """How far the latest change of a template is. `held_back` waits for a slot of maxSkew."""

    object: ObjectLink
    phase: str
    message: str
    total: int
    done: int
    updating: int
    held_back: int
    max_skew: int


class Sentences(Model, frozen=True):
    shown: list[Sentence]
    more: int


def now_sections(snapshot: Snapshot) -> dict[str, Any]:
    templates = list(snapshot.inventory.manifests(TEMPLATE))
    registries = list(snapshot.inventory.manifests(REGISTRY))
    clusters = list(snapshot.inventory.manifests(CLUSTER))
    return {
        "counts": health_counts(snapshot),
        "problems": list(snapshot.problems),
        "sentences": sentences(snapshot),
        "holds": [line for each in (*registries, *templates) if (line := hold_line(each))],
        "updates": list(_update_lines(snapshot, clusters)),
        "rejected": [line for each in registries for line in rejected_lines(each)],
        "rollouts": [
            bar for each in templates if (bar := rollout_bar(each)).phase in ("InProgress", "Failed")
        ],
        "claims": _forgotten_claims(snapshot, clusters),
        "backups": [line for each in clusters if (line := stale_backup(each, snapshot.now))],
    }


def health_counts(snapshot: Snapshot) -> list[HealthCount]:
    counts = Counter({("Tenant", health): count for health, count in _tenant_counts(snapshot).items()})
    counts.update((node.object.ref.kind.kind, node.worst_health) for node in snapshot.trees)
    kinds = ("MultigresCluster", "TenantRegistry", "TenantTemplate", "Tenant")
    return [HealthCount(kind, *(counts[kind, health] for health in Health)) for kind in kinds]


def _tenant_counts(snapshot: Snapshot) -> Counter[Health]:
    """Until all Tenants have been read, as their registries count them."""
    if not snapshot.is_reading:
        return Counter(snapshot.forest.tenant_health.values())
    return sum(map(reported_counts, snapshot.inventory.manifests(REGISTRY)), Counter[Health]())


def reported_counts(registry: Manifest) -> Counter[Health]:
    """The Tenants of a registry by health, as its status has them."""
    status = registry.get("status") or {}
    desired, ready, failed = (int(status.get(name) or 0) for name in ("desired", "ready", "failed"))
    waiting = max(0, desired - ready - failed)
    return Counter({Health.FAILED: failed, Health.WAITING: waiting, Health.READY: ready})


def sentences(snapshot: Snapshot) -> Sentences:
    ordered = sorted(snapshot.trees, key=lambda node: node.worst_health)
    shown = [_with_notes(tree_sentence(node, snapshot), node, snapshot) for node in ordered[:SHOWN_SENTENCES]]
    return Sentences(shown, max(0, len(ordered) - SHOWN_SENTENCES))


def _with_notes(sentence: Sentence, node: TreeNode, snapshot: Snapshot) -> Sentence:
    """The further lines of `steward status`. Updates are left out: they have a list of their own."""
    _, *further = status_lines(node, snapshot.now, cluster_flags())
    texts = (line.text.strip()[_MARK_WIDTH:] for line in further if UPDATE_WAITS not in line.text)
    return replace(sentence, notes=tuple(Note(text, cure_command(text)) for text in texts))


def tree_sentence(node: TreeNode, snapshot: Snapshot) -> Sentence:
    """The first line of `steward status` about a node, without its mark."""
    line = next(iter(status_lines(node, snapshot.now, cluster_flags())))
    return node_sentence(node, line.text[_MARK_WIDTH:], _template_address(node, snapshot))


def _template_address(node: TreeNode, snapshot: Snapshot) -> str:
    """A template is shown with its registry."""
    ref = node.object.ref
    found = snapshot.manifest(TEMPLATE, ref.key) if ref.kind == TEMPLATE else None
    return "" if found is None else template_address(found)


def template_address(template: Manifest) -> str:
    meta = template["metadata"]
    registry = str(template["spec"].get("registryId", ""))
    return registry_address(Key(meta["namespace"], registry), template=meta["name"])


def _link(manifest: Manifest) -> ObjectLink:
    href = template_address(manifest) if manifest["kind"] == TEMPLATE.kind else ""
    return object_link(ref_of(manifest), href)


def hold_line(manifest: Manifest) -> Waiting | None:
    held = held_deletion(manifest)
    if held is None:
        return None
    namespace = held.ref.key.namespace
    names = tuple(
        object_link(Ref(TENANT, Key(namespace, str(name)))) for name in held.deletion.get("sample", ())
    )
    more = max(0, int(held.deletion.get("count") or 0) - len(names))
    return Waiting(_link(manifest), held.message, cure_command(describe_cure(held)), names, more)


def _update_lines(snapshot: Snapshot, clusters: list[Manifest]) -> Iterator[Waiting]:
    for cluster in clusters:
        key = Key(cluster["metadata"]["namespace"], cluster["metadata"]["name"])
        node = snapshot.node(CLUSTER, key)
        if node is not None and node.object.has_pending_update:
            show_it = command_line("updates", "show", key.name, namespace=key.namespace)
            yield Waiting(_link(cluster), UPDATE_WAITS, show_it)


def _forgotten_claims(snapshot: Snapshot, clusters: list[Manifest]) -> list[Waiting]:
    """Volume claims of clusters that are gone. A reader who cannot see a cluster must not read that it is gone."""
    if snapshot.is_reading or not snapshot.are_clusters_known:
        return []
    keys = [ref_of(each).key for each in clusters]
    found = forgotten_claims(snapshot.inventory.manifests(PERSISTENT_VOLUME_CLAIM), keys)
    return [_claims_line(cluster, count) for cluster, count in sorted(found.items())]


def _claims_line(cluster: Key, count: int) -> Waiting:
    text = kept_claims_line(count, cluster, is_gone=True).strip()[_MARK_WIDTH:]
    return Waiting(ObjectLink(CLUSTER.kind, *cluster), text, cure_command(text))


def rejected_lines(registry: Manifest) -> list[Waiting]:
    rejected = (registry.get("status") or {}).get("rejected") or ()
    command = rows_command(registry)
    return [Waiting(_link(registry), f"row {each['uid']!r}: {each['reason']}", command) for each in rejected]


def rows_command(registry: Manifest) -> str:
    """The command that lists all rows of a registry."""
    return command_line("rows", registry["metadata"]["name"], namespace=registry["metadata"]["namespace"])


def rollout_bar(template: Manifest) -> RolloutBar:
    rollout = (template.get("status") or {}).get("rollout") or {}
    total, updated, updating = (
        int(rollout.get(name) or 0) for name in ("totalNodes", "updatedNodes", "updatingNodes")
    )
    return RolloutBar(
        _link(template),
        str(rollout.get("phase", "Idle")),
        str(rollout.get("message", "")),
        total,
        updated - updating,
        updating,
        max(0, total - updated),
        int((template["spec"].get("rollout") or {}).get("maxSkew") or 0),
    )


def stale_backup(cluster: Manifest, now: float) -> Waiting | None:
    found = condition(cluster, BACKUP_HEALTHY)
    if found is None or found.get("status") != "False":
        return None
    age = format_age(str(found.get("lastTransitionTime", "")), now)
    meta = cluster["metadata"]
    again = command_line("backup", meta["name"], namespace=meta["namespace"])
    return Waiting(_link(cluster), f"{found.get('message', '')} ({age})", again)
