"""The faults of the fake data plane. A test injects them, or a user annotates a TopoServer with them.

kubectl annotate toposerver mini-global-topo steward.local/data-plane=silent-etcd,no-primary
kubectl annotate toposerver mini-global-topo steward.local/data-plane-
"""

from collections.abc import Mapping
from enum import Enum

ANNOTATION = "steward.local/data-plane"


class DataPlaneFault(Enum):
    SILENT_ETCD = "silent-etcd"  # accepts connections and answers nothing
    DEAD_ETCD = "dead-etcd"  # does not run; its data is kept
    STALE_RECORDS = "stale-records"  # writes, once, a record of a pooler without a pod in each cell
    NO_PRIMARY = "no-primary"  # every pooler is a replica
    TWO_PRIMARIES = "two-primaries"  # two poolers of a shard report to be primary


DataPlaneFaults = frozenset[DataPlaneFault]
NO_FAULTS: DataPlaneFaults = frozenset()

_BY_NAME = {fault.value: fault for fault in DataPlaneFault}


def parse_faults(annotations: Mapping[str, str]) -> tuple[DataPlaneFaults, list[str]]:
    """The faults that the annotation names, and its words that name none."""
    words = [word.strip() for word in annotations.get(ANNOTATION, "").split(",") if word.strip()]
    faults = frozenset(_BY_NAME[word] for word in words if word in _BY_NAME)
    return faults, [word for word in words if word not in _BY_NAME]
