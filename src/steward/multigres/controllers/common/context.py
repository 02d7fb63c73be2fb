"""The dependencies that the multigres controllers share."""

import asyncio
import os
from typing import Any

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Kind, Ref
from steward.multiadmin.client import MultiadminClient
from steward.multigres.cache_rules import CELL, CLUSTER, SHARD, MultigresCacheRules
from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.controllers.common.build_cache import ManifestCache, MemoizingExecutor
from steward.multigres.controllers.common.children import Children
from steward.multigres.controllers.common.foreign_objects import ForeignObjects
from steward.multigres.controllers.common.nodes import Nodes
from steward.multigres.controllers.common.pause import PausableExecutor, PausedClusters
from steward.multigres.controllers.common.pod_problems import PodProblemFinder
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.primary_switches import PrimarySwitches
from steward.multigres.controllers.common.registered_cells import RegisteredCells
from steward.multigres.controllers.common.reporting import REPORTED_KINDS, StatusReporter
from steward.multigres.controllers.common.servers import Servers
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.deletion.annotations import ENABLED, GraceSettings
from steward.multigres.deletion.draining import Connections, unknown_connections
from steward.multigres.metrics import DeletionMetrics, SwitchMetrics
from steward.multigres.objects.metadata import FIELD_MANAGER
from steward.multigres.objects.operator_telemetry import operator_telemetry
from steward.runtime.controller.start_limit import StartLimit
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.manager.context import ControllerContext
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings

RESOLVED_CLUSTERS = 64
_GLOBAL_KINDS = ("TopoServer", "Deployment", "Service", "Secret")
WRITTEN_PARTS = {
    **{("MultigresCluster", kind): "GlobalComponents" for kind in _GLOBAL_KINDS},
    ("MultigresCluster", "ControllerRevision"): "TemplateRevisions",
    ("Cell", "TopoServer"): "LocalTopoServer",
    ("Shard", "Deployment"): "Multiorch",
    ("Shard", "StatefulSet"): "Pools",
    ("Shard", "PersistentVolumeClaim"): "BackupClaims",
}
"""What the spans of writes call the written objects, where their kind alone would not say it."""


class MultigresContext(ControllerContext):
    def __init__(self, manager: Manager, settings: Settings) -> None:
        super().__init__(manager, settings)
        self._stores: dict[Kind, Store[Any]] = {}
        self.rules = MultigresCacheRules(settings.namespace, settings.namespaces)
        self.paused = PausedClusters(self._stores.get)
        executor = PausableExecutor(manager.executor(FIELD_MANAGER, parts=WRITTEN_PARTS), self.paused)
        self.executor = MemoizingExecutor(executor, self._stores.get)
        self.manifests = ManifestCache()
        self.resolved_specs: LruCache[Any, Any] = LruCache(RESOLVED_CLUSTERS)
        """The cache of `SpecResolver`."""
        self.large_resolutions = asyncio.Lock()
        """Held while a large cluster is resolved. One thread resolves all of them anyway, and a controller that waits
        for it finds the result of the controller before it: an edit triggers several at once."""
        self.cluster_specs = ClusterSpecs()
        self.deletion_metrics = DeletionMetrics(manager.metrics.registry)
        self.connections: Connections = unknown_connections
        self.grace = GraceSettings(
            settings.default_graceful_shutdown_period,
            settings.max_graceful_shutdown_period,
            settings.etcd_deletion_protection_default == ENABLED,
        )
        self.telemetry = operator_telemetry(os.environ)
        self.nodes = Nodes(self.client, self.clock)
        self.contributions = StatusContributions()
        self.servers = Servers(self.clock, self.contributions.channel(SHARD))
        self.primaries = Primaries(self.clock, self.servers.check_requests)
        self.registered_cells = RegisteredCells(self.contributions.channel(CELL))
        self.switches = PrimarySwitches(self.clock)
        self.switch_metrics = SwitchMetrics(manager.metrics.registry)
        self.multiadmin = manager.shared_service(
            MultiadminClient, lambda: MultiadminClient(Redirect(settings.connect_to))
        )
        self.pod_problems = PodProblemFinder(self.clock)
        load, wake = manager.server_load, self.contributions.channel(CLUSTER).enqueue
        self.starts = StartLimit(self.clock, lambda: load.slowdown, wake)
        self.reporter = StatusReporter(
            self.clock, self.contributions, self._finish_start, lambda: load.slowdown
        )
        self.children = Children(self.store_of)
        self.foreign_objects = ForeignObjects(self.client, self.clock, self.store_of, self.executor)

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        store = self._stores.get(rule.kind)
        if store is None:
            store = self._stores[rule.kind] = super().store(rule)
            store.subscribe(self.foreign_objects.observe)
            if rule.kind in REPORTED_KINDS:
                store.subscribe(self._forget_deleted)
            elif rule.kind == PERSISTENT_VOLUME_CLAIM:
                store.subscribe(self.pod_problems.observe_claim)
        return store

    def store_of(self, kind: Kind) -> Store[Any]:
        """The store of a kind whose rule a controller has already registered with `store`."""
        return self._stores[kind]

    def _forget_deleted(self, change: ObjectChange[Any]) -> None:
        if change.new is None:
            ref = Ref(change.kind, change.key)
            self.contributions.forget(ref)
            self.reporter.forget(ref)
            self._finish_start(ref)
            if ref.kind == CELL:
                self.registered_cells.forget(ref.key)

    def _finish_start(self, ref: Ref) -> None:
        """The object is ready or was deleted: drops what is only worth its memory while it starts."""
        self.manifests.forget(ref)
        self.executor.forget(ref)
        if ref.kind == CLUSTER:
            self.starts.finish(ref.key)
