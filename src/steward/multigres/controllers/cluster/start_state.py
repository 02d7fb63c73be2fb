"""Whether the children of a cluster have yet to be created, as the cluster itself shows."""

from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import FINALIZER, GO_FINALIZERS
from steward.multigres.views import ClusterView

INITIALIZING = "Initializing"


def is_new(cluster: ClusterView) -> bool:
    """A finalizer is added before the first child is created."""
    return not {FINALIZER, *GO_FINALIZERS}.intersection(cluster.metadata.finalizers)


def is_waiting_to_start(cluster: ClusterView) -> bool:
    """Whether a new cluster has its initial status, so that nothing is left to report before it starts."""
    status = cluster.status
    is_reported = or_default(status.observed_generation, 0) == cluster.metadata.generation
    return is_new(cluster) and is_reported and or_default(status.phase, "") == INITIALIZING
