"""Addresses of views."""

import pytest

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.page.models.addresses import (
    ViewAddress,
    ViewKind,
    object_address,
    parse_address,
    registry_address,
)


@pytest.mark.parametrize("address", ["", "/", "/now"])
def test_the_first_view_is_now(address: str) -> None:
    assert parse_address(address) == ViewAddress(ViewKind.NOW)


def test_an_address_names_an_object_and_filters() -> None:
    found = parse_address("/registry/shop/customers?q=ac&state=failed&offset=200&other=1")
    assert found == ViewAddress(
        ViewKind.REGISTRY, Key("shop", "customers"), (("offset", "200"), ("q", "ac"), ("state", "failed"))
    )
    assert found is not None
    assert (found.filter("q"), found.filter("template"), found.offset) == ("ac", "", 200)


@pytest.mark.parametrize("address", ["/cluster", "/cluster/shop", "/cluster/shop/db/more", "/secret/shop/db"])
def test_other_paths_are_no_view(address: str) -> None:
    assert parse_address(address) is None


@pytest.mark.parametrize("offset", ["-1", "x", "²", "1e3", "99999999999"])
def test_a_wrong_offset_is_zero(offset: str) -> None:
    found = parse_address(f"/registry/shop/customers?offset={offset}")
    assert found is not None
    assert found.offset == 0


def test_names_cannot_leave_their_part_of_the_address() -> None:
    ref = Ref(Kind("multigres.com/v1alpha1", "MultigresCluster"), Key("a/b", "c?d#e"))
    assert object_address(ref) == "/cluster/a%2Fb/c%3Fd%23e"


def test_an_object_without_a_view_has_no_address() -> None:
    assert object_address(Ref(Kind("v1", "Pod"), Key("shop", "db-0"))) == ""


def test_filters_are_part_of_the_address() -> None:
    assert (
        registry_address(Key("shop", "customers"), template="web", q="")
        == "/registry/shop/customers?template=web"
    )
