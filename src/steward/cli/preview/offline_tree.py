"""The objects that the operator would create for a MultigresCluster, without a Kubernetes cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects.metadata import Manifest, Owner
from steward.multigres.objects.tree import cluster_tree
from steward.multigres.objects.versions import NEWEST
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster


def offline_tree(
    identity: ClusterIdentity, spec: MultigresClusterSpec, resolved: ResolvedCluster, version: int = NEWEST
) -> Iterator[Manifest]:
    """Without owner references: they need the uids that the API server assigns."""
    for manifest in cluster_tree(Owner("MultigresCluster", *identity, ""), spec, resolved, version):
        meta = manifest["metadata"].items()
        yield {**manifest, "metadata": {key: value for key, value in meta if key != "ownerReferences"}}
