"""Cell: keeps the gateways of one failure domain, and its own topology server where it has one.

It goes gateways first, then what the shards have in it, then its record, and its own topology server last.
"""

from steward.kube.objects.conditions import FALSE, find_condition
from steward.kube.objects.kinds import DEPLOYMENT, Key, Manifest, Ref
from steward.multigres import names
from steward.multigres.cache_rules import CELL as KIND
from steward.multigres.controllers.cell.deletion import CellRemoval
from steward.multigres.controllers.common.child_triggers import PODS, owned
from steward.multigres.controllers.common.context import ControllerContext, stall_of
from steward.multigres.deletion.annotations import STEERING, held
from steward.multigres.objects import children, gateway
from steward.multigres.objects.metadata import CELL, CLUSTER, COMPONENT, Owner
from steward.multigres.resolution.layers import given
from steward.multigres.status.conditions import (
    TOPOLOGY_REGISTERED,
    Look,
    Piece,
    Report,
    Stall,
    assess,
    child_piece,
    common_status,
    read_conditions,
    workload_piece,
)
from steward.multigres.status.pod_problems import has_ended
from steward.multigres.views import CellView, ClusterView, PodView, TopoServerView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import annotations, own_object
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.reconcile import DONE, Result

GATEWAYS = "gateways"
NO_RECORD = "the topology server does not hold the cell's record yet"


class CellReconciler:
    def __init__(self, context: ControllerContext, removal: CellRemoval) -> None:
        rules = context.rules
        self.context = context
        self.removal = removal
        self.cells = context.store(rules.cell)
        self.clusters = context.store(rules.cluster)
        self.servers = context.store(rules.topo_server)
        self.deployments = context.store(rules.deployment)
        self.pods = context.store(rules.pod)
        self.pods.add_index(GATEWAYS, lambda pod: [str(key) for key in _cell_of(pod)])
        self.kept = (rules.topo_server, rules.deployment, rules.service)
        for rule in self.kept:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "cell",
            self,
            (
                For(rules.cell, when=own_object(*STEERING)),
                *owned(self.kept),
                Watches(rules.pod, to=_cell_of, patience=PODS),
                Watches(rules.cluster, to=self._cells_of, when=annotations(*STEERING)),
            ),
        )

    def _cells_of(self, cluster: ClusterView) -> list[Key]:
        meta = cluster.metadata
        own = (
            seen for seen in self.cells.list(meta.namespace) if seen.metadata.labels.get(CLUSTER) == meta.name
        )
        return [Key(meta.namespace, seen.metadata.name) for seen in own]

    async def reconcile(self, key: Key) -> Result:
        cell = self.cells.get(key)
        if cell is None:
            return DONE
        if cell.metadata.deletion_timestamp is not None:
            plan = await self.removal.leave(cell, self._gateway_pods(cell))
            return await self.removal.farewell.execute(plan, Ref(KIND, key))
        inputs = (cell.metadata.uid, cell.metadata.labels, cell.spec)
        desired = self.context.drafts.of(Ref(KIND, key), inputs, lambda: _objects(cell))
        strangers = await self.context.strangers(desired)
        kept = () if strangers else self.context.keep(cell.metadata, desired, self.kept)
        first = held(Ref(KIND, key), cell.metadata)
        await self.context.executor.execute((*first, *kept), Ref(KIND, key))
        # After it: what was just applied is in the caches, and no status calls gateways ready that have yet to change.
        status = self._status(cell, self._pieces(cell, desired, await self._look(cell)), stall_of(strangers))
        told = self.context.report(Ref(KIND, key), cell, status)
        return (await self.context.executor.execute(told, Ref(KIND, key))).result

    def _gateway_pods(self, cell: CellView) -> list[PodView]:
        return self.pods.by_index(GATEWAYS, str(_gateway_key(cell)))

    async def _look(self, cell: CellView) -> Look:
        """What the gateways' pods tell; and while they wait, whether any node stands where they are meant to be."""
        look = self.context.look(self._gateway_pods(cell))
        if not look.hint:
            return look
        label = await self.context.nodes.lacking(given(cell.spec.zone, ""), given(cell.spec.region, ""))
        return look._replace(hint=f"no node carries {label}: {look.hint}") if label else look

    def _pieces(self, cell: CellView, desired: list[Manifest], look: Look) -> list[Piece]:
        """The gateways first."""
        return [
            self._gateways(cell, desired, look),
            *self._local_topo(cell, desired),
            *self.context.going(desired),
        ]

    def _status(self, cell: CellView, pieces: list[Piece], stall: Stall | None) -> Manifest:
        gateways, health = pieces[0], assess(pieces, stall)
        report = Report(cell.metadata, cell.status.conditions, self.context.now())
        cluster = cell.metadata.labels.get(CLUSTER, "")
        return {
            **common_status(report, health),
            "gatewayReplicas": gateways.desired,
            "gatewayReadyReplicas": gateways.ready,
            "gatewayServiceName": names.gateway_service(cluster, cell.spec.name),
        }

    def _gateways(self, cell: CellView, desired: list[Manifest], look: Look) -> Piece:
        deployment = next(manifest for manifest in desired if manifest["kind"] == DEPLOYMENT.kind)
        name = deployment["metadata"]["name"]
        seen = self.deployments.get(Key(cell.metadata.namespace, name))
        if self._lacks_record(cell) and has_ended(self._gateway_pods(cell)):
            look = without_record(look)
        return workload_piece(f"gateways {name}", deployment["spec"]["replicas"], seen, look)

    def _lacks_record(self, cell: CellView) -> bool:
        """Whether the cluster says so: a young one, whose topology server comes up beside it, says nothing yet."""
        cluster = self.clusters.get(Key(cell.metadata.namespace, cell.metadata.labels.get(CLUSTER, "")))
        if cluster is None:
            return False
        told = find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)
        return told is not None and told.status == FALSE

    def _local_topo(self, cell: CellView, desired: list[Manifest]) -> list[Piece]:
        servers = [manifest["metadata"]["name"] for manifest in desired if manifest["kind"] == "TopoServer"]
        return [server_piece(name, self.servers.get(Key(cell.metadata.namespace, name))) for name in servers]


def without_record(look: Look) -> Look:
    """A gateway ends, again and again, until the topology server holds the record of its cell."""
    if look.trouble:
        return look._replace(trouble=f"{look.trouble}; {NO_RECORD}, and gateways end without it")
    return look._replace(hint=look.hint or NO_RECORD)


def server_piece(name: str, server: TopoServerView | None) -> Piece:
    if server is None:
        return child_piece(f"topology server {name}", None, [], 0)
    status = server.status
    return child_piece(
        f"topology server {name}", server.metadata, status.conditions, status.observed_generation
    )


def _objects(cell: CellView) -> list[Manifest]:
    meta = cell.metadata
    owner = Owner("Cell", meta.namespace, meta.name, meta.uid)
    cluster = meta.labels.get(CLUSTER, "")
    local = children.local_topo_server(owner, cluster, cell.spec)
    return [*([] if local is None else [local]), *gateway.cell_objects(owner, cluster, cell.spec)]


def _cell_of(pod: PodView) -> list[Key]:
    """The Cell whose gateway a pod is. Its name follows from the pod's labels, so that no lookup is needed."""
    labels = pod.metadata.labels
    if labels.get(COMPONENT) != gateway.COMPONENT or CELL not in labels:
        return []
    return [Key(pod.metadata.namespace, names.cell(labels.get(CLUSTER, ""), labels[CELL]))]


def _gateway_key(cell: CellView) -> Key:
    cluster = cell.metadata.labels.get(CLUSTER, "")
    return Key(cell.metadata.namespace, names.cell(cluster, given(cell.spec.name, "")))
