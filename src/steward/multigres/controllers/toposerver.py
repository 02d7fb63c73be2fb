"""TopoServer: keeps etcd's objects and says whether its members are ready."""

from steward.kube.kinds import Key, Manifest, Ref
from steward.multigres.controllers.ground import Ground, stall_of
from steward.multigres.layers import given
from steward.multigres.objects.etcd import topo_server_objects
from steward.multigres.objects.metadata import CELL, CLUSTER, REGION, TOPO_SERVER, ZONE, Owner
from steward.multigres.rules import TOPO_SERVER as KIND
from steward.multigres.status import Report, Stall, assess, common_status, workload_piece
from steward.multigres.views import PodView, TopoServerView
from steward.runtime.controller import Controller
from steward.runtime.reconcile import DONE, Result
from steward.runtime.triggers import For, Owns, Watches

PLACE = (CELL, ZONE, REGION)


class TopoServerReconciler:
    def __init__(self, ground: Ground) -> None:
        rules = ground.rules
        self.ground = ground
        self.servers = ground.store(rules.topo_server)
        self.sets = ground.store(rules.stateful_set)
        self.pods = ground.store(rules.pod)
        self.pods.add_label_index(TOPO_SERVER)
        self.kept = (rules.stateful_set, rules.service, rules.budget)
        for rule in self.kept:
            ground.store(rule)

    def controller(self) -> Controller:
        rules = self.ground.rules
        return Controller(
            "toposerver",
            self,
            (
                For(rules.topo_server),
                *(Owns(rule) for rule in self.kept),
                Watches(rules.pod, to=_server_of),
            ),
        )

    async def reconcile(self, key: Key) -> Result:
        server = self.servers.get(key)
        if server is None or server.metadata.deletion_timestamp is not None:
            return DONE
        desired = _objects(server)
        strangers = await self.ground.strangers(desired)
        kept = () if strangers else self.ground.keep(server.metadata, desired, self.kept)
        told = self.ground.report(Ref(KIND, key), server, self._status(server, stall_of(strangers)))
        outcome = await self.ground.carrier.carry_out((*kept, *told), Ref(KIND, key))
        return outcome.result

    def _status(self, server: TopoServerView, stall: Stall | None) -> Manifest:
        meta = server.metadata
        seen = self.sets.get(Key(meta.namespace, meta.name))
        pods = [
            pod
            for pod in self.pods.by_index(TOPO_SERVER, meta.name)
            if pod.metadata.namespace == meta.namespace
        ]
        piece = workload_piece(
            f"etcd {meta.name}", given(server.spec.replicas, 3), seen, self.ground.look(pods)
        )
        health = assess([piece], stall)
        report = Report(meta, server.status.conditions, self.ground.now())
        return {
            **common_status(report, health),
            "clientService": meta.name,
            "peerService": f"{meta.name}-headless",
            "replicas": piece.desired,
            "readyReplicas": piece.ready,
        }


def _objects(server: TopoServerView) -> list[Manifest]:
    meta = server.metadata
    owner = Owner("TopoServer", meta.namespace, meta.name, meta.uid)
    place = {label: meta.labels[label] for label in PLACE if label in meta.labels}
    return topo_server_objects(owner, meta.labels.get(CLUSTER, ""), server.spec, place)


def _server_of(pod: PodView) -> list[Key]:
    meta = pod.metadata
    name = meta.labels.get(TOPO_SERVER)
    return [Key(meta.namespace, name)] if name else []
