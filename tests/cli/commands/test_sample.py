"""What `steward sample` waits for before it reports the effect of a change."""

from typing import Any

import pytest
from click.testing import CliRunner

from steward.cli.commands.sample import (
    _created_message,
    _deleted_message,
    _held_message,
    _released_message,
    command,
)


def registry(status: str, **more: Any) -> dict[str, Any]:
    condition = {"type": "DeletionHeld", "status": status, "message": "2 Tenants are not deleted"}
    return {"status": {"conditions": [condition], **more}}


def tenants(*names: str) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name}, "spec": {"uid": name.partition("-")[0]}} for name in names]


def test_a_new_row_is_reported_when_it_has_a_tenant_of_both_templates() -> None:
    assert _created_message("acme", tenants("acme-web")) == ""
    assert (
        _created_message("acme", tenants("acme-web", "acme-database"))
        == "Tenants acme-database, acme-web are created."
    )


def test_a_deactivated_row_is_reported_when_its_last_tenant_is_deleted() -> None:
    assert _deleted_message("acme", tenants("acme-web", "bluebird-web")) == ""
    assert "of acme and all their objects are deleted" in _deleted_message("acme", tenants("bluebird-web"))


def test_an_empty_table_is_reported_when_the_guard_holds() -> None:
    assert _held_message({}, []) == ""
    assert _held_message(registry("False"), []) == ""
    assert _held_message(registry("True"), []) == "2 Tenants are not deleted"


def test_refill_is_reported_when_nothing_is_held_and_every_tenant_exists() -> None:
    two = tenants("acme-web", "acme-database")
    assert _released_message(registry("True", desired=2), two) == ""
    assert _released_message(registry("False", desired=4), two) == ""
    assert _released_message(registry("False", desired=2), two) == "No deletion is held, and 2 Tenants exist."


@pytest.mark.parametrize("name", ["", " ", "Acme", "a.b", "-a", "x" * 31])
def test_a_name_that_cannot_be_part_of_an_address_is_rejected(name: str) -> None:
    done = CliRunner().invoke(command, ["add", "--", name])
    assert done.exit_code == 2
    assert "becomes part of an address" in done.stderr
