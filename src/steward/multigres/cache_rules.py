"""Cache rules: the objects that the operator watches and keeps in memory.

Managed objects are watched in all namespaces, by label: a large Kubernetes cluster has thousands of foreign Secrets,
Services and StatefulSets. In the operator's own namespace all objects of some kinds are watched. ConfigMaps are watched
without a selector, because users create some of them, but only a hash of their data is kept.
"""

from collections.abc import Mapping
from typing import Any

from steward.kube.cache.hashed_views import HashedData, hash_data, reduce_to_hash
from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import Metadata
from steward.multigres.api.group import API_VERSION
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY_LABEL
from steward.multigres.objects.shard_shared import POSTGRES_CONFIG_KEY
from steward.multigres.views import (
    CellView,
    ClaimView,
    ClusterView,
    MultigresBackupView,
    PodView,
    RevisionView,
    ServiceView,
    ShardView,
    StatefulSetView,
    TableGroupView,
    TemplateView,
    TopoServerView,
    WorkloadView,
)

CLUSTER = Kind(API_VERSION, "MultigresCluster")
CORE_TEMPLATE = Kind(API_VERSION, "CoreTemplate")
CELL_TEMPLATE = Kind(API_VERSION, "CellTemplate")
SHARD_TEMPLATE = Kind(API_VERSION, "ShardTemplate")
TOPO_SERVER = Kind(API_VERSION, "TopoServer")
CELL = Kind(API_VERSION, "Cell")
TABLE_GROUP = Kind(API_VERSION, "TableGroup")
SHARD = Kind(API_VERSION, "Shard")
BACKUP = Kind(API_VERSION, "MultigresBackup")

NO_SETTINGS_HASH = hash_data({POSTGRES_CONFIG_KEY: ""})
"""Of the ConfigMap of a shard without Postgres settings: most shards have none, and nothing is read for them."""
MANAGED_SELECTOR = f"{MANAGED_BY_LABEL}={FIELD_MANAGER}"
# ControllerRevisions of StatefulSets have the labels of their pods, too; only those of templates have a template kind.
TEMPLATE_REVISION_SELECTOR = f"{MANAGED_SELECTOR},multigres.com/template-kind"


class MultigresCacheRules:
    """The cache rules of the operator for the namespaces that it watches."""

    def __init__(self, own_namespace: str, namespaces: tuple[str, ...] = ()) -> None:
        everywhere = namespaces or (EVERY_NAMESPACE,)
        everything: Mapping[str, str] = dict.fromkeys(everywhere, "")
        managed: Mapping[str, str] = dict.fromkeys(everywhere, MANAGED_SELECTOR)
        managed_or_own_namespace = {**managed, own_namespace: ""} if own_namespace else managed
        self.cluster = CacheRule(CLUSTER, ClusterView, everything, owned_by=FIELD_MANAGER)
        self.core_template = CacheRule(CORE_TEMPLATE, TemplateView, everything)
        self.cell_template = CacheRule(CELL_TEMPLATE, TemplateView, everything)
        self.shard_template = CacheRule(SHARD_TEMPLATE, TemplateView, everything)
        self.revision = CacheRule(
            kinds.CONTROLLER_REVISION,
            RevisionView,
            dict.fromkeys(everywhere, TEMPLATE_REVISION_SELECTOR),
            owned_by=FIELD_MANAGER,
        )
        self.storage_class = CacheRule(kinds.STORAGE_CLASS, Metadata, {EVERY_NAMESPACE: ""})
        self.topo_server = CacheRule(TOPO_SERVER, TopoServerView, everything, owned_by=FIELD_MANAGER)
        self.cell = CacheRule(CELL, CellView, everything, owned_by=FIELD_MANAGER)
        self.table_group = CacheRule(TABLE_GROUP, TableGroupView, everything, owned_by=FIELD_MANAGER)
        self.shard = CacheRule(SHARD, ShardView, everything, owned_by=FIELD_MANAGER)
        self.backup = CacheRule(BACKUP, MultigresBackupView, everything, owned_by=FIELD_MANAGER)
        self.deployment = CacheRule(kinds.DEPLOYMENT, WorkloadView, managed, owned_by=FIELD_MANAGER)
        self.stateful_set = CacheRule(
            kinds.STATEFUL_SET, StatefulSetView, managed_or_own_namespace, owned_by=FIELD_MANAGER
        )
        self.service = CacheRule(kinds.SERVICE, ServiceView, managed_or_own_namespace, owned_by=FIELD_MANAGER)
        self.secret = CacheRule(kinds.SECRET, Metadata, managed_or_own_namespace, owned_by=FIELD_MANAGER)
        self.budget = CacheRule(kinds.POD_DISRUPTION_BUDGET, Metadata, managed, owned_by=FIELD_MANAGER)
        self.claim = CacheRule(kinds.PERSISTENT_VOLUME_CLAIM, ClaimView, managed, owned_by=FIELD_MANAGER)
        self.pod = CacheRule(kinds.POD, PodView, managed)
        self.config_map = CacheRule(
            kinds.CONFIG_MAP, HashedData, everything, owned_by=FIELD_MANAGER, reduce=reduce_to_hash
        )

    def shard_object_rules(self) -> tuple[CacheRule[Any], ...]:
        """Rules of the kinds that the operator applies for a Shard."""
        return (
            self.deployment,
            self.stateful_set,
            self.service,
            self.config_map,
            self.budget,
            self.claim,
        )
