"""Whether any node stands where a cell is meant to be, asked of the server and remembered for a while.

Nodes are not cached: a large cluster has thousands, and they change every few seconds. An autoscaler may bring the
first node of a zone later, so this is a word of warning, never a refusal; and who cannot find out says nothing.
"""

import asyncio
from collections.abc import Iterable

from steward.kube.client.client import Client, ListQuery
from steward.kube.clock import Clock
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import NODE
from steward.multigres.objects.metadata import node_selector
from steward.multigres.resolution.resolved import ResolvedCell

REMEMBER_SECONDS = 30.0
PATIENCE_SECONDS = 2.0
"""A review waits no longer than this for a mere warning."""


class Nodes:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._remembered: dict[str, tuple[float, bool]] = {}

    async def lacking(self, zone: str, region: str) -> str:
        """The label that no node carries, or nothing."""
        label = ",".join(f"{name}={value}" for name, value in node_selector(zone, region).items())
        return "" if not label or await self._carried(label) else label

    async def warnings(self, cells: Iterable[ResolvedCell]) -> list[str]:
        known = list(cells)
        labels = await asyncio.gather(*(self.lacking(cell.zone, cell.region) for cell in known))
        return [
            f"spec.cells[{index}]: no node carries {label}; pods of cell {cell.name!r} wait until one does"
            for index, (cell, label) in enumerate(zip(known, labels, strict=True))
            if label
        ]

    async def _carried(self, label: str) -> bool:
        until, known = self._remembered.get(label, (0.0, False))
        if self._clock.monotonic() < until:
            return known
        try:
            found = await self._client.within(PATIENCE_SECONDS).has_any(NODE, ListQuery(label_selector=label))
        except KubeError:
            return True
        self._remember(label, found)
        return found

    def _remember(self, label: str, found: bool) -> None:
        now = self._clock.monotonic()
        still = {known: seen for known, seen in self._remembered.items() if now < seen[0]}
        self._remembered = {**still, label: (now + REMEMBER_SECONDS, found)}
