"""All objects of one cluster, built the way the controllers build them, without controllers."""

from typing import Any

import msgspec
from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.names import ShardPath
from steward.multigres.objects import (
    backup,
    children,
    etcd,
    gateway,
    multiadmin,
    orchestrator,
    pool,
    secrets,
    shard_parts,
)
from steward.multigres.objects.metadata import Manifest, Owner
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, ResolvedCluster, Templates

UID = "00000000-0000-0000-0000-000000000001"
NAME = "mini"
THREE_CELLS = [{"zone": "z1"}, {"zone": "z2"}, {"zone": "z3"}]


def build_tree(namespace: str = "example", **spec: Any) -> list[Manifest]:
    """Children and everything below them, for a cluster of three cells unless `spec` says otherwise."""
    wanted = msgspec.convert({"cells": THREE_CELLS, **spec}, MultigresClusterSpec)
    resolved = resolve(Identity(namespace, NAME), wanted, Templates({}, {}, {}))
    assert resolved.problems == ()
    return tree_of(wanted, resolved)


def tree_of(wanted: MultigresClusterSpec, resolved: ResolvedCluster) -> list[Manifest]:
    """The same for a cluster that is resolved already."""
    owner = Owner("MultigresCluster", resolved.identity.namespace, NAME, UID)
    return [
        *_topo(owner, resolved),
        *multiadmin.multiadmin_objects(owner, resolved, defaults.LOG_LEVELS, wanted.observability),
        *multiadmin.web_objects(owner, resolved),
        gateway.cluster_service(owner, None if wanted.external_gateway is UNSET else wanted.external_gateway),
        secrets.password_secret(owner, "secret"),
        secrets.connection_secret(owner, "secret"),
        *_cells(owner, resolved, wanted),
        *_groups(owner, resolved, wanted),
    ]


def _topo(owner: Owner, resolved: ResolvedCluster) -> list[Manifest]:
    child = children.global_topo_server(owner, resolved)
    if child is None:
        return []
    spec = msgspec.convert(child["spec"], TopoServerSpec)
    return [child, *etcd.topo_server_objects(_own("TopoServer", child), NAME, spec, {})]


def _cells(owner: Owner, resolved: ResolvedCluster, wanted: MultigresClusterSpec) -> list[Manifest]:
    built: list[Manifest] = []
    for child in children.cells(owner, resolved, wanted):
        spec = msgspec.convert(child["spec"], CellSpec)
        built += [child, *gateway.cell_objects(_own("Cell", child), NAME, spec)]
    return built


def _groups(owner: Owner, resolved: ResolvedCluster, wanted: MultigresClusterSpec) -> list[Manifest]:
    built: list[Manifest] = []
    for group in children.table_groups(owner, resolved, wanted):
        built.append(group)
        spec = msgspec.convert(group["spec"], TableGroupSpec)
        for child in children.shards(_own("TableGroup", group), NAME, spec):
            built += [child, *_shard(_own("Shard", child), msgspec.convert(child["spec"], ShardSpec))]
    return built


def _shard(owner: Owner, spec: ShardSpec) -> list[Manifest]:
    path = ShardPath(NAME, given(spec.database_name, ""), given(spec.table_group_name, ""), spec.shard_name)
    build = ShardBuild(
        owner, path, spec, names.password_secret(NAME), "password", f"{owner.name}-pgbackrest-tls"
    )
    return [
        *orchestrator.orchestrator_objects(build),
        *pool.pool_objects(build),
        *shard_parts.config_maps(build),
        shard_parts.disruption_budget(build),
        *backup.backup_claims(build, pool.pools_by_cell(given(spec.pools, {}))),
    ]


def _own(kind: str, child: Manifest) -> Owner:
    return Owner(kind, child["metadata"]["namespace"], child["metadata"]["name"], UID)


def of_kind(tree: list[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in tree if manifest["kind"] == kind]


def pods(tree: list[Manifest]) -> list[Manifest]:
    return [manifest["spec"]["template"] for manifest in tree if "template" in manifest.get("spec", {})]


def containers(pod: Manifest) -> list[Manifest]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def pool_name(cell: str, pool_part: str = "default") -> str:
    return names.pool(ShardPath(NAME, "postgres", "default", "0-inf"), pool_part, cell)
