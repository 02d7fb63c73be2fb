"""What the stand-in can be told to do wrong. Plain values: a test hands them over, or writes them on a TopoServer.

kubectl annotate toposerver mini-global-topo steward.local/data-plane=silent-etcd,no-primary
kubectl annotate toposerver mini-global-topo steward.local/data-plane-
"""

from collections.abc import Mapping
from enum import Enum

ANNOTATION = "steward.local/data-plane"


class Misbehaviour(Enum):
    SILENT_ETCD = "silent-etcd"  # accepts connections and never answers
    DEAD_ETCD = "dead-etcd"  # is not there, and its data waits for its return
    STALE_RECORDS = "stale-records"  # leaves, once, a pooler in each cell that no pod has
    NO_PRIMARY = "no-primary"  # every pooler is a replica
    TWO_PRIMARIES = "two-primaries"  # two poolers of a shard say that they lead


Misbehaviours = frozenset[Misbehaviour]
NONE: Misbehaviours = frozenset()

_BY_NAME = {each.value: each for each in Misbehaviour}


def read(annotations: Mapping[str, str]) -> tuple[Misbehaviours, list[str]]:
    """What the annotation asks for, and the words in it that mean nothing."""
    words = [word.strip() for word in annotations.get(ANNOTATION, "").split(",") if word.strip()]
    asked = frozenset(_BY_NAME[word] for word in words if word in _BY_NAME)
    return asked, [word for word in words if word not in _BY_NAME]
