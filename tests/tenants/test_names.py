"""Names of Tenants: readable where possible, always valid, and unique."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.names import (
    TenantKey,
    bucket,
    hashed_name,
    is_name,
    is_path_segment,
    label_value,
    name_tenants,
    tenant_name,
    values_secret,
)


@pytest.mark.parametrize(
    ("uid", "template", "name"),
    [
        ("acme", "web-app", "acme-web-app"),
        ("acme.example", "web", "acme.example-web"),
        ("7", "web", "7-web"),
        ("a" * 59, "web", "a" * 59 + "-web"),
    ],
)
def test_a_valid_name_is_uid_and_template(uid: str, template: str, name: str) -> None:
    assert tenant_name(TenantKey(uid, template)) == name


@pytest.mark.parametrize("uid", ["Acme", "a_b", "a b", "ü", "-a", "a..b", "a" * 60, "💥", "a\nb", "../x"])
def test_any_other_uid_is_made_valid_with_a_hash(uid: str) -> None:
    name = tenant_name(TenantKey(uid, "web"))
    assert is_name(name)
    assert re.search(r"-[0-9a-f]{10}$", name)


def test_uids_with_the_same_sanitized_name_differ_in_their_hash() -> None:
    assert tenant_name(TenantKey("A B", "web")) != tenant_name(TenantKey("A_B", "web"))


@settings(deadline=None)
@given(st.text(max_size=80), st.from_regex(r"[a-z]([-a-z0-9]{0,60}[a-z0-9])?", fullmatch=True))
def test_the_name_and_the_label_are_valid_for_any_uid(uid: str, template: str) -> None:
    assert is_name(tenant_name(TenantKey(uid, template)))
    assert re.fullmatch(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", label_value(uid))


def test_two_keys_of_one_name_get_two_names() -> None:
    first, second = TenantKey("a", "b-c"), TenantKey("a-b", "c")
    names = name_tenants([second, first], {})
    assert names == {first: "a-b-c", second: hashed_name(second)}


def test_an_existing_tenant_keeps_its_name() -> None:
    first, second = TenantKey("a", "b-c"), TenantKey("a-b", "c")
    assert name_tenants([first, second], {second: "a-b-c"}) == {first: hashed_name(first), second: "a-b-c"}
    assert name_tenants([first], {second: "a-b-c"}) == {first: hashed_name(first)}


def test_two_keys_with_the_same_short_hash_get_two_names() -> None:
    """Found by trying half a million uids."""
    first, second = (TenantKey("x" * 60 + number, "web") for number in ("9923", "480868"))
    assert hashed_name(first) == hashed_name(second)
    names = name_tenants([first, second], {})
    assert len(set(names.values())) == 2
    assert all(map(is_name, names.values()))
    assert name_tenants([first, second], {second: hashed_name(second)})[second] == hashed_name(second)


KEYS = st.builds(TenantKey, st.text("ab-", min_size=1, max_size=4), st.sampled_from(["a", "b", "a-b", "b-a"]))


@settings(deadline=None)
@given(st.sets(KEYS), st.sets(KEYS))
def test_names_are_unique_and_stay(before: set[TenantKey], later: set[TenantKey]) -> None:
    existing = name_tenants(before, {})
    names = name_tenants(before | later, existing)
    assert len(set(names.values())) == len(names)
    assert all(names[key] == name for key, name in existing.items())


@pytest.mark.parametrize(
    ("text", "is_kept"), [("acme", True), ("Acme_1.x", True), ("a b", False), ("x" * 64, False)]
)
def test_a_uid_that_is_no_label_value_is_hashed_in_the_label(text: str, is_kept: bool) -> None:
    assert (label_value(text) == text) is is_kept


def test_buckets_are_numbers_below_256_and_all_are_used() -> None:
    found = {bucket(f"tenant-{number}") for number in range(5000)}
    assert found == {str(number) for number in range(256)}


def test_the_values_secret_is_named_after_the_tenant() -> None:
    assert values_secret("acme-web") == "acme-web-values"


@pytest.mark.parametrize(
    ("name", "is_possible"),
    [("acme", True), ("a..b", True), (".", False), ("..", False), ("a/b", False), ("%00", False), ("", True)],
)
def test_no_object_has_a_name_that_is_no_segment_of_a_path(name: str, is_possible: bool) -> None:
    assert is_path_segment(name) is is_possible
