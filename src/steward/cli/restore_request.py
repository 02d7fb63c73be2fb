"""A cluster that `steward restore` is to create: its manifest, and what the API server has that concerns it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from steward.cli.files import UnreadableFile, read_documents
from steward.cli.main import expected_errors
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, NotFound
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, SECRET, Key, Kind, Manifest
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ListQuery
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.backups.restore import RestoreFacts
from steward.multigres.backups.restore_facts import password_secret, repository_users, restored_shards
from steward.multigres.cache_rules import (
    BACKUP,
    CELL_TEMPLATE,
    CLUSTER,
    CORE_TEMPLATE,
    MANAGED_SELECTOR,
    SHARD_TEMPLATE,
)
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate
from steward.multigres.views import ClusterView, MultigresBackupView

TEMPLATE_SPECS: dict[Kind, type[Any]] = {
    CORE_TEMPLATE: CoreTemplateSpec,
    CELL_TEMPLATE: CellTemplateSpec,
    SHARD_TEMPLATE: ShardTemplateSpec,
}


class Namespaces(NamedTuple):
    """The namespace that the user names, "" if none, and that of the context."""

    named: str
    default: str


class RestoreRequest(NamedTuple):
    """The cluster to create, and the other objects of the files, which are not created."""

    manifest: Manifest
    others: list[Manifest]

    @property
    def key(self) -> Key:
        meta = self.manifest["metadata"]
        return Key(meta["namespace"], meta["name"])

    @property
    def spec(self) -> MultigresClusterSpec:
        try:
            return msgspec.convert(self.manifest.get("spec") or {}, MultigresClusterSpec)
        except msgspec.ValidationError as error:
            raise click.ClickException(f"MultigresCluster {self.key.name}: {error}") from error


def read_request(files: tuple[Path, ...], namespaces: Namespaces, backup: str) -> RestoreRequest:
    with expected_errors(UnreadableFile, OSError):
        manifests = [each.manifest for file in files for each in read_documents(file)]
    clusters = [each for each in manifests if each.get("kind") == CLUSTER.kind]
    if len(clusters) != 1 or not (clusters[0].get("metadata") or {}).get("name"):
        raise click.ClickException(f"give the manifest of one MultigresCluster; there are {len(clusters)}")
    others = [each for each in manifests if each is not clusters[0]]
    return RestoreRequest(restored_manifest(clusters[0], namespaces, backup), others)


def restored_manifest(cluster: Manifest, namespaces: Namespaces, backup: str) -> Manifest:
    """The manifest with `restore`: from the MultigresBackup, else as it says, else from its own repository. Pure."""
    meta, spec = cluster["metadata"], cluster.get("spec") or {}
    own = spec.get("backup") or {"type": "filesystem"}
    repository = {own["type"]: own.get(own["type"]) or {}}
    written = (spec.get("restore") or {}).get("from")
    source = {"backup": backup} if backup else written or repository
    namespace = namespaces.named or meta.get("namespace") or namespaces.default
    # Nothing else of the metadata: a manifest that was read from a server has its uid and version in it.
    kept = {field: meta[field] for field in ("name", "labels", "annotations") if field in meta}
    return {
        "apiVersion": cluster["apiVersion"],
        "kind": cluster["kind"],
        "metadata": {**kept, "namespace": namespace},
        "spec": {**spec, "restore": {"from": source}},
    }


async def resolve_request(client: Client, request: RestoreRequest) -> ResolvedCluster:
    templates = await _templates(client, request)
    identity = ClusterIdentity(request.key.namespace, request.key.name)
    resolved = resolve(identity, request.spec, templates)
    problems = validate(request.spec, resolved)
    if problems:
        raise click.ClickException(f"{problems[0].field}: {problems[0].message}")
    return resolved


async def _templates(client: Client, request: RestoreRequest) -> Templates:
    found = []
    for kind, spec in TEMPLATE_SPECS.items():
        listing = await client.list(kind, ListQuery(namespace=request.key.namespace))
        found.append(
            {each["metadata"]["name"]: msgspec.convert(each["spec"], spec) for each in listing.items}
        )
    return Templates(*found)


async def read_facts(client: Client, request: RestoreRequest, resolved: ResolvedCluster) -> RestoreFacts:
    namespace, spec = request.key.namespace, request.spec
    assert isinstance(spec.restore, msgspec.Struct)
    claims = await client.list(
        PERSISTENT_VOLUME_CLAIM, ListQuery(namespace=namespace, label_selector=MANAGED_SELECTOR), Metadata
    )
    backups = await client.list(BACKUP, ListQuery(namespace=namespace), MultigresBackupView)
    secret = password_secret(request.key.name, spec)
    return RestoreFacts(
        spec.restore.source,
        restored_shards(resolved),
        tuple(backups.items),
        frozenset(claim.metadata.name for claim in claims.items),
        repository_users(resolved, await _clusters(client, namespace)),
        "" if await _exists(client, SECRET, Key(namespace, secret)) else secret,
    )


async def _clusters(client: Client, namespace: str) -> list[ClusterView]:
    """Of all namespaces, or of this one for users who may not list the others: the operator looks again."""
    try:
        return list((await client.list(CLUSTER, ListQuery(), ClusterView)).items)
    except Forbidden:
        return list((await client.list(CLUSTER, ListQuery(namespace=namespace), ClusterView)).items)


async def _exists(client: Client, kind: Kind, key: Key) -> bool:
    try:
        await client.get(kind, key)
    except NotFound:
        return False
    return True


async def is_taken(client: Client, request: RestoreRequest) -> bool:
    return await _exists(client, CLUSTER, request.key)


def describe_restore(facts: RestoreFacts) -> Iterator[str]:
    """What would happen, a line for each shard. Pure."""
    for shard in facts.shards:
        known = [each.status.backup_id for each in facts.backups if _is_of(each, shard.path)]
        newest = max((str(each) for each in known if each), default="")
        hint = f", {newest} or a later one" if newest else ""
        yield (
            f"shard {'/'.join(shard.path[1:])}: {len(shard.servers)} servers restore the newest backup of"
            f" {shard.repository}{hint}, and replay all WAL that was archived after it"
        )


def _is_of(backup: MultigresBackupView, path: tuple[str, ...]) -> bool:
    from steward.multigres.backups.queue import backup_path

    return backup_path(backup) == path
