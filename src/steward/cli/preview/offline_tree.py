"""The tree that grows out of a MultigresCluster, without a cluster: every child, and the objects of every child.

What only a living cluster has is left out: Secrets (their contents are random) and owner references (they need the uid
that the server gives). Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from steward.multigres.api.cell import CellSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.controllers.shard.reconciler import shard_build, shard_objects
from steward.multigres.controllers.toposerver import PLACE
from steward.multigres.objects import children, gateway, multiadmin
from steward.multigres.objects.etcd import topo_server_objects
from steward.multigres.objects.metadata import CLUSTER, Manifest, Owner
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import ShardView


def grown(
    namespace: str, name: str, spec: MultigresClusterSpec, resolved: ResolvedCluster
) -> Iterator[Manifest]:
    """Each object before what grows out of it, in the order in which they are built."""
    owner = Owner("MultigresCluster", namespace, name, "")
    for manifest in _of_cluster(owner, spec, resolved):
        yield from _with_children(manifest)


def _of_cluster(owner: Owner, spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[Manifest]:
    server = children.global_topo_server(owner, resolved)
    external = None if spec.external_gateway is UNSET else spec.external_gateway
    levels = given(spec.log_levels, defaults.LOG_LEVELS)
    return [
        *([] if server is None else [server]),
        *children.cells(owner, resolved, spec),
        *children.table_groups(owner, resolved, spec),
        *multiadmin.multiadmin_objects(owner, resolved, levels, spec.observability),
        *multiadmin.web_objects(owner, resolved),
        gateway.cluster_service(owner, external),
    ]


def _with_children(manifest: Manifest) -> Iterator[Manifest]:
    meta: dict[str, Any] = {
        name: value for name, value in manifest["metadata"].items() if name != "ownerReferences"
    }
    yield {**manifest, "metadata": meta}
    below = _BELOW.get(manifest["kind"])
    if below is not None:
        owner = Owner(manifest["kind"], meta["namespace"], meta["name"], "")
        for child in below(owner, manifest):
            yield from _with_children(child)


def _of_topo_server(owner: Owner, manifest: Manifest) -> list[Manifest]:
    labels = manifest["metadata"]["labels"]
    place = {label: labels[label] for label in PLACE if label in labels}
    spec = msgspec.convert(manifest["spec"], TopoServerSpec)
    return topo_server_objects(owner, labels[CLUSTER], spec, place)


def _of_cell(owner: Owner, manifest: Manifest) -> list[Manifest]:
    cluster = manifest["metadata"]["labels"][CLUSTER]
    spec = msgspec.convert(manifest["spec"], CellSpec)
    local = children.local_topo_server(owner, cluster, spec)
    return [*([] if local is None else [local]), *gateway.cell_objects(owner, cluster, spec)]


def _of_table_group(owner: Owner, manifest: Manifest) -> list[Manifest]:
    cluster = manifest["metadata"]["labels"][CLUSTER]
    return children.shards(owner, cluster, msgspec.convert(manifest["spec"], TableGroupSpec))


def _of_shard(_: Owner, manifest: Manifest) -> list[Manifest]:
    return shard_objects(shard_build(msgspec.convert(manifest, ShardView)))


_BELOW: Final[dict[str, Callable[[Owner, Manifest], list[Manifest]]]] = {
    "TopoServer": _of_topo_server,
    "Cell": _of_cell,
    "TableGroup": _of_table_group,
    "Shard": _of_shard,
}
