"""Whether the topology server has, or may have, records of a cluster, as its status says."""

from msgspec.structs import replace

from steward.kube.objects.conditions import Condition, find_condition
from steward.multigres import names
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import (
    TOPOLOGY_REGISTERED,
    read_conditions,
    topology_waiting_condition,
)
from steward.multigres.views import ClusterView


def not_yet_registered(cluster: ClusterView, resolved: ResolvedCluster) -> tuple[Condition, ...]:
    """Includes TopologyRegistered=False in the initial status, to save a second status write."""
    registered = find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)
    if registered is not None or resolved.topo.etcd is None:
        return ()
    waiting = topology_waiting_condition(names.global_topo(cluster.metadata.name))
    return (replace(waiting, observed_generation=cluster.metadata.generation),)


def was_never_registered(cluster: ClusterView) -> bool:
    """With an external topology server. A cluster whose server the operator runs has the condition from its initial
    status on: its records end with the server, and nothing waits for them."""
    return find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED) is None
