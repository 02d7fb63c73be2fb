"""What `steward sample` waits for before it says that something has come of a change."""

from typing import Any

import pytest
from click.testing import CliRunner

from steward.cli.commands.sample import _free, _gone, _held, _made, command


def registry(status: str, **more: Any) -> dict[str, Any]:
    told = {"type": "DeletionHeld", "status": status, "message": "2 Tenants are not deleted"}
    return {"status": {"conditions": [told], **more}}


def tenants(*names: str) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name}, "spec": {"uid": name.partition("-")[0]}} for name in names]


def test_a_new_row_has_become_something_when_both_templates_made_its_tenants() -> None:
    assert _made("acme", tenants("acme-web")) == ""
    assert _made("acme", tenants("acme-web", "acme-database")) == "Tenants acme-database, acme-web are there."


def test_a_row_is_gone_with_the_last_of_its_tenants() -> None:
    assert _gone("acme", tenants("acme-web", "bluebird-web")) == ""
    assert "of acme are gone" in _gone("acme", tenants("bluebird-web"))


def test_an_empty_table_is_answered_by_the_guard() -> None:
    assert _held({}, []) == ""
    assert _held(registry("False"), []) == ""
    assert _held(registry("True"), []) == "2 Tenants are not deleted"


def test_rows_are_back_when_nothing_is_held_and_every_tenant_is_there() -> None:
    two = tenants("acme-web", "acme-database")
    assert _free(registry("True", desired=2), two) == ""
    assert _free(registry("False", desired=4), two) == ""
    assert _free(registry("False", desired=2), two) == "No deletion is held, and 2 Tenants are there."


@pytest.mark.parametrize("name", ["", " ", "Acme", "a.b", "-a", "x" * 31])
def test_a_name_that_is_no_part_of_an_address_is_refused(name: str) -> None:
    done = CliRunner().invoke(command, ["add", "--", name])
    assert done.exit_code == 2
    assert "becomes part of an address" in done.stderr
