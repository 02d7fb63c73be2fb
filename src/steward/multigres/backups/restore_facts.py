"""The names and repositories of a cluster that is to be restored, for the operator and for `steward restore`. Pure."""

from collections.abc import Iterable, Iterator

import msgspec

from steward.kube.objects.meta import key_of
from steward.multigres import names
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default
from steward.multigres.backups.restore import RestoredShard
from steward.multigres.names import ShardPath
from steward.multigres.objects.pool import CLAIM
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.repositories import (
    ObjectLocation,
    describe_repository,
    is_served_volume,
    is_shared_volume,
    object_locations,
    shard_cells,
)
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, LocatedShard, ResolvedCluster, Templates
from steward.multigres.topology.desired_records import resolved_shard_path, shard_pods
from steward.multigres.views import ClusterView


def restored_shards(resolved: ResolvedCluster) -> tuple[RestoredShard, ...]:
    return tuple(_restored_shard(resolved, located) for located in resolved.shards())


def _restored_shard(resolved: ResolvedCluster, located: LocatedShard) -> RestoredShard:
    path, backup = resolved_shard_path(resolved, located), or_default(located.shard.backup, defaults.BACKUP)
    servers = frozenset(shard_pods(resolved, located))
    return RestoredShard(
        path,
        describe_repository(backup),
        servers,
        frozenset(f"{CLAIM}-{server}" for server in servers),
        () if backup.type == "s3" else tuple(_repository_claims(path, located, backup)),
    )


def _repository_claims(path: ShardPath, located: LocatedShard, backup: Backup) -> Iterator[frozenset[str]]:
    cells = [names.backup_claim(path, cell) for cell in shard_cells(located.pools)]
    if is_shared_volume(backup) or is_served_volume(backup):
        yield frozenset([names.shared_backup_claim(path), *cells])
    else:
        yield from (frozenset([claim]) for claim in cells)


def repository_users(resolved: ResolvedCluster, clusters: Iterable[ClusterView]) -> dict[str, str]:
    """Other clusters with a repository of this one, by repository. Those on volumes are in no other namespace."""
    own = object_locations(resolved)
    described = {
        own[database.name]: describe_repository(database.backup)
        for database in resolved.databases
        if database.name in own
    }
    identity = resolved.identity
    return {
        described[location]: f"{other.metadata.namespace}/{other.metadata.name}"
        for other in (clusters if own else ())
        if key_of(other) != (identity.namespace, identity.name)
        for location in _locations(other)
        if location in described
    }


def _locations(cluster: ClusterView) -> Iterable[ObjectLocation]:
    try:
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return ()
    identity = ClusterIdentity(cluster.metadata.namespace, cluster.metadata.name)
    # Templates have no part in repositories.
    return object_locations(resolve(identity, spec, Templates({}, {}, {}))).values()


def password_secret(cluster: str, spec: MultigresClusterSpec) -> str:
    reference = spec.postgres_password_secret_ref
    return names.password_secret(cluster) if reference is UNSET else reference.name
