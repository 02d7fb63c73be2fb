"""Finds the topology record of each pod. Pure."""

from collections.abc import Iterable, Sequence

from steward.multigres.topology.store_records import SHUTDOWN, PoolerRecord


def records_by_pod(poolers: Sequence[PoolerRecord], pods: Iterable[str]) -> dict[str, PoolerRecord]:
    """A pod may have older records; one of a pooler that has not shut down is the newer."""
    found = {}
    for pod in pods:
        own = [record for record in poolers if record.belongs_to_pod(pod)]
        if own:
            found[pod] = max(own, key=lambda record: (record.lifecycle != SHUTDOWN, record.is_primary))
    return found
