"""What Steward reads of each kind, and nothing else: what is not declared here never becomes a Python object.

What users write is kept as it came and typed when it is used: an object that an older schema let in must end as a
sentence in its own status, not as a hole in the cache. What Steward writes itself is typed at once.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from steward.kube.meta import ObjectMeta
from steward.multigres.api.cell import CellSpec, CellStatus
from steward.multigres.api.cluster import MultigresClusterStatus
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


class TemplateView(Struct, frozen=True):
    """A CoreTemplate, CellTemplate or ShardTemplate."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}


class WorkloadSpec(Struct, frozen=True, rename="camel", gc=False):
    replicas: int = 1


class WorkloadStatus(Struct, frozen=True, rename="camel", gc=False):
    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""


class WorkloadView(Struct, frozen=True, gc=False):
    """A Deployment or a StatefulSet."""

    metadata: ObjectMeta
    spec: WorkloadSpec = WorkloadSpec()
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


class PodCondition(Struct, frozen=True, rename="camel"):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodStatus(Struct, frozen=True, rename="camel"):
    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class PodView(Struct, frozen=True):
    metadata: ObjectMeta
    status: PodStatus = PodStatus()


class ClaimSpec(Struct, frozen=True, rename="camel"):
    storage_class_name: str = ""
    resources: Mapping[str, Any] = {}


class ClaimStatus(Struct, frozen=True, rename="camel"):
    phase: str = ""
    capacity: Mapping[str, Any] = {}


class ClaimView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()
