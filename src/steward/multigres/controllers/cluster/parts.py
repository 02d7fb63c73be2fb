"""Finds all objects of a cluster that is being deleted, with and without owner references."""

from collections.abc import Iterable, Sequence
from typing import Any

from steward.kube.client.client import ListQuery
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    SECRET,
    SERVICE,
    STATEFUL_SET,
    Kind,
    Ref,
)
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta, key_of
from steward.multigres.cache_rules import CELL, MANAGED_SELECTOR, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.graceful_deletion import GracefulDeletion, controls
from steward.multigres.deletion.cluster_order import OwnerlessWorkloads, RemainingObject, RemainingObjects
from steward.multigres.deletion.draining import DrainingWorkload, DrainStage
from steward.multigres.deletion.ownerless_objects import is_ownerless_part
from steward.multigres.objects import etcd, gateway, multiadmin, orchestrator, pool
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL

OWNED_REST = (DEPLOYMENT, SERVICE, SECRET)
OWNERLESS_REST = (SERVICE, SECRET, CONFIG_MAP, POD_DISRUPTION_BUDGET)
"""Kinds that end last. Deployments without a controller are drained before."""
ADMIN_COMPONENTS = (multiadmin.COMPONENT, multiadmin.WEB_COMPONENT)


class ClusterParts:
    def __init__(self, context: MultigresContext, graceful_deletion: GracefulDeletion) -> None:
        rules = context.rules
        self._context = context
        self._graceful_deletion = graceful_deletion
        children = (rules.cell, rules.table_group, rules.shard, rules.topo_server)
        workloads = (rules.deployment, rules.stateful_set, rules.pod)
        others = (rules.service, rules.secret, rules.config_map, rules.budget)
        self._stores = {rule.kind: context.store(rule) for rule in (*children, *workloads, *others)}

    def remaining(self, cluster: ObjectMeta) -> RemainingObjects:
        gateways = [
            part
            for part in self._labelled(cluster, DEPLOYMENT)
            if part.live.metadata.labels.get(COMPONENT_LABEL) == gateway.COMPONENT
        ]
        return RemainingObjects(
            self._parts(cluster, CELL),
            gateways,
            self._parts(cluster, TABLE_GROUP),
            self._labelled(cluster, SHARD),
            self._parts(cluster, TOPO_SERVER),
            [
                *(part for kind in OWNED_REST for part in self._owned(cluster, kind)),
                *(part for kind in OWNERLESS_REST for part in self._ownerless(cluster, kind)),
            ],
            self._ownerless_workloads(cluster),
        )

    def children(self, cluster: ObjectMeta) -> list[HasMetadata]:
        """All Cells, TableGroups and TopoServers with the label of the cluster."""
        kinds = (CELL, TABLE_GROUP, TOPO_SERVER)
        return [part.live for kind in kinds for part in self._labelled(cluster, kind)]

    async def ownerless_revisions(self, cluster: ObjectMeta) -> list[RemainingObject]:
        """What Deployments and StatefulSets keep of their revisions, read from the API server: it is not cached."""
        selector = f"{MANAGED_SELECTOR},{CLUSTER_LABEL}={cluster.name}"
        query = ListQuery(namespace=cluster.namespace, label_selector=selector)
        client, found = self._context.client.metadata_only(), []
        for kind in (REPLICA_SET, CONTROLLER_REVISION):
            revisions = (await client.list(kind, query, Metadata)).items
            ownerless = (live for live in revisions if is_ownerless_part(kind, live.metadata, cluster.name))
            found += _sorted_by_name(kind, ownerless)
        return found

    def _parts(self, cluster: ObjectMeta, kind: Kind) -> list[RemainingObject]:
        return [*self._owned(cluster, kind), *self._ownerless(cluster, kind)]

    def _owned(self, cluster: ObjectMeta, kind: Kind) -> list[RemainingObject]:
        owned = self._stores[kind].by_owner(cluster.uid)
        return _sorted_by_name(kind, (live for live in owned if controls(cluster, live)))

    def _ownerless(self, cluster: ObjectMeta, kind: Kind) -> list[RemainingObject]:
        objects = self._stores[kind].list(cluster.namespace)
        return _sorted_by_name(
            kind, (live for live in objects if is_ownerless_part(kind, live.metadata, cluster.name))
        )

    def _labelled(self, cluster: ObjectMeta, kind: Kind) -> list[RemainingObject]:
        """Objects of the cluster by label: owner references of grandchildren do not lead to the cluster."""
        objects = self._stores[kind].list(cluster.namespace)
        labelled = (live for live in objects if live.metadata.labels.get(CLUSTER_LABEL) == cluster.name)
        return _sorted_by_name(kind, labelled)

    def _ownerless_workloads(self, cluster: ObjectMeta) -> OwnerlessWorkloads:
        grace = self._context.grace
        found = [part for kind in (DEPLOYMENT, STATEFUL_SET, POD) for part in self._ownerless(cluster, kind)]
        return OwnerlessWorkloads(
            self._stage(found, (gateway.COMPONENT,), grace.default_seconds),
            self._stage(found, (orchestrator.COMPONENT,), grace.default_seconds),
            self._stage(found, (pool.COMPONENT,), grace.pooler_seconds),
            self._stage(found, (etcd.COMPONENT,), grace.default_seconds),
            self._stage(found, ADMIN_COMPONENTS, grace.default_seconds),
        )

    def _stage(
        self, found: Sequence[RemainingObject], components: Sequence[str], seconds: float
    ) -> DrainStage:
        parts = [part for part in found if part.live.metadata.labels.get(COMPONENT_LABEL) in components]
        workloads = [self._draining(part) for part in parts if part.ref.kind != POD]
        return DrainStage(workloads, seconds, [_view(part) for part in parts if part.ref.kind == POD])

    def _draining(self, part: RemainingObject) -> DrainingWorkload:
        pods = self._stores[POD].list(part.ref.key.namespace)
        return self._graceful_deletion.draining_workload(part.ref.kind, _view(part), pods)


def _view(part: RemainingObject) -> Any:
    """The cached view, whose type follows from the kind."""
    return part.live


def _sorted_by_name(kind: Kind, objects: Iterable[Any]) -> list[RemainingObject]:
    ordered = sorted(objects, key=lambda live: str(live.metadata.name))
    return [RemainingObject(Ref(kind, key_of(live)), live) for live in ordered]
