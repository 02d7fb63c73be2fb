"""The dependencies that the multigres controllers share."""

from typing import Any

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Kind, Ref
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.common.build_cache import ManifestCache, MemoizingExecutor
from steward.multigres.controllers.common.children import Children
from steward.multigres.controllers.common.foreign_objects import ForeignObjects
from steward.multigres.controllers.common.nodes import Nodes
from steward.multigres.controllers.common.pod_problems import PodProblemFinder
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.reporting import REPORTED_KINDS, StatusReporter
from steward.multigres.controllers.common.status_contributions import StatusContributions
from steward.multigres.deletion.annotations import ENABLED, GraceSettings
from steward.multigres.deletion.draining import Connections, unknown_connections
from steward.multigres.metrics import DeletionMetrics
from steward.multigres.objects.metadata import FIELD_MANAGER
from steward.runtime.manager.context import ControllerContext
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings


class MultigresContext(ControllerContext):
    def __init__(self, manager: Manager, settings: Settings) -> None:
        super().__init__(manager, settings)
        self._stores: dict[Kind, Store[Any]] = {}
        self.rules = MultigresCacheRules(settings.namespace, settings.namespaces)
        self.executor = MemoizingExecutor(manager.executor(FIELD_MANAGER), self._stores.get)
        self.manifests = ManifestCache()
        self.deletion_metrics = DeletionMetrics(manager.metrics.registry)
        self.connections: Connections = unknown_connections
        self.grace = GraceSettings(
            settings.default_graceful_shutdown_period,
            settings.max_graceful_shutdown_period,
            settings.etcd_deletion_protection_default == ENABLED,
        )
        self.primaries = Primaries(self.clock)
        self.nodes = Nodes(self.client, self.clock)
        self.contributions = StatusContributions()
        self.pod_problems = PodProblemFinder(self.clock)
        self.reporter = StatusReporter(self.clock, self.contributions, on_ready=self._forget_builds)
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
            self._forget_builds(ref)

    def _forget_builds(self, ref: Ref) -> None:
        self.manifests.forget(ref)
        self.executor.forget(ref)
