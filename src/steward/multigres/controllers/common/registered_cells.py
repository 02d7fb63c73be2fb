"""The cells whose records the topology server has, as the topology controller wrote or found them last.

A gateway exits when it finds no record of its cell, and the kubelet delays its restart a little longer each time. So
the Cell controller creates the gateways of a cell only once it is registered here. Nothing is kept over a restart:
gateways that exist are never removed because their cell is unknown here.
"""

from collections.abc import Iterable

from steward.kube.objects.kinds import Key
from steward.runtime.controller.triggers import Channel


class RegisteredCells:
    def __init__(self, changes: Channel) -> None:
        self._changes = changes
        self._cells: dict[Key, set[Key]] = {}

    def record(self, cluster: Key, cells: Iterable[Key]) -> None:
        """Replaces what is known of a cluster, and triggers the cells that are new."""
        known, current = self._cells.get(cluster, set()), set(cells)
        self._cells[cluster] = current
        for cell in current - known:
            self._changes.enqueue(cell)

    def forget_cluster(self, cluster: Key) -> None:
        self._cells.pop(cluster, None)

    def forget(self, cell: Key) -> None:
        """A Cell was deleted, and its record with it."""
        for cells in self._cells.values():
            cells.discard(cell)

    def __contains__(self, cell: object) -> bool:
        return any(cell in cells for cells in self._cells.values())
