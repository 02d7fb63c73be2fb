"""What `steward sample` waits for before it reports the effect of a change."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click import Context
from click.testing import CliRunner

from steward.cli.commands.local.sample import (
    SampleState,
    command,
    created_message,
    deactivate,
    deleted_message,
    held_message,
    released_message,
)
from steward.local.sample.objects import ContainerImage, Databases, SampleOptions
from steward.local.sample.table import CustomerTable
from steward.local.settings import Layout


def registry(status: str, **more: Any) -> dict[str, Any]:
    condition = {"type": "DeletionHeld", "status": status, "message": "2 Tenants are not deleted"}
    return {"status": {"conditions": [condition], **more}}


def tenants(*names: str) -> list[dict[str, Any]]:
    parts = [name.partition("-") for name in names]
    return [
        {"metadata": {"name": "".join(each)}, "spec": {"uid": each[0], "templateRef": each[2]}}
        for each in parts
    ]


def state(
    registry: dict[str, Any], *names: str, templates: tuple[str, ...] = ("web", "database")
) -> SampleState:
    return SampleState(registry, tenants(*names), list(templates))


def test_a_new_row_is_reported_when_every_template_has_made_its_tenant() -> None:
    assert created_message("acme", state({}, "acme-web")) == ""
    both = state({}, "acme-web", "acme-database")
    assert created_message("acme", both) == "Tenants acme-database, acme-web are created."
    one = state({}, "acme-database", templates=("database",))
    assert created_message("acme", one) == "Tenants acme-database are created."


def test_a_new_row_without_a_template_is_reported_at_once() -> None:
    assert "`steward sample reset` restores them" in created_message("acme", state({}, templates=()))


def test_a_deactivated_row_is_reported_when_its_last_tenant_is_deleted() -> None:
    assert deleted_message("acme", state({}, "acme-web", "bluebird-web")) == ""
    assert "of acme and all their objects are deleted" in deleted_message("acme", state({}, "bluebird-web"))


def test_an_empty_table_is_reported_when_the_guard_holds() -> None:
    assert held_message(state({})) == ""
    assert held_message(state(registry("False"))) == ""
    assert held_message(state(registry("True"))) == "2 Tenants are not deleted"


def test_refill_is_reported_when_nothing_is_held_and_every_tenant_exists() -> None:
    two = ("acme-web", "acme-database")
    assert released_message(state(registry("True", desired=2), *two)) == ""
    assert released_message(state(registry("False", desired=4), *two)) == ""
    assert (
        released_message(state(registry("False", desired=2), *two))
        == "No deletion is held, and 2 Tenants exist."
    )


def test_the_options_of_the_sample_survive_storage() -> None:
    options = SampleOptions(("z1", "z2"), ContainerImage("web:1", 8080), Databases.LEFT_OUT)
    assert msgspec.json.decode(msgspec.json.encode(options), type=SampleOptions) == options


@pytest.mark.parametrize("name", ["", " ", "Acme", "a.b", "-a", "x" * 31])
def test_a_name_that_cannot_be_part_of_an_address_is_rejected(name: str) -> None:
    done = CliRunner().invoke(command, ["add", "--", name])
    assert done.exit_code == 2
    assert "becomes part of an address" in done.stderr


def test_active_customers_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_DIR", str(tmp_path))
    [name] = deactivate.params
    context = Context(deactivate, info_name="deactivate")
    assert name.shell_complete(context, "a") == []
    CustomerTable(Layout(tmp_path).sample).ensure()
    assert [item.value for item in name.shell_complete(context, "a")] == ["acme"]
