"""What `steward sync` concludes from the status of a registry."""

from datetime import UTC, datetime
from typing import Any

import pytest

from steward.cli.operations.outcome import RequestError
from steward.cli.operations.sync_requests import held_deletions, is_answered, request_value, sync_result


def registry(is_ready: str = "True", message: str = "", **status: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": is_ready, "message": message}]
    return {"status": {"conditions": conditions, **status}}


def test_each_request_has_a_value_of_its_own() -> None:
    first, second = (datetime(2026, 1, 1, microsecond=micro, tzinfo=UTC) for micro in (1, 2))
    assert request_value(first) != request_value(second)


def test_a_request_is_answered_when_the_status_has_its_value() -> None:
    assert is_answered(registry(lastSyncRequest="a"), "a")
    assert not is_answered(registry(lastSyncRequest="a"), "b")
    assert not is_answered({}, "b")


def test_the_result_counts_rows_and_tenants() -> None:
    found = registry(activeRows=3, ready=5, desired=6, rejectedRows=1)
    assert sync_result(found) == "3 active rows, 5 of 6 Tenants ready, 1 rejected row"


def test_tenants_that_are_left_are_not_counted_as_a_part_of_those_desired() -> None:
    assert sync_result(registry(ready=24, desired=0)) == "0 active rows, 24 Tenants ready, 0 desired"


def test_a_table_that_cannot_be_read_is_an_error_with_the_operators_sentence() -> None:
    with pytest.raises(RequestError, match="the database refuses the password"):
        sync_result(registry("False", "the database refuses the password", activeRows=3))


def test_deletions_that_the_guard_holds_are_counted() -> None:
    assert held_deletions(registry(heldDeletion={"count": 4})) == 4
    assert held_deletions(registry()) == 0
