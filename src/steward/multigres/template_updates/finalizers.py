"""Finalizers of templates: one for each cluster that uses the template. Pure.

Finalizers of others and their order are kept. A terminating template gets no new finalizers, because the API server
rejects them; finalizers of clusters that no longer use it are removed.
"""

from collections.abc import Collection

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.finalizers import set_finalizers
from steward.runtime.plan.steps import Patch

PREFIX = "multigres.com/in-use-by-"


def cluster_finalizer(cluster: str) -> str:
    return f"{PREFIX}{cluster}"


def desired_finalizers(meta: ObjectMeta, users: Collection[str]) -> tuple[str, ...]:
    desired = {cluster_finalizer(cluster) for cluster in users}
    kept = [name for name in meta.finalizers if not name.startswith(PREFIX) or name in desired]
    added = [] if meta.deletion_timestamp is not None else sorted(desired - set(kept))
    return (*kept, *added)


def finalizer_steps(ref: Ref, meta: ObjectMeta, users: Collection[str]) -> tuple[Patch, ...]:
    """One patch for all clusters, conditional on the resourceVersion: no finalizer of others gets lost."""
    desired = desired_finalizers(meta, users)
    if desired == meta.finalizers:
        return ()
    return (set_finalizers(ref, meta, desired),)
