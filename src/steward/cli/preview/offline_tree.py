"""The objects that the operator would create for a MultigresCluster, without a Kubernetes cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects.metadata import Manifest, Owner
from steward.multigres.objects.tree import cluster_tree
from steward.multigres.resolution.resolved import ResolvedCluster


def offline_tree(
    namespace: str, name: str, spec: MultigresClusterSpec, resolved: ResolvedCluster
) -> Iterator[Manifest]:
    """Without owner references: they need the uids that the API server assigns."""
    for manifest in cluster_tree(Owner("MultigresCluster", namespace, name, ""), spec, resolved):
        meta = manifest["metadata"].items()
        yield {**manifest, "metadata": {key: value for key, value in meta if key != "ownerReferences"}}
