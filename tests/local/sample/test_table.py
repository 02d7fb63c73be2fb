"""The sample's table, and the changes of `steward sample`."""

from pathlib import Path

import pytest

from steward.local.errors import NoSample, UnknownCustomer
from steward.local.sample.table import CustomerTable, customer


@pytest.fixture
def customers(tmp_path: Path) -> CustomerTable:
    table = CustomerTable(tmp_path / "sample")
    table.ensure()
    return table


def test_there_are_twelve_customers_of_which_two_have_the_gold_plan(customers: CustomerTable) -> None:
    assert len(customers.list()) == 12
    assert [row.id for row in customers.list() if row.plan == "gold"] == ["acme", "kestrel"]
    assert all(row.active for row in customers.list())


def test_an_existing_table_is_kept(customers: CustomerTable) -> None:
    customers.empty()
    customers.ensure()
    assert customers.list() == []


def test_a_customer_can_be_added_and_deactivated(customers: CustomerTable) -> None:
    customers.add(customer("nimbus", "gold"))
    customers.deactivate("bluebird")
    found = {row.id: row for row in customers.list()}
    assert found["nimbus"] == ("nimbus", "https://nimbus.example.com", True, "gold")
    assert not found["bluebird"].active
    customers.add(customer("bluebird", "basic"))
    assert {row.id: row.active for row in customers.list()}["bluebird"]


def test_the_table_can_be_emptied_and_refilled(customers: CustomerTable) -> None:
    before = customers.list()
    assert customers.empty() == 12
    customers.refill()
    assert customers.list() == before


def test_an_unknown_customer_cannot_be_deactivated(customers: CustomerTable) -> None:
    with pytest.raises(UnknownCustomer, match="no customer missing"):
        customers.deactivate("missing")


def test_without_a_sample_the_error_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(NoSample, match="`steward up` creates it"):
        CustomerTable(tmp_path).list()
