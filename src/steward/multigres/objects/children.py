"""Child custom resources of a resolved cluster: TopoServers, Cells and TableGroups.

Each child contains everything that its own controller needs; no controller reads the parent of its object.
"""

from typing import Any, TypeVar

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from steward.kube.crd.schema import property_names
from steward.multigres import names
from steward.multigres.api.cell import CellGatewayTls, CellSpec, CellTopoServer
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.cluster_wide import ClusterWide, TableGroupWide, TopoServerRef
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels
from steward.multigres.api.scalars import ApiStruct, Unset
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.topo import Etcd, LocalTopoServer, TopoReference
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.api.unset import or_default
from steward.multigres.objects.built_in_images import built_in_images
from steward.multigres.objects.metadata import (
    DATABASE_LABEL,
    FINALIZER,
    TABLE_GROUP_LABEL,
    Manifest,
    Owner,
    cell_location_labels,
    component_labels,
    metadata,
    node_selector,
)
from steward.multigres.objects.versions import version_of, written_version
from steward.multigres.resolution import defaults
from steward.multigres.resolution.gateway_tls import cell_gateway_tls
from steward.multigres.resolution.layers import Layer, merge_layers
from steward.multigres.resolution.resolved import (
    ResolvedCell,
    ResolvedCluster,
    ResolvedDatabase,
    ResolvedGroup,
)

P = TypeVar("P", bound=ApiStruct)

# Kinds that drain before deletion. They are created with their finalizer, so that they are never without it.
DRAINED_KINDS = ("TopoServer", "Cell", "Shard")


def child_manifest(owner: Owner, kind: str, name: str, labels: dict[str, str], spec: ApiStruct) -> Manifest:
    finalizers = {"finalizers": [FINALIZER]} if kind in DRAINED_KINDS else {}
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {**metadata(owner, name, labels), **finalizers},
        "spec": _fields_in_order(spec),
    }


def _fields_in_order(spec: ApiStruct) -> Manifest:
    fields = to_builtins(spec)
    return {name: fields[name] for name in property_names(type(spec)) if name in fields}


def cluster_wide(
    owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec, version: int
) -> ClusterWide:
    """The fields that Cells and TableGroups take over from the cluster as they are."""
    return ClusterWide(
        images=cluster.images,
        global_topo_server=cluster.topo.reference,
        topo_server_ref=_topo_server_ref(owner, cluster),
        topology_reconciliation=cluster.topology,
        observability=spec.observability,
        log_levels=_log_levels(spec),
        objects_version=written_version(version),
    )


def inherited_fields(source: P, declared: type[P]) -> dict[str, Any]:
    """The fields of `source` that `declared` declares, as arguments for a child's spec."""
    return {field: getattr(source, field) for field in declared.__struct_fields__}


def global_topo_server(owner: Owner, cluster: ResolvedCluster, shared: ClusterWide) -> Manifest | None:
    """None if the cluster uses an external topology server."""
    if cluster.topo.etcd is None:
        return None
    spec = topo_server_spec(cluster.topo.etcd, shared)
    name = names.global_topo(owner.name)
    return child_manifest(owner, "TopoServer", name, component_labels(owner.name, "global-topo"), spec)


def topo_server_spec(
    etcd: Etcd, shared: ClusterWide, zone: str | Unset = UNSET, region: str | Unset = UNSET
) -> TopoServerSpec:
    images = or_default(shared.images, Images())
    return TopoServerSpec(
        image=etcd.image,
        replicas=etcd.replicas,
        storage=etcd.storage,
        resources=etcd.resources,
        root_path=etcd.root_path,
        pvc_deletion_policy=etcd.pvc_deletion_policy,
        image_pull_policy=images.image_pull_policy,
        image_pull_secrets=images.image_pull_secrets,
        zone=zone,
        region=region,
        objects_version=shared.objects_version,
    )


def local_topo_server(owner: Owner, cluster: str, spec: CellSpec) -> Manifest | None:
    """The cell's own topology server, if the cell has one that the operator runs."""
    server = or_default(spec.topo_server, CellTopoServer())
    if server.etcd is UNSET:
        return None
    labels = component_labels(
        cluster,
        "local-topo",
        cell_location_labels(spec.name, or_default(spec.zone, ""), or_default(spec.region, "")),
    )
    server_spec = topo_server_spec(server.etcd, spec, spec.zone, spec.region)
    return child_manifest(owner, "TopoServer", names.local_topo(owner.name), labels, server_spec)


def cell_manifests(
    owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec, shared: ClusterWide
) -> list[Manifest]:
    tls = cell_gateway_tls(owner.name, spec)
    return [_cell(owner, cluster, shared, cell, tls) for cell in cluster.cells]


def _cell(
    owner: Owner,
    cluster: ResolvedCluster,
    shared: ClusterWide,
    cell: ResolvedCell,
    tls: CellGatewayTls | Unset,
) -> Manifest:
    location = cell_location_labels(cell.name, cell.zone, cell.region)
    spec = CellSpec(
        name=cell.name,
        zone=cell.zone or UNSET,
        region=cell.region or UNSET,
        multi_gateway=cell.gateway,
        gateway_tls=tls,
        topo_server=_cell_topo(owner, cell, version_of(shared.objects_version)),
        all_cells=sorted(other.name for other in cluster.cells),
        **inherited_fields(_with_images(shared, cluster.images, "multigateway"), ClusterWide),
    )
    return child_manifest(
        owner, "Cell", names.cell(owner.name, cell.name), component_labels(owner.name, "cell", location), spec
    )


def _cell_topo(owner: Owner, cell: ResolvedCell, version: int) -> CellTopoServer:
    server: LocalTopoServer | None = cell.local_topo
    if server is None or (server.etcd is UNSET and server.external is UNSET):
        return CellTopoServer()
    if server.etcd is not UNSET:
        built_in = replace(defaults.ETCD, image=built_in_images(version).etcd)
        etcd, _ = merge_layers(Etcd(), [Layer("", built_in), Layer("", server.etcd)])
        return CellTopoServer(etcd=etcd)
    external = server.external
    assert external is not UNSET
    root = f"/multigres/{owner.namespace}/{owner.name}/{cell.name}"
    reference = TopoReference(
        address=",".join(external.endpoints),
        root_path=or_default(external.root_path, root),
        implementation="etcd",
        ca_secret=external.ca_secret,
        client_cert_secret=external.client_cert_secret,
    )
    return CellTopoServer(external=reference)


def table_group_manifests(
    owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec, shared: ClusterWide
) -> list[Manifest]:
    return [
        _table_group(owner, group, _group_wide(cluster, spec, shared, database))
        for database in cluster.databases
        for group in database.groups
    ]


def _group_wide(
    cluster: ResolvedCluster, spec: MultigresClusterSpec, shared: ClusterWide, database: ResolvedDatabase
) -> TableGroupWide:
    images = _with_images(shared, cluster.images, "multiorch", "multipooler", "postgres")
    return TableGroupWide(
        durability_policy=database.durability_policy,
        cell_topology_labels={cell.name: node_selector(cell.zone, cell.region) for cell in cluster.cells},
        postgres_password_secret_ref=spec.postgres_password_secret_ref,
        **inherited_fields(images, ClusterWide),
    )


def _table_group(owner: Owner, group: ResolvedGroup, shared: TableGroupWide) -> Manifest:
    spec = TableGroupSpec(
        database_name=group.database,
        table_group_name=group.name,
        default=group.default,
        shards=list(group.shards),
        pvc_deletion_policy=group.pvc_deletion_policy,
        backup=group.backup,
        **inherited_fields(shared, TableGroupWide),
    )
    location = {DATABASE_LABEL: group.database, TABLE_GROUP_LABEL: group.name}
    name = names.table_group(owner.name, group.database, group.name)
    return child_manifest(
        owner, "TableGroup", name, component_labels(owner.name, "tablegroup", location), spec
    )


def _with_images(shared: ClusterWide, images: Images, *components: str) -> ClusterWide:
    """Each child only names the images that it runs: a new image of another component must not change it."""
    return replace(
        shared,
        images=Images(
            image_pull_policy=images.image_pull_policy,
            image_pull_secrets=images.image_pull_secrets,
            **{component: getattr(images, component) for component in components},
        ),
    )


def _topo_server_ref(owner: Owner, cluster: ResolvedCluster) -> TopoServerRef | Unset:
    return UNSET if cluster.topo.etcd is None else TopoServerRef(name=names.global_topo(owner.name))


def _log_levels(spec: MultigresClusterSpec) -> LogLevels:
    written = [] if spec.log_levels is UNSET else [Layer("spec", spec.log_levels)]
    return merge_layers(defaults.LOG_LEVELS, written)[0]
