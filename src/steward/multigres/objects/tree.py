"""Composition of a cluster: the objects that each custom resource consists of. Pure.

    MultigresCluster ─┬─ TopoServer ── etcd
                      ├─ Cell ─┬─ TopoServer ── etcd
                      │        └─ gateway
                      ├─ TableGroup ── Shard ── ConfigMaps, repository, orchestrators, pools
                      └─ multiadmin, multiadmin-web, gateway Service

Each controller builds one level from its live object; previews and tests build all levels with `cluster_tree`. Secrets
are not part of the tree: their contents are random.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.objects import (
    children,
    etcd,
    gateway,
    multiadmin,
    orchestrator,
    pool,
    shard_shared,
)
from steward.multigres.objects.built_in_images import built_in_images, with_images_of
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    REGION_LABEL,
    ZONE_LABEL,
    Manifest,
    Owner,
)
from steward.multigres.objects.repository.claims import repository_claims
from steward.multigres.objects.repository.host import repository_host_objects
from steward.multigres.objects.shard_inputs import ShardInputs, offline_inputs
from steward.multigres.objects.shards import shard_manifests
from steward.multigres.objects.versions import NEWEST
from steward.multigres.resolution.hibernation import HibernationStage, hibernate
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import CellView, ShardView, TableGroupView, TopoServerView

V = TypeVar("V")


def cluster_objects(
    owner: Owner, spec: MultigresClusterSpec, resolved: ResolvedCluster, version: int
) -> list[Manifest]:
    """`version` is the version of the pods of the whole cluster."""
    external = None if spec.external_gateway is UNSET else spec.external_gateway
    resolved = with_images_of(built_in_images(version), spec, resolved)
    shared = children.cluster_wide(owner, resolved, spec, version)
    server = children.global_topo_server(owner, resolved, shared)
    return [
        *([] if server is None else [server]),
        *children.cell_manifests(owner, resolved, spec, shared),
        *children.table_group_manifests(owner, resolved, spec, shared),
        *multiadmin.multiadmin_objects(owner, resolved, shared),
        *multiadmin.multiadmin_web_objects(owner, resolved),
        gateway.cluster_gateway_service(owner, external, version),
    ]


def topo_server_objects(server: TopoServerView) -> list[Manifest]:
    meta = server.metadata
    location = {
        label: meta.labels[label] for label in (CELL_LABEL, ZONE_LABEL, REGION_LABEL) if label in meta.labels
    }
    return etcd.etcd_objects(_owner("TopoServer", meta), _cluster(meta), server.spec, location)


def cell_objects(cell: CellView, certificate: str = "") -> list[Manifest]:
    """`certificate` is a digest of the gateways' certificate."""
    owner, cluster = _owner("Cell", cell.metadata), _cluster(cell.metadata)
    server = children.local_topo_server(owner, cluster, cell.spec)
    return [
        *([] if server is None else [server]),
        *gateway.gateway_objects(owner, cluster, cell.spec, certificate),
    ]


def table_group_objects(group: TableGroupView) -> list[Manifest]:
    return shard_manifests(_owner("TableGroup", group.metadata), _cluster(group.metadata), group.spec)


def shard_objects(shard: ShardInputs) -> list[Manifest]:
    cells = pool.pool_cells(or_default(shard.spec.pools, {}))
    return [
        *shard_shared.config_maps(shard),
        *repository_claims(shard, cells),
        *repository_host_objects(shard),
        *orchestrator.orchestrator_objects(shard),
        *pool.pool_objects(shard),
        shard_shared.disruption_budget(shard),
    ]


def cluster_tree(
    owner: Owner, spec: MultigresClusterSpec, resolved: ResolvedCluster, version: int = NEWEST
) -> Iterator[Manifest]:
    """All objects below a cluster, each before its own children. Every owner has the uid of the cluster."""
    if spec.hibernation is True:
        resolved = hibernate(resolved, HibernationStage.SERVERS)
    for manifest in cluster_objects(owner, spec, resolved, version):
        yield from _subtree(manifest, owner.uid)


def _subtree(manifest: Manifest, uid: str) -> Iterator[Manifest]:
    yield manifest
    build = _BUILDERS.get(manifest["kind"])
    if build is not None:
        for child in build({**manifest, "metadata": {**manifest["metadata"], "uid": uid}}):
            yield from _subtree(child, uid)


def _built_from(view: type[V], build: Callable[[V], list[Manifest]]) -> Callable[[Manifest], list[Manifest]]:
    return lambda manifest: build(msgspec.convert(manifest, view))


_BUILDERS: Final[dict[str, Callable[[Manifest], list[Manifest]]]] = {
    "TopoServer": _built_from(TopoServerView, topo_server_objects),
    "Cell": _built_from(CellView, cell_objects),
    "TableGroup": _built_from(TableGroupView, table_group_objects),
    "Shard": _built_from(ShardView, lambda shard: shard_objects(offline_inputs(shard))),
}


def _owner(kind: str, meta: ObjectMeta) -> Owner:
    return Owner(kind, meta.namespace, meta.name, meta.uid)


def _cluster(meta: ObjectMeta) -> str:
    return meta.labels.get(CLUSTER_LABEL, "")
