"""The multigres operator: a controller for each kind and one for the topology records, on one ground."""

from steward.multigres.controllers import certificates, topology
from steward.multigres.controllers.cell import CellReconciler
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.cluster import ClusterReconciler
from steward.multigres.controllers.ground import Ground
from steward.multigres.controllers.shard import ShardReconciler
from steward.multigres.controllers.tablegroup import TableGroupReconciler
from steward.multigres.controllers.topology import TopologyReconciler
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.runtime.manager import Manager
from steward.runtime.settings import Settings

NAME = "multigres-operator"


def set_up(manager: Manager, settings: Settings) -> None:
    ground = Ground(manager, settings)
    reconcilers = (
        ClusterReconciler(ground),
        TopoServerReconciler(ground),
        CellReconciler(ground),
        TableGroupReconciler(ground),
        ShardReconciler(ground),
        CertificateReconciler(ground, manager.carrier(certificates.FIELD_MANAGER)),
        TopologyReconciler(ground, manager.carrier(topology.FIELD_MANAGER), settings),
    )
    for reconciler in reconcilers:
        manager.add(reconciler.controller())
