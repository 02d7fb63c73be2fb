"""Child custom resources: from the resolved cluster to TopoServers, Cells and TableGroups, and on to Shards.

Each child carries everything that its own controller needs: a grandparent never reaches past its children.
"""

from typing import Any

from msgspec import UNSET, to_builtins

from steward.multigres import names
from steward.multigres.api.cell import CellSpec, CellTopoServer, TopologyReconciliation, TopoServerRef
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels
from steward.multigres.api.scalars import Part, Unset
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import ResolvedShard, TableGroupSpec
from steward.multigres.api.topo import Etcd, LocalTopoServer, TopoReference
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.objects.metadata import (
    DATABASE,
    FINALIZER,
    SHARD,
    TABLE_GROUP,
    Manifest,
    Owner,
    cell_place,
    labels,
    metadata,
    node_selector,
)
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import Layer, given, lay
from steward.multigres.resolution.resolved import ResolvedCell, ResolvedCluster, ResolvedGroup

TOPOLOGY = TopologyReconciliation(register_cell=True, prune_tablets=True)


# These end gracefully. They are made with their finalizer, so that none is ever seen without it.
ENDS_GRACEFULLY = ("TopoServer", "Cell", "Shard")


def child(owner: Owner, kind: str, name: str, own: dict[str, str], spec: Part) -> Manifest:
    held = {"finalizers": [FINALIZER]} if kind in ENDS_GRACEFULLY else {}
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {**metadata(owner, name, own), **held},
        "spec": to_builtins(spec),
    }


def global_topo_server(owner: Owner, cluster: ResolvedCluster) -> Manifest | None:
    """None where somebody else runs the topology server."""
    if cluster.topo.etcd is None:
        return None
    spec = topo_server_spec(cluster.topo.etcd, cluster.images)
    own = labels(owner.name, "global-topo")
    return child(owner, "TopoServer", names.global_topo(owner.name), own, spec)


def topo_server_spec(
    etcd: Etcd, images: Images, zone: str | Unset = UNSET, region: str | Unset = UNSET
) -> TopoServerSpec:
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
    )


def local_topo_server(owner: Owner, cluster: str, spec: CellSpec) -> Manifest | None:
    """The cell's own topology server, where the cell asks for one that Steward runs."""
    server = given(spec.topo_server, CellTopoServer())
    if server.etcd is UNSET:
        return None
    own = labels(cluster, "local-topo", cell_place(spec.name, given(spec.zone, ""), given(spec.region, "")))
    built = topo_server_spec(server.etcd, given(spec.images, Images()), spec.zone, spec.region)
    return child(owner, "TopoServer", names.local_topo(owner.name), own, built)


def cells(owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec) -> list[Manifest]:
    return [_cell(owner, cluster, spec, cell) for cell in cluster.cells]


def _cell(owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec, cell: ResolvedCell) -> Manifest:
    place = cell_place(cell.name, cell.zone, cell.region)
    built = CellSpec(
        name=cell.name,
        zone=cell.zone or UNSET,
        region=cell.region or UNSET,
        images=_images(cluster.images, "multigateway"),
        multi_gateway=cell.gateway,
        global_topo_server=cluster.topo.reference,
        topo_server=_cell_topo(owner, cell),
        topo_server_ref=_topo_server_ref(owner, cluster),
        all_cells=sorted(known.name for known in cluster.cells),
        topology_reconciliation=TOPOLOGY,
        observability=spec.observability,
        log_levels=_log_levels(spec),
    )
    return child(owner, "Cell", names.cell(owner.name, cell.name), labels(owner.name, "cell", place), built)


def _cell_topo(owner: Owner, cell: ResolvedCell) -> CellTopoServer:
    server: LocalTopoServer | None = cell.local_topo
    if server is None or (server.etcd is UNSET and server.external is UNSET):
        return CellTopoServer()
    if server.etcd is not UNSET:
        etcd, _ = lay(Etcd(), [Layer("", defaults.ETCD), Layer("", server.etcd)])
        return CellTopoServer(etcd=etcd)
    external = server.external
    assert external is not UNSET
    root = f"/multigres/{owner.namespace}/{owner.name}/{cell.name}"
    reference = TopoReference(
        address=",".join(external.endpoints),
        root_path=given(external.root_path, root),
        implementation="etcd",
        ca_secret=external.ca_secret,
        client_cert_secret=external.client_cert_secret,
    )
    return CellTopoServer(external=reference)


def table_groups(owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec) -> list[Manifest]:
    return [
        _table_group(owner, cluster, spec, group)
        for database in cluster.databases
        for group in database.groups
    ]


def _table_group(
    owner: Owner, cluster: ResolvedCluster, spec: MultigresClusterSpec, group: ResolvedGroup
) -> Manifest:
    database = next(known for known in cluster.databases if known.name == group.database)
    built = TableGroupSpec(
        database_name=group.database,
        table_group_name=group.name,
        default=group.default,
        images=_images(cluster.images, "multiorch", "multipooler", "postgres"),
        global_topo_server=cluster.topo.reference,
        topo_server_ref=_topo_server_ref(owner, cluster),
        shards=list(group.shards),
        pvc_deletion_policy=group.pvc_deletion_policy,
        backup=group.backup,
        durability_policy=database.durability_policy,
        cell_topology_labels={cell.name: node_selector(cell.zone, cell.region) for cell in cluster.cells},
        postgres_password_secret_ref=spec.postgres_password_secret_ref,
        topology_reconciliation=TOPOLOGY,
        observability=spec.observability,
        log_levels=_log_levels(spec),
    )
    own = labels(owner.name, "tablegroup", {DATABASE: group.database, TABLE_GROUP: group.name})
    return child(owner, "TableGroup", names.table_group(owner.name, group.database, group.name), own, built)


def shards(owner: Owner, cluster: str, spec: TableGroupSpec) -> list[Manifest]:
    return [_shard(owner, cluster, spec, shard) for shard in given(spec.shards, [])]


def _shard(owner: Owner, cluster: str, spec: TableGroupSpec, shard: ResolvedShard) -> Manifest:
    path = names.ShardPath(cluster, spec.database_name, spec.table_group_name, shard.name)
    built = ShardSpec(
        shard_name=shard.name,
        database_name=spec.database_name,
        table_group_name=spec.table_group_name,
        multiorch=shard.multiorch,
        pools=shard.pools,
        pvc_deletion_policy=shard.pvc_deletion_policy,
        backup=shard.backup,
        postgres_config_ref=shard.postgres_config_ref,
        initdb_args=shard.initdb_args,
        **_handed_on(spec),
    )
    place = {DATABASE: path.database, TABLE_GROUP: path.table_group, SHARD: path.shard}
    return child(owner, "Shard", names.shard(path), labels(cluster, "shard", place), built)


def _handed_on(spec: TableGroupSpec) -> dict[str, Any]:
    """What a group passes to its shards as it is."""
    fields = (
        "images",
        "global_topo_server",
        "topo_server_ref",
        "durability_policy",
        "cell_topology_labels",
        "postgres_password_secret_ref",
        "topology_reconciliation",
        "observability",
        "log_levels",
    )
    return {field: getattr(spec, field) for field in fields}


def _images(images: Images, *components: str) -> Images:
    return Images(
        image_pull_policy=images.image_pull_policy,
        image_pull_secrets=images.image_pull_secrets,
        **{component: getattr(images, component) for component in components},
    )


def _topo_server_ref(owner: Owner, cluster: ResolvedCluster) -> TopoServerRef | Unset:
    return UNSET if cluster.topo.etcd is None else TopoServerRef(name=names.global_topo(owner.name))


def _log_levels(spec: MultigresClusterSpec) -> LogLevels:
    own = [] if spec.log_levels is UNSET else [Layer("spec", spec.log_levels)]
    return lay(defaults.LOG_LEVELS, own)[0]
