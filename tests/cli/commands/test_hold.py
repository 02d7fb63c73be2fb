"""Held deletions, as `steward hold` shows them."""

from typing import Any

import click
import pytest

from steward.cli.commands.hold import HeldDeletion, describe_cure, find_hold, hold_table
from steward.cli.output import TEXT
from steward.kube.objects.kinds import Key, Kind, Ref

API = "operator.kubernetes-tenants.org/v1"


def held(kind: str, name: str, **deletion: Any) -> HeldDeletion:
    found = {"count": 12, "reason": "TooLargeAShareAtOnce", **deletion}
    return HeldDeletion(Ref(Kind(API, kind), Key("saas", name)), found, "12 Tenants are not deleted.", "7")


APPROVABLE = held("TenantTemplate", "web", approveWith="12-ab")
EMPTY = held("TenantRegistry", "customers", reason="EmptyResult")


def test_a_hold_is_shown_with_the_command_that_approves_it() -> None:
    assert describe_cure(APPROVABLE) == (
        "To delete the 12 Tenants of tenanttemplate/web: steward hold approve tenanttemplate/web -n saas"
    )


def test_a_hold_that_cannot_be_approved_says_so_and_suggests_no_approval() -> None:
    _, [row] = hold_table([EMPTY], TEXT)
    assert row[-2:] == ["EmptyResult", "cannot be approved"]
    assert describe_cure(EMPTY) == "tenantregistry/customers cannot be approved. 12 Tenants are not deleted."


@pytest.mark.parametrize("name", ["web", "tenanttemplate/web", "TenantTemplates/web"])
def test_a_hold_of_a_template_is_found_by_its_name(name: str) -> None:
    assert find_hold([EMPTY, APPROVABLE], name) is APPROVABLE


def test_a_name_without_a_kind_means_the_registry_first() -> None:
    registry = held("TenantRegistry", "web", approveWith="1-a")
    assert find_hold([APPROVABLE, registry], "web") is registry


def test_a_name_that_nothing_holds_is_an_error() -> None:
    with pytest.raises(click.ClickException, match="no deletion of shop is held here"):
        find_hold([EMPTY, APPROVABLE], "shop")
