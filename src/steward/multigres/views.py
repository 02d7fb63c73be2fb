"""Fields of each kind that the operator reads. Fields that are not declared here are not decoded.

Specs that users write are kept as dictionaries and decoded when they are used: an object that an older schema accepted
must lead to a message in its status, not to a missing object in the cache. Specs of children are decoded at once.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.cell import CellSpec, CellStatus
from steward.multigres.api.cluster_status import MultigresClusterStatus
from steward.multigres.api.multigres_backup import MultigresBackupSpec, MultigresBackupStatus
from steward.multigres.api.shard import ShardSpec, ShardStatus
from steward.multigres.api.tablegroup import TableGroupSpec, TableGroupStatus
from steward.multigres.api.toposerver import TopoServerSpec, TopoServerStatus


class ClusterView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: dict[str, Any] = {}
    status: MultigresClusterStatus = msgspec.field(default_factory=MultigresClusterStatus)


class TopoServerView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: TopoServerSpec
    status: TopoServerStatus = msgspec.field(default_factory=TopoServerStatus)


class CellView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: CellSpec
    status: CellStatus = msgspec.field(default_factory=CellStatus)


class TableGroupView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: TableGroupSpec
    status: TableGroupStatus = msgspec.field(default_factory=TableGroupStatus)


class ShardView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: ShardSpec
    status: ShardStatus = msgspec.field(default_factory=ShardStatus)


class MultigresBackupView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: MultigresBackupSpec
    status: MultigresBackupStatus = msgspec.field(default_factory=MultigresBackupStatus)


class TemplateView(Struct, frozen=True):
    """A CoreTemplate, CellTemplate or ShardTemplate."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}


class RevisionData(Struct, frozen=True):
    """The content of a template as the operator recorded it."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    generation: int = 0
    spec: dict[str, Any] = {}


class RevisionView(Struct, frozen=True):
    """A ControllerRevision with the content of a template."""

    metadata: ObjectMeta
    revision: int = 0
    data: RevisionData = RevisionData()


class WorkloadStatus(Struct, frozen=True, rename="camel", gc=False):
    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""


class SelectorView(Struct, frozen=True, rename="camel"):
    match_labels: Mapping[str, str] = {}


class WorkloadSpec(Struct, frozen=True, rename="camel", gc=False):
    replicas: int = 1
    selector: SelectorView = SelectorView()


class WorkloadView(Struct, frozen=True, gc=False):
    """A Deployment."""

    metadata: ObjectMeta
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class ClaimRetention(Struct, frozen=True, rename="camel", gc=False):
    when_deleted: str = "Retain"
    when_scaled: str = "Retain"


class ClaimTemplateSpec(Struct, frozen=True, rename="camel"):
    access_modes: tuple[str, ...] = ()
    resources: Mapping[str, Any] = {}
    storage_class_name: str = ""
    volume_mode: str = "Filesystem"


class ClaimTemplateView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: ClaimTemplateSpec = ClaimTemplateSpec()


class StatefulSetSpec(Struct, frozen=True, rename="camel"):
    """Replicas, and the fields that the API server treats as immutable."""

    replicas: int = 1
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    selector: SelectorView = SelectorView()
    volume_claim_templates: tuple[ClaimTemplateView, ...] = ()
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()


class StatefulSetView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: StatefulSetSpec = StatefulSetSpec()
    status: WorkloadStatus = WorkloadStatus()


class ContainerState(Struct, frozen=True, rename="camel"):
    reason: str = ""
    message: str = ""
    exit_code: int = 0


class ContainerStates(Struct, frozen=True, rename="camel"):
    waiting: ContainerState | None = None
    terminated: ContainerState | None = None


class ContainerStatus(Struct, frozen=True, rename="camel"):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerStates = ContainerStates()
    last_state: ContainerStates = ContainerStates()


class PodCondition(Struct, frozen=True, rename="camel"):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class PodStatus(Struct, frozen=True, rename="camel"):
    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    pod_ip: str = msgspec.field(default="", name="podIP")
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class PodView(Struct, frozen=True):
    metadata: ObjectMeta
    status: PodStatus = PodStatus()


class ServiceSpec(Struct, frozen=True, rename="camel", gc=False):
    external_ips: tuple[str, ...] = msgspec.field(default=(), name="externalIPs")


class LoadBalancerIngress(Struct, frozen=True, gc=False):
    ip: str = ""
    hostname: str = ""


class LoadBalancerStatus(Struct, frozen=True, gc=False):
    ingress: tuple[LoadBalancerIngress, ...] = ()


class ServiceStatus(Struct, frozen=True, rename="camel", gc=False):
    load_balancer: LoadBalancerStatus = LoadBalancerStatus()


class ServiceView(Struct, frozen=True, gc=False):
    metadata: ObjectMeta
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class ClaimSpec(Struct, frozen=True, rename="camel"):
    storage_class_name: str = ""
    access_modes: tuple[str, ...] = ()
    resources: Mapping[str, Any] = {}


class ClaimCondition(Struct, frozen=True, rename="camel"):
    type: str = ""
    status: str = ""
    message: str = ""


class ClaimStatus(Struct, frozen=True, rename="camel"):
    phase: str = ""
    capacity: Mapping[str, Any] = {}
    conditions: tuple[ClaimCondition, ...] = ()


class ClaimView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()
