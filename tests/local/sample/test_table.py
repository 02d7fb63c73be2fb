"""The sample's table, as a visitor changes it."""

from pathlib import Path

import pytest

from steward.local.errors import NoSample, UnknownCustomer
from steward.local.sample.table import Customers, customer


@pytest.fixture
def customers(tmp_path: Path) -> Customers:
    made = Customers(tmp_path / "sample")
    made.ensure()
    return made


def test_there_are_a_dozen_and_two_of_them_want_a_database(customers: Customers) -> None:
    assert len(customers.list()) == 12
    assert [each.id for each in customers.list() if each.plan == "gold"] == ["acme", "kestrel"]
    assert all(each.active for each in customers.list())


def test_a_table_that_is_there_stays_as_it_is(customers: Customers) -> None:
    customers.empty()
    customers.ensure()
    assert customers.list() == []


def test_one_more_and_one_less(customers: Customers) -> None:
    customers.add(customer("nimbus", "gold"))
    customers.deactivate("bluebird")
    found = {each.id: each for each in customers.list()}
    assert found["nimbus"] == ("nimbus", "https://nimbus.example.com", True, "gold")
    assert not found["bluebird"].active
    customers.add(customer("bluebird", "basic"))
    assert {each.id: each.active for each in customers.list()}["bluebird"]


def test_all_gone_and_back(customers: Customers) -> None:
    before = customers.list()
    assert customers.empty() == 12
    customers.refill()
    assert customers.list() == before


def test_who_is_not_there_cannot_be_switched_off(customers: Customers) -> None:
    with pytest.raises(UnknownCustomer, match="no customer nobody"):
        customers.deactivate("nobody")


def test_without_a_sample_the_cure_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoSample, match="`steward up` makes it"):
        Customers(tmp_path).list()
