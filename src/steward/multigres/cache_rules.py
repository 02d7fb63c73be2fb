"""Which objects Steward keeps in memory: its own, wherever they are, and in its own namespace everything.

In a large cluster thousands of Secrets, Services and StatefulSets belong to others: a label selector keeps them off the
wire. ConfigMaps are watched all, because users bring their own, but only a hash of their data is kept.
"""

from collections.abc import Mapping
from typing import Any

from steward.kube.cache.hashed_views import Hashed, with_hash
from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import Metadata
from steward.multigres.api.group import API_VERSION
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY
from steward.multigres.views import (
    CellView,
    ClaimView,
    ClusterView,
    PodView,
    RevisionView,
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

OURS = f"{MANAGED_BY}={FIELD_MANAGER}"
# Revisions of StatefulSets carry the labels of their pods, and ours among them.
OF_TEMPLATES = f"{OURS},multigres.com/template-kind"


class Rules:
    """The cache rules of the operator, for the namespaces that it looks after."""

    def __init__(self, own_namespace: str, namespaces: tuple[str, ...] = ()) -> None:
        everywhere = namespaces or (EVERY_NAMESPACE,)
        written: Mapping[str, str] = dict.fromkeys(everywhere, "")
        ours: Mapping[str, str] = dict.fromkeys(everywhere, OURS)
        safe_zone = {**ours, own_namespace: ""} if own_namespace else ours
        self.cluster = CacheRule(CLUSTER, ClusterView, written, owned_by=FIELD_MANAGER)
        self.core_template = CacheRule(CORE_TEMPLATE, TemplateView, written)
        self.cell_template = CacheRule(CELL_TEMPLATE, TemplateView, written)
        self.shard_template = CacheRule(SHARD_TEMPLATE, TemplateView, written)
        self.revision = CacheRule(
            kinds.CONTROLLER_REVISION,
            RevisionView,
            dict.fromkeys(everywhere, OF_TEMPLATES),
            owned_by=FIELD_MANAGER,
        )
        self.storage_class = CacheRule(kinds.STORAGE_CLASS, Metadata, {EVERY_NAMESPACE: ""})
        self.topo_server = CacheRule(TOPO_SERVER, TopoServerView, written, owned_by=FIELD_MANAGER)
        self.cell = CacheRule(CELL, CellView, written, owned_by=FIELD_MANAGER)
        self.table_group = CacheRule(TABLE_GROUP, TableGroupView, written, owned_by=FIELD_MANAGER)
        self.shard = CacheRule(SHARD, ShardView, written, owned_by=FIELD_MANAGER)
        self.deployment = CacheRule(kinds.DEPLOYMENT, WorkloadView, ours, owned_by=FIELD_MANAGER)
        self.stateful_set = CacheRule(kinds.STATEFUL_SET, StatefulSetView, safe_zone, owned_by=FIELD_MANAGER)
        self.service = CacheRule(kinds.SERVICE, Metadata, safe_zone, owned_by=FIELD_MANAGER)
        self.secret = CacheRule(kinds.SECRET, Metadata, safe_zone, owned_by=FIELD_MANAGER)
        self.budget = CacheRule(kinds.POD_DISRUPTION_BUDGET, Metadata, ours, owned_by=FIELD_MANAGER)
        self.claim = CacheRule(kinds.PERSISTENT_VOLUME_CLAIM, ClaimView, ours, owned_by=FIELD_MANAGER)
        self.pod = CacheRule(kinds.POD, PodView, ours)
        self.config_map = CacheRule(
            kinds.CONFIG_MAP, Hashed, written, owned_by=FIELD_MANAGER, reduce=with_hash
        )

    def of_objects(self) -> tuple[CacheRule[Any], ...]:
        """The kinds that Steward applies below a Shard."""
        return (
            self.deployment,
            self.stateful_set,
            self.service,
            self.config_map,
            self.budget,
            self.claim,
        )
