"""Go's types of Python values, and strings that are bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.gotemplate.values import values
from steward.gotemplate.values.values import (
    ByteSlice,
    Int8,
    Int64,
    ListSlice,
    NilDict,
    StringMap,
    StringSlice,
    Uint8,
    byte_length,
    canonical,
    from_bytes,
    go_type,
    is_nil,
    kind_of,
    nil_list,
    sorted_keys,
    to_bytes,
    type_of,
    wrap_int64,
)


@pytest.mark.parametrize(
    ("value", "name", "kind"),
    [
        ("a", "string", "string"),
        (True, "bool", "bool"),
        (1, "int", "int"),
        (1.0, "float64", "float64"),
        (1j, "complex128", "complex128"),
        ({}, "map[string]interface {}", "map"),
        ([], "[]interface {}", "slice"),
        (Int64(1), "int64", "int64"),
        (Uint8(1), "uint8", "uint8"),
        (StringSlice(), "[]string", "slice"),
        (ListSlice(), "[][]interface {}", "slice"),
        (StringMap(), "map[string]string", "map"),
        (ByteSlice(), "[]uint8", "slice"),
        (NilDict(), "map[string]interface {}", "map"),
        (nil_list(), "[]interface {}", "slice"),
    ],
)
def test_every_value_has_one_go_type(value: Any, name: str, kind: str) -> None:
    found = type_of(value)
    assert found is not None
    assert (found.name, kind_of(value)) == (name, kind)


def test_untyped_nil_has_no_type() -> None:
    assert type_of(None) is None
    assert kind_of(None) == "invalid"


def test_a_type_is_one_object_however_it_is_spelled() -> None:
    assert go_type("[]any") is go_type("[]interface {}") is values.LIST
    assert go_type("map[string][]string").elem is values.STRINGS


def test_only_nil_slices_and_maps_are_nil() -> None:
    assert [is_nil(value) for value in (None, nil_list(), NilDict(), StringSlice.nil(), StringMap.nil())] == [
        True
    ] * 5
    assert [is_nil(value) for value in ([], {}, StringSlice(), "", 0)] == [False] * 5


def test_integers_wrap() -> None:
    assert wrap_int64(1 << 63) == -(1 << 63)
    assert Int8.wrap(200) == -56
    assert Uint8.wrap(-1) == 255
    assert Int64.wrap((1 << 64) + 5) == 5


@given(st.binary())
def test_any_bytes_are_a_string_and_back(data: bytes) -> None:
    text = from_bytes(data)
    assert to_bytes(text) == data
    assert byte_length(text) == len(data)
    assert canonical(text) == text


@given(st.binary(), st.integers(0, 50))
def test_cut_and_joined_strings_are_canonical_again(data: bytes, at: int) -> None:
    assert canonical(from_bytes(data[:at]) + from_bytes(data[at:])) == from_bytes(data)


def test_surrogates_from_outside_are_no_characters() -> None:
    assert to_bytes("a\ud800b") == "a\ufffdb".encode()


@given(st.lists(st.binary(max_size=4), unique=True))
def test_keys_sort_as_bytes_do(keys: list[bytes]) -> None:
    assert [to_bytes(key) for key in sorted_keys({from_bytes(key): 1 for key in keys})] == sorted(keys)
