from contextlib import ExitStack

import pytest

from steward.serving.byte_budget import BudgetExhausted, ByteBudget, ByteShare


class Shares:
    def __init__(self, capacity: int) -> None:
        self.budget = ByteBudget(capacity)
        self.withdrawn: list[str] = []
        self._open = ExitStack()

    def open(self, address: str, size: int = 0) -> ByteShare:
        share = self._open.enter_context(self.budget.share(address, lambda: self.withdrawn.append(address)))
        share.take(size)
        return share

    def close(self) -> None:
        self._open.close()


def test_a_small_request_takes_the_bytes_of_the_address_that_holds_most() -> None:
    shares = Shares(100)
    shares.open("attacker", 60)
    shares.open("attacker", 40)
    shares.open("api-server", 10)
    assert (shares.withdrawn, shares.budget.held) == (["attacker"], 50)


def test_the_address_that_holds_most_cannot_take_the_bytes_of_others() -> None:
    shares = Shares(100)
    shares.open("api-server", 10)
    greedy = shares.open("attacker", 60)
    with pytest.raises(BudgetExhausted):
        greedy.take(40)
    assert (shares.withdrawn, shares.budget.held) == ([], 70)


def test_an_address_replaces_its_own_larger_request() -> None:
    shares = Shares(100)
    large = shares.open("one", 90)
    small = shares.open("one", 20)
    assert (large.is_withdrawn, small.size, shares.budget.held) == (True, 20, 20)


def test_a_withdrawn_share_gets_no_more_bytes() -> None:
    shares = Shares(100)
    large = shares.open("one", 90)
    shares.open("two", 20)
    with pytest.raises(BudgetExhausted):
        large.take(1)


def test_bytes_in_use_are_not_withdrawn() -> None:
    shares = Shares(100)
    shares.open("attacker", 95).fix()
    with pytest.raises(BudgetExhausted):
        shares.open("api-server", 10)
    assert shares.withdrawn == []


def test_bytes_are_given_back_at_the_end() -> None:
    shares = Shares(100)
    shares.open("one", 90)
    shares.close()
    assert shares.budget.held == 0
