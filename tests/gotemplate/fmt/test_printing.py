"""fmt over template values: Sprint, Sprintf with flags, and what fmt writes for mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.gotemplate.budget import Budget, Limits, Profile, budget_of
from steward.gotemplate.errors import OverBudget
from steward.gotemplate.fmt.printing import MAX_DEPTH, show, sprint, sprintf, sprintln
from steward.gotemplate.values.values import (
    ByteSlice,
    Int64,
    IntSlice,
    NilDict,
    StringMap,
    StringSlice,
    Uint8,
    nil_list,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"),
        (True, "true"),
        (7, "7"),
        (7.0, "7"),
        (1 + 2j, "(1+2i)"),
        ([1, "a", None, 2.5], "[1 a <nil> 2.5]"),
        ({"b": 1, "a": [True]}, "map[a:[true] b:1]"),
        (StringSlice(["x", "y"]), "[x y]"),
        (StringMap({"k": "v"}), "map[k:v]"),
        (ByteSlice(b"AB"), "[65 66]"),
        ([Int64(3), StringSlice(["a"])], "[3 [a]]"),
        (nil_list(), "[]"),
    ],
)
def test_values_print_as_go_prints_them(value: Any, text: str) -> None:
    assert show(value) == text


def test_map_keys_sort_by_their_bytes() -> None:
    assert (
        show({"_2": 1, "_10": 1, "\udcff": 1, "é": 1, "\uffff": 1}) == "map[_10:1 _2:1 é:1 \uffff:1 \udcff:1]"
    )


def test_print_puts_blanks_between_operands_that_are_no_strings() -> None:
    assert sprint([1, 2, "a", 3, 4, "b", "c"]) == "1 2a3 4bc"
    assert sprintln([1, "a", None]) == "1 a <nil>\n"


@pytest.mark.parametrize(
    ("template", "args", "text"),
    [
        ("%s-%d-%v-%q", ["a", 1, 2.5, "q"], 'a-1-2.5-"q"'),
        ("%5d|%-5d|%05d|%+d|% d", [1, 2, 3, 4, 5], "    1|2    |00003|+4| 5"),
        (
            "%x %X %#x %o %O %b %c %U %#U",
            [255, 255, 255, 8, 8, 5, 65, 233, 233],
            "ff FF 0xff 10 0o10 101 A U+00E9 U+00E9 'é'",
        ),
        (
            "%.2f|%8.3f|%-8.1f|%+.1e|%g|%G",
            [3.14159, 2.5, 1.25, 12345.678, 1e7, 1e-7],
            "3.14|   2.500|1.2     |+1.2e+04|1e+07|1E-07",
        ),
        ("%05.1f|%+05.1f|%#g|%#.3g", [2.5, 2.5, 1.0, 1.0], "002.5|+02.5|1.00000|1.00"),
        (
            "%s|%10s|%-10s|%.2s|%x|% x|%#x|%q",
            ["é", "ab", "ab", "éàü", "hi", "hi", "hi", "a\nb"],
            "|".join(["é", "        ab", "ab        ", "éà", "6869", "68 69", "0x6869", '"a\\nb"']),
        ),
        ("%#q %+q %#v", ["a", "é", "x"], '`a` "\\u00e9" "x"'),
        ("%t %v", [True, False], "true false"),
        ("%T %T %T %T", [1, "a", [1], {"a": 1}], "int string []interface {} map[string]interface {}"),
        (
            "%v %+v %#v",
            [{"a": 1}, {"a": 1}, {"a": None}],
            'map[a:1] map[a:1] map[string]interface {}{"a":interface {}(nil)}',
        ),
        (
            "%#v %#v %#v",
            [["a", 1], IntSlice([1]), NilDict()],
            '[]interface {}{"a", 1} []int{1} map[string]interface {}(nil)',
        ),
        ("%d", [[1, "a", None]], "[1 %!d(string=a) <nil>]"),
        ("%s", [7.0], "%!s(float64=7)"),
        ("%d", ["x"], "%!d(string=x)"),
        ("%5d", ["x"], "%!d(string=    x)"),
        ("%d %s", [None, None], "%!d(<nil>) %!s(<nil>)"),
        ("%v %T", [None, None], "<nil> <nil>"),
        ("%d", [], "%!d(MISSING)"),
        ("%z", [1], "%!z(int=1)"),
        ("x", [1, "a", None], "x%!(EXTRA int=1, string=a, <nil>)"),
        ("%", [], "%!(NOVERB)"),
        ("%5", [1], "%!(NOVERB)%!(EXTRA int=1)"),
        ("100%%", [], "100%"),
        ("%[2]d %[1]d", [1, 2], "2 1"),
        ("%[3]d %[x]d %[1]", [1], "%!d(BADINDEX) %!d(BADINDEX) %!(NOVERB)"),
        ("%*d|%-*d|%.*f", [5, 1, 4, 2, 1, 3.14], "    1|2   |3.1"),
        ("%*d", ["a", 1], "%!(BADWIDTH)1"),
        ("%.*f", [-1, 2.0], "%!(BADPREC)2.000000"),
        ("%*d", [-4, 1], "1   |".rstrip("|")),
        ("%.3d|%.0d|%+.3d", [5, 0, 5], "005||+005"),
        ("%05s", ["ab"], "000ab"),
        ("%x %v %s", [ByteSlice(b"\x01\xff"), ByteSlice(b"a"), ByteSlice(b"a")], "01ff [97] a"),
        ("%d %v", [Uint8(200), Int64(-1)], "200 -1"),
        ("%c %q", [0x110000, 39], "\ufffd '\\''"),
        ("%e", [1 + 2j], "(1.000000e+00+2.000000e+00i)"),
        ("%v %5.1f %+v", [float("inf"), float("-inf"), float("nan")], "+Inf  -Inf NaN"),
        ("%w", ["x"], "%!w(string=x)"),
    ],
)
def test_formats(template: str, args: list[Any], text: str) -> None:
    assert sprintf(template, args) == text


def test_two_halves_of_a_rune_become_that_rune() -> None:
    assert sprintf("%s%s", ["\udcc3", "\udca9"]) == "é"
    assert sprint(["\udcc3", "\udca9"]) == "é"


def test_a_width_is_charged_before_it_is_filled() -> None:
    with pytest.raises(OverBudget):
        sprintf("%1000000d" * 10, [1] * 10, Budget())


def test_a_value_that_holds_itself_ends_in_a_budget_error() -> None:
    circle: dict[str, Any] = {}
    circle["a"] = circle
    with pytest.raises(OverBudget, match=str(MAX_DEPTH)):
        show(circle, Budget())


def test_a_list_that_doubles_at_every_level_ends_in_a_budget_error() -> None:
    value: list[Any] = [1]
    for _ in range(60):
        value = [value, value]
    for form in ("%v", "%d", "%#v"):
        with pytest.raises(OverBudget):
            sprintf(form, [value], budget_of(Limits(steps=1000), Profile.HERMETIC))


@given(
    st.text(alphabet="%[]*.+-# 0123456789vTdsqxXoObcUeEfFgGtpwzé", max_size=30),
    st.lists(st.one_of(st.none(), st.integers(-99, 99), st.text(max_size=5), st.floats()), max_size=4),
)
def test_no_format_fails(template: str, args: list[Any]) -> None:
    assert isinstance(sprintf(template, args, Budget()), str)
