"""The view of a MultigresCluster: servers by cell and shard, endpoint, volumes, backups, waiting updates. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from steward.cli.commands.backups import BACKUP
from steward.cli.commands.updates import message_with_cure
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.byte_sizes import format_bytes
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.primary_switchover import shard_label
from steward.cli.template_updates import TemplateContents, TemplateState, template_state
from steward.cli.volume_claims import ClusterObjects, claim_dict, kept_lines, volume_claims
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.multigres.cache_rules import CLUSTER, SHARD
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.rollout.node_drain import READY
from steward.multigres.template_updates.history import diff_lines, revision_history
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision, read_revision
from steward.multigres.views import RevisionView
from steward.page.inventory.inventory import CLUSTER_TEMPLATES
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.certificates import certificate_lines
from steward.page.models.now import tree_sentence
from steward.page.models.structs import Model, ObjectLink, condition_lines, cure_command, object_link
from steward.page.models.timeline import timeline
from steward.page.models.trail import tenant_trail
from steward.page.models.tree import tree_parts


class Server(Model, frozen=True):
    """One square of the grid."""

    pod: str
    state: str
    role: str
    pool: str
    lag: str
    health: str
    age: str


class GridRow(Model, frozen=True):
    """The servers of a shard by cell, in the order of the columns."""

    shard: str
    health: str
    message: str
    cells: list[list[Server]]


class Grid(Model, frozen=True):
    cells: list[str]
    rows: list[GridRow]


class ShardBackups(Model, frozen=True):
    shard: str
    count: int
    last: str
    last_age: str
    next: str
    verified: str
    error: str
    size: str


class BackupLine(Model, frozen=True):
    name: str
    phase: str
    type: str
    completed: str
    message: str


class UpdateDiff(Model, frozen=True):
    template: str
    lines: list[str]


class UpdateState(Model, frozen=True):
    is_waiting: bool
    message: str
    command: str
    diffs: list[UpdateDiff]
    revisions: list[dict[str, Any]]


class ClusterHead(Model, frozen=True):
    object: ObjectLink
    health: str
    text: str
    command: str
    phase: str
    paused: bool
    hibernated: bool
    endpoint: str
    external_endpoint: str
    connection_secret: str
    services: list[str]
    trail: list[ObjectLink]


def cluster_sections(snapshot: Snapshot, key: Key) -> dict[str, Any] | None:
    node, cluster = snapshot.node(CLUSTER, key), snapshot.manifest(CLUSTER, key)
    if node is None or cluster is None:
        return None
    found = (each for each in snapshot.inventory.manifests(SHARD, key.namespace) if _is_of(each, key.name))
    shards = sorted(found, key=shard_label)
    own = {
        "head": _head(node, cluster, snapshot),
        "conditions": condition_lines(cluster.get("status") or {}, snapshot.now),
        "timeline": timeline(node, snapshot.events(key.namespace), [cluster, *shards], snapshot.now),
    }
    # A view without parts is incomplete; one with a few of them would be wrong: "no backup yet".
    return own if snapshot.is_reading else own | _part_sections(snapshot, node, cluster, shards)


def _part_sections(
    snapshot: Snapshot, node: TreeNode, cluster: Manifest, shards: list[Manifest]
) -> dict[str, Any]:
    key = node.object.ref.key
    return {
        "grid": _grid(cluster, shards, snapshot.now),
        "parts": tree_parts(node),
        "volumes": _volumes(snapshot, key),
        "backups": _backups(snapshot, key, shards),
        "certificates": certificate_lines(cluster, shards, snapshot.now),
        "updates": _updates(snapshot, cluster),
    }


def _is_of(manifest: Manifest, cluster: str) -> bool:
    return (manifest["metadata"].get("labels") or {}).get(CLUSTER_LABEL) == cluster


def _head(node: TreeNode, cluster: Manifest, snapshot: Snapshot) -> ClusterHead:
    spec, status = cluster.get("spec") or {}, cluster.get("status") or {}
    sentence = tree_sentence(node, snapshot)
    services = (status.get(name) for name in ("gatewayServiceName", "clientService"))
    return ClusterHead(
        sentence.object,
        sentence.health,
        sentence.text,
        sentence.command,
        str(status.get("phase", "")),
        bool(spec.get("paused")),
        bool(spec.get("hibernation")),
        str(status.get("endpoint", "")),
        str(status.get("externalEndpoint", "")),
        str(status.get("connectionSecret", "")),
        [str(name) for name in services if name],
        _trail(snapshot, sentence.object),
    )


def _trail(snapshot: Snapshot, cluster: ObjectLink) -> list[ObjectLink]:
    """The Tenant that made the cluster, if one did, and its registry."""
    parent = snapshot.forest.cluster_parents.get(Key(cluster.namespace, cluster.name))
    return [] if parent is None else [*tenant_trail(snapshot, parent), object_link(parent)]


def _grid(cluster: Manifest, shards: list[Manifest], now: float) -> Grid:
    names = set((cluster.get("status") or {}).get("cells") or ())
    names |= {str(each.get("cell", "")) for shard in shards for each in _servers(shard)}
    cells = sorted(names)
    return Grid(cells, [_grid_row(shard, cells, now) for shard in shards])


def _servers(shard: Manifest) -> list[dict[str, Any]]:
    return list((shard.get("status") or {}).get("servers") or ())


def _grid_row(shard: Manifest, cells: list[str], now: float) -> GridRow:
    servers = _servers(shard)
    status = shard.get("status") or {}
    is_ready = all(each.get("state") == READY for each in servers) and bool(status.get("primary"))
    by_cell = [[_server(each, now) for each in servers if each.get("cell", "") == cell] for cell in cells]
    return GridRow(
        shard_label(shard), "ready" if is_ready else "waiting", str(status.get("message", "")), by_cell
    )


def _server(server: dict[str, Any], now: float) -> Server:
    state = str(server.get("state", ""))
    return Server(
        str(server.get("pod", "")),
        state,
        str(server.get("role", "")),
        str(server.get("pool", "")),
        str(server.get("lag", "")),
        _server_health(state),
        format_age(str(server.get("since", "")), now),
    )


def _server_health(state: str) -> str:
    if state == READY:
        return "ready"
    return "failed" if state in ("Down", "Quarantined", "Missing", "Unregistered") else "waiting"


def _volumes(snapshot: Snapshot, key: Key) -> dict[str, Any]:
    def listed(kind: Kind) -> list[Manifest]:
        found = snapshot.inventory.manifests(kind, key.namespace)
        return [each for each in found if kind == CLUSTER or _is_of(each, key.name)]

    objects = ClusterObjects(
        *map(listed, (kinds.PERSISTENT_VOLUME_CLAIM, kinds.POD, kinds.STATEFUL_SET, CLUSTER))
    )
    claims = volume_claims(objects)
    return {"claims": [claim_dict(claim) for claim in claims], "kept": kept_lines(claims)}


def _backups(snapshot: Snapshot, key: Key, shards: Iterable[Manifest]) -> dict[str, Any]:
    requested = (
        each
        for each in snapshot.inventory.manifests(BACKUP, key.namespace)
        if each["spec"]["cluster"] == key.name
    )
    ordered = sorted(requested, key=lambda each: each["metadata"]["creationTimestamp"], reverse=True)
    return {
        "shards": [_shard_backups(shard, snapshot.now) for shard in shards],
        "requested": [_backup_line(each) for each in ordered[:20]],
    }


def _shard_backups(shard: Manifest, now: float) -> ShardBackups:
    backup = (shard.get("status") or {}).get("backup") or {}
    last = str(backup.get("lastBackupAt", ""))
    return ShardBackups(
        shard_label(shard),
        int(backup.get("backups") or 0),
        last,
        format_age(last, now),
        str(backup.get("nextBackupAt", "")),
        format_age(str(backup.get("verifiedAt", "")), now),
        str(backup.get("verificationError", "")),
        format_bytes(backup.get("repositoryBytes")),
    )


def _backup_line(backup: Manifest) -> BackupLine:
    spec, status = backup["spec"], backup.get("status") or {}
    return BackupLine(
        backup["metadata"]["name"],
        str(status.get("phase", "Pending")),
        str(status.get("type") or spec.get("type", "full")),
        str(status.get("stoppedAt", "")),
        str(status.get("message", "")),
    )


def _updates(snapshot: Snapshot, cluster: Manifest) -> UpdateState:
    state = cluster_template_state(snapshot, cluster)
    message = message_with_cure(state) if state.message else ""
    return UpdateState(
        state.is_waiting,
        message,
        cure_command(message) if state.is_waiting else "",
        [UpdateDiff(str(change.template), diff_lines(change)) for change in state.changes],
        [
            {
                "name": each.revision.name,
                "template": str(each.revision.template),
                "generation": each.revision.content.generation,
                "isActive": each.is_active,
            }
            for each in revision_history(state.revisions)
        ],
    )


def cluster_template_state(snapshot: Snapshot, cluster: Manifest) -> TemplateState:
    namespace = cluster["metadata"]["namespace"]
    live = {
        TemplateKey(kind.kind, each["metadata"]["name"]): TemplateContent(
            each["metadata"]["uid"], each["metadata"]["generation"], each.get("spec") or {}
        )
        for kind in CLUSTER_TEMPLATES
        for each in snapshot.inventory.manifests(kind, namespace)
    }
    stored: dict[str, list[TemplateRevision]] = {}
    for owner, revision in _revisions(snapshot, namespace):
        stored.setdefault(owner, []).append(revision)
    return template_state(cluster, TemplateContents({namespace: live}, stored))


def _revisions(snapshot: Snapshot, namespace: str) -> Iterator[tuple[str, TemplateRevision]]:
    for body in snapshot.inventory.bodies(kinds.CONTROLLER_REVISION, namespace):
        view = msgspec.json.decode(body, type=RevisionView)
        for owner in view.metadata.owner_references:
            yield owner.uid, read_revision(view)
