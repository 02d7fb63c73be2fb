"""Shards: the child custom resources of a TableGroup."""

from steward.multigres import names
from steward.multigres.api.cluster_wide import TableGroupWide
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import ResolvedShard, TableGroupSpec
from steward.multigres.api.unset import or_default
from steward.multigres.objects.children import child_manifest, inherited_fields
from steward.multigres.objects.metadata import (
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    Manifest,
    Owner,
    component_labels,
)


def shard_manifests(owner: Owner, cluster: str, spec: TableGroupSpec) -> list[Manifest]:
    return [_shard(owner, cluster, spec, shard) for shard in or_default(spec.shards, [])]


def _shard(owner: Owner, cluster: str, group: TableGroupSpec, shard: ResolvedShard) -> Manifest:
    path = names.ShardPath(cluster, group.database_name, group.table_group_name, shard.name)
    spec = ShardSpec(
        shard_name=shard.name,
        database_name=group.database_name,
        table_group_name=group.table_group_name,
        multiorch=shard.multiorch,
        pools=shard.pools,
        pvc_deletion_policy=shard.pvc_deletion_policy,
        backup=shard.backup,
        postgres_config_ref=shard.postgres_config_ref,
        postgres=shard.postgres,
        initdb_args=shard.initdb_args,
        **inherited_fields(group, TableGroupWide),
    )
    location = {DATABASE_LABEL: path.database, TABLE_GROUP_LABEL: path.table_group, SHARD_LABEL: path.shard}
    return child_manifest(
        owner, "Shard", names.shard(path), component_labels(cluster, "shard", location), spec
    )
