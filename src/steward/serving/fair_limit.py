"""A number of slots that clients take in turn, by address.

A queue in the order of arrival would let one client that sends much delay all others. Here each address has its own
queue, and a free slot goes to the next address. When too many wait, the longest queue loses its newest entry.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class LimitExceeded(Exception):
    """Too many wait already; `waiting` is how many."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} wait already")
        self.waiting = waiting


class FairLimit:
    def __init__(self, slots: int, waiting: int) -> None:
        self._free = slots
        self._max_waiting = waiting
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        return sum(len(queue) for queue in self._queues.values())

    @asynccontextmanager
    async def acquire(self, address: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it; raise LimitExceeded when too many wait."""
        await self.take(address)
        try:
            yield
        finally:
            self.release()

    async def take(self, address: str) -> None:
        """Wait for a slot; the caller gives it back by `release`."""
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._enqueue(address, turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._withdraw(address, turn)
            raise

    def release(self) -> None:
        """Give the slot to the next address that waits, else keep it free."""
        while self._queues:
            turn = self._next_turn()
            # One that was cancelled is still in its queue until its task runs.
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _next_turn(self) -> asyncio.Future[None]:
        address, queue = next(iter(self._queues.items()))
        turn = queue.popleft()
        self._queues.move_to_end(address)
        self._drop_if_empty(address)
        return turn

    def _enqueue(self, address: str, turn: asyncio.Future[None]) -> None:
        waiting = self.waiting
        if waiting >= self._max_waiting:
            self._make_room(address, waiting)
        self._queues.setdefault(address, deque()).append(turn)

    def _make_room(self, address: str, waiting: int) -> None:
        longest = max(self._queues, key=lambda known: len(self._queues[known]), default=address)
        if len(self._queues.get(longest, ())) <= len(self._queues.get(address, ())) + 1:
            raise LimitExceeded(waiting)
        dropped = self._queues[longest].pop()
        self._drop_if_empty(longest)
        if not dropped.done():
            dropped.set_exception(LimitExceeded(waiting))

    def _withdraw(self, address: str, turn: asyncio.Future[None]) -> None:
        if turn.cancelled() or not turn.done():
            queue = self._queues.get(address, deque())
            if turn in queue:
                queue.remove(turn)
                self._drop_if_empty(address)
        elif turn.exception() is None:
            # The slot was given just before the cancellation.
            self.release()

    def _drop_if_empty(self, address: str) -> None:
        if not self._queues.get(address, True):
            del self._queues[address]
