"""One budget of bytes for everything that clients make a server hold at the same time.

A limit for each request is not enough: a hundred requests of 8 MiB are 800 MiB. When the budget is spent, the address
that holds most loses its largest share, so that a client with small requests is served while another fills the budget.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class BudgetExhausted(Exception):
    """The bytes are not available, or this share was withdrawn in favour of another client."""


@dataclass(eq=False)
class ByteShare:
    """The bytes of one request. `on_withdrawn` must drop what they were taken for."""

    budget: "ByteBudget"
    address: str
    on_withdrawn: Callable[[], None]
    size: int = 0
    is_fixed: bool = False
    is_withdrawn: bool = False

    def take(self, count: int) -> None:
        if self.is_withdrawn or not self.budget.make_room(self, count):
            raise BudgetExhausted
        self.size += count

    def fix(self) -> None:
        """From now on the share is in use and cannot be withdrawn."""
        self.is_fixed = True

    def withdraw(self) -> None:
        self.is_withdrawn = True
        self.size = 0
        self.on_withdrawn()


class ByteBudget:
    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._shares: dict[ByteShare, None] = {}

    @property
    def held(self) -> int:
        return sum(share.size for share in self._shares)

    @contextmanager
    def share(self, address: str, on_withdrawn: Callable[[], None]) -> Iterator[ByteShare]:
        share = ByteShare(self, address, on_withdrawn)
        self._shares[share] = None
        try:
            yield share
        finally:
            del self._shares[share]

    def make_room(self, requester: ByteShare, count: int) -> bool:
        while self.held + count > self._capacity:
            found = self._withdrawable(requester, count)
            if found is None:
                return False
            found.withdraw()
        return True

    def _withdrawable(self, requester: ByteShare, count: int) -> ByteShare | None:
        """The largest share of the address that holds most, if it has more than the requester would have."""
        totals: Counter[str] = Counter()
        for share in self._shares:
            totals[share.address] += share.size
        needed = (totals[requester.address] + count, requester.size + count)

        def rank(share: ByteShare) -> tuple[int, int]:
            own = share.address == requester.address
            return (needed[0] if own else totals[share.address], share.size)

        candidates = [share for share in self._shares if not share.is_fixed and rank(share) > needed]
        return max(candidates, key=rank, default=None)
