"""Fields of a cluster's status that summarize its cells, databases, retained volume claims and external address."""

from functools import partial
from typing import Any

from msgspec import UNSET

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, ObjectMeta
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.common.child_triggers import CHILDREN, PODS
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import ComponentStatus, child_component
from steward.multigres.status.external_gateway import (
    ExternalAddresses,
    ExternalGatewayState,
    external_condition,
    external_endpoint,
)
from steward.multigres.status.retained_claims import cluster_claims
from steward.multigres.views import CellView, ClaimView, ClusterView, ServiceView, ShardView, TableGroupView
from steward.runtime.controller.predicates import selected_fields
from steward.runtime.controller.triggers import Watches


class ClusterSummaries:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self._cells = context.store(rules.cell)
        self._groups = context.store(rules.table_group)
        self._services = context.store(rules.service)
        self._servers = context.store(rules.topo_server)
        self._shards = context.store(rules.shard)
        self._claims = context.store(rules.claim)
        self._claims.add_label_index(CLUSTER_LABEL)

    def fields(self, cluster: ClusterView, resolved: ResolvedCluster) -> dict[str, Any]:
        endpoint = external_endpoint(self._external_addresses(cluster), gateway.POSTGRES.number)
        return {
            "cells": self._cell_summaries(cluster, resolved),
            "databases": self._database_summaries(cluster, resolved),
            "retainedClaims": self._retained_claims(cluster),
            **({"externalEndpoint": endpoint} if endpoint else {}),
        }

    def external_conditions(self, cluster: ClusterView, spec: MultigresClusterSpec) -> list[Condition]:
        """None while the gateways are not exposed."""
        if spec.external_gateway is UNSET or not spec.external_gateway.enabled:
            return []
        ready = any(
            or_default(cell.status.gateway_ready_replicas, 0)
            for cell in self._cells.list(cluster.metadata.namespace)
            if cell.metadata.labels.get(CLUSTER_LABEL) == cluster.metadata.name
        )
        service = names.cluster_gateway(cluster.metadata.name)
        addresses, generation = self._external_addresses(cluster), cluster.metadata.generation
        return [external_condition(ExternalGatewayState(service, addresses, ready, generation))]

    def _external_addresses(self, cluster: ClusterView) -> ExternalAddresses:
        meta = cluster.metadata
        live: ServiceView | None = self._services.get(Key(meta.namespace, names.cluster_gateway(meta.name)))
        if live is None:
            return ExternalAddresses()
        ingress = live.status.load_balancer.ingress
        return ExternalAddresses(
            live.spec.external_ips, tuple(entry.ip or entry.hostname for entry in ingress)
        )

    def _retained_claims(self, cluster: ClusterView) -> list[str]:
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        claims = [
            claim.metadata
            for claim in self._claims.by_index(CLUSTER_LABEL, name)
            if claim.metadata.namespace == namespace
        ]
        servers = {server.metadata.name for server in self._servers.list(namespace)}
        return cluster_claims(claims, partial(self._listed_claims, cluster.metadata), servers)

    def _listed_claims(self, cluster: ObjectMeta, shard: str) -> list[str] | None:
        live: ShardView | None = self._shards.get(Key(cluster.namespace, shard))
        if live is None or live.metadata.labels.get(CLUSTER_LABEL) != cluster.name:
            return None
        return _listed_claims(live)

    def _cell_summaries(self, cluster: ClusterView, resolved: ResolvedCluster) -> dict[str, Any]:
        summaries = {}
        for cell in resolved.cells:
            name = names.cell(cluster.metadata.name, cell.name)
            live = self._cells.get(Key(cluster.metadata.namespace, name))
            ready = 0 if live is None else or_default(live.status.gateway_ready_replicas, 0)
            component = live_component(f"cell {cell.name}", live)
            summaries[cell.name] = {"ready": component.is_ready, "gatewayReplicas": ready}
        return summaries

    def _database_summaries(self, cluster: ClusterView, resolved: ResolvedCluster) -> dict[str, Any]:
        summaries = {}
        for database in resolved.databases:
            total = sum(len(group.shards) for group in database.groups)
            ready = sum(self._ready_shards(cluster, group.database, group.name) for group in database.groups)
            summaries[database.name] = {"readyShards": ready, "totalShards": total}
        return summaries

    def _ready_shards(self, cluster: ClusterView, database: str, group: str) -> int:
        name = names.table_group(cluster.metadata.name, database, group)
        live = self._groups.get(Key(cluster.metadata.namespace, name))
        # A status of an older generation does not count.
        if live is None or or_default(live.status.observed_generation, 0) < live.metadata.generation:
            return 0
        return int(or_default(live.status.ready_shards, 0))


def live_component(name: str, live: CellView | TableGroupView | None) -> ComponentStatus:
    if live is None:
        return child_component(name, None, [], 0)
    return child_component(name, live.metadata, live.status.conditions, live.status.observed_generation)


def retained_claim_triggers(rules: MultigresCacheRules) -> tuple[Watches[Any], ...]:
    """A Shard that is gone leaves its claims to the cluster; a claim that is gone leaves the list."""
    return (
        Watches(rules.shard, to=_cluster_of, when=selected_fields(_listed_claims), debounce=CHILDREN),
        Watches(rules.claim, to=_cluster_of, when=_is_deleted, debounce=PODS),
    )


def _listed_claims(shard: ShardView) -> list[str]:
    return or_default(shard.status.retained_claims, [])


def _is_deleted(change: ObjectChange[ClaimView]) -> bool:
    return change.new is None


def _cluster_of(live: HasMetadata) -> list[Key]:
    cluster = live.metadata.labels.get(CLUSTER_LABEL)
    return [Key(live.metadata.namespace, cluster)] if cluster else []
