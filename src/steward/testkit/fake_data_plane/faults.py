"""The faults of the fake data plane. A test injects them, or a user annotates a TopoServer, a Shard or a pod with them.

A fault applies to what the object stands for: the cluster of a TopoServer, all servers of a Shard, one server. A word
with `@` names one server and applies to later pods of that name, too.

kubectl annotate toposerver mini-global-topo steward.local/data-plane=silent-etcd,no-primary
kubectl annotate shard mini-postgres-default-0-inf-1a2b3c4d steward.local/data-plane=never-streams@POD
kubectl annotate toposerver mini-global-topo steward.local/data-plane-
"""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

ANNOTATION = "steward.local/data-plane"


class DataPlaneFault(Enum):
    SILENT_ETCD = "silent-etcd"  # accepts connections and answers nothing
    DEAD_ETCD = "dead-etcd"  # does not run; its data is kept
    STALE_RECORDS = "stale-records"  # writes, once, a record of a pooler without a pod in each cell
    NO_PRIMARY = "no-primary"  # the primary steps down and no other is elected
    TWO_PRIMARIES = "two-primaries"  # two poolers of a shard report to be primary
    MULTIADMIN_AWAY = "multiadmin-away"  # refuses connections
    MULTIADMIN_SILENT = "multiadmin-silent"  # accepts connections and answers nothing
    SWITCH_REFUSED = "switch-refused"  # multiadmin fails to make the primary resign
    POSTGRES_DOWN = "postgres-down"  # Postgres does not run, in a pod that is ready
    SLOW_POSTGRES = "slow-postgres"  # Postgres is starting until the fault is cleared
    NEVER_STREAMS = "never-streams"  # a standby does not receive the changes of its primary
    QUARANTINED = "quarantined"  # the pooler has given up to start its Postgres
    REPOSITORY_UNREACHABLE = "repository-unreachable"  # backups can be neither made nor listed
    WRONG_CREDENTIALS = "wrong-credentials"  # the object store denies every request
    REPOSITORY_FULL = "repository-full"  # backups can be listed and not made
    ARCHIVE_FAILS = "archive-fails"  # the WAL that a backup needs is not archived
    BACKUP_FAILS = "backup-fails"  # pgBackRest fails
    DAMAGED_BACKUPS = "damaged-backups"  # verification finds problems


DataPlaneFaults = frozenset[DataPlaneFault]
NO_FAULTS: DataPlaneFaults = frozenset()


class FaultWord(NamedTuple):
    """A fault, and the server that it is limited to; "" if it is limited to none."""

    fault: DataPlaneFault
    server: str = ""


FaultWords = frozenset[FaultWord]

_BY_NAME = {fault.value: fault for fault in DataPlaneFault}


def parse_faults(annotations: Mapping[str, str]) -> tuple[FaultWords, list[str]]:
    """The faults that the annotation names, and its words that name none."""
    words = [word.strip() for word in annotations.get(ANNOTATION, "").split(",") if word.strip()]
    parts = [word.partition("@") for word in words]
    known = frozenset(FaultWord(_BY_NAME[name], server) for name, _, server in parts if name in _BY_NAME)
    return known, [word for word in words if word.partition("@")[0] not in _BY_NAME]


def faults_without_server(words: Iterable[FaultWord]) -> DataPlaneFaults:
    return frozenset(word.fault for word in words if not word.server)


def faults_of_server(words: Iterable[FaultWord], server: str) -> DataPlaneFaults:
    """The faults of one server: its own ones, and those that are limited to none."""
    return frozenset(word.fault for word in words if word.server in ("", server))
