"""Checks whether any node has the zone or region label of a cell. Answers are cached for a short time.

Nodes are not watched: a large cluster has thousands, and they change every few seconds. An autoscaler may add the first
node of a zone later, so a missing node is a warning, never a rejection; if the check fails, there is no warning.
"""

import asyncio
from collections.abc import Iterable

from steward.kube.bounded_cache import TtlCache
from steward.kube.client.client import Client, ListQuery
from steward.kube.clock import Clock
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import NODE
from steward.multigres.objects.metadata import node_selector
from steward.multigres.resolution.resolved import ResolvedCell

CACHED_SECONDS = 30.0
TIMEOUT_SECONDS = 2.0
"""An admission review waits no longer than this for a warning."""


class Nodes:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._exists: TtlCache[str, bool] = TtlCache(clock, CACHED_SECONDS)

    async def missing_label(self, zone: str, region: str) -> str:
        """The label of the zone or region that no node has, or ""."""
        label = ",".join(f"{name}={value}" for name, value in node_selector(zone, region).items())
        return "" if not label or await self._any_node_has(label) else label

    async def warnings(self, cells: Iterable[ResolvedCell]) -> list[str]:
        cells = list(cells)
        labels = await asyncio.gather(*(self.missing_label(cell.zone, cell.region) for cell in cells))
        return [
            f"spec.cells[{index}]: no node carries {label}; pods of cell {cell.name!r} wait until one does"
            for index, (cell, label) in enumerate(zip(cells, labels, strict=True))
            if label
        ]

    async def _any_node_has(self, label: str) -> bool:
        cached = self._exists.get(label)
        if cached is not None:
            return cached
        try:
            exists = await self._client.with_timeout(TIMEOUT_SECONDS).has_any(
                NODE, ListQuery(label_selector=label)
            )
        except KubeError:
            return True
        self._exists.set(label, exists)
        return exists
