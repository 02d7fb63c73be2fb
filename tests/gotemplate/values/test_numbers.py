"""Floats as strconv writes them; the figures were taken from Go."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.gotemplate.values.numbers import format_float, show_float


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (1.5, "1.5"),
        (100000.0, "100000"),
        (999999.9, "999999.9"),
        (1e6, "1e+06"),
        (1234567.0, "1.234567e+06"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (123456789.123, "1.23456789123e+08"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
        (math.nan, "NaN"),
    ],
)
def test_shown_floats_turn_to_exponents_at_a_million(value: float, text: str) -> None:
    assert show_float(value) == text


@pytest.mark.parametrize(
    ("value", "verb", "precision", "text"),
    [
        (1.5, "f", -1, "1.5"),
        (1e21, "f", -1, "1000000000000000000000"),
        (2.5, "f", 0, "2"),
        (3.14159, "e", 2, "3.14e+00"),
        (123456.0, "g", 3, "1.23e+05"),
        (123456.0, "G", 0, "1E+05"),
        (1.0, "b", -1, "4503599627370496p-52"),
        (5e-324, "b", -1, "1p-1074"),
        (1.0, "x", -1, "0x1p+00"),
        (1.5, "x", 0, "0x1p+01"),
        (1234567.0, "x", 3, "0x1.2d7p+20"),
        (1.0, "X", 4, "0X1.0000P+00"),
        (0.0, "x", 3, "0x0.000p+00"),
        (-2.5, "g", -1, "-2.5"),
    ],
)
def test_verbs_and_precisions(value: float, verb: str, precision: int, text: str) -> None:
    assert format_float(value, verb, precision) == text


def test_float32_needs_fewer_digits() -> None:
    assert format_float(0.10000000149011612, "g", -1, 32) == "0.1"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_shown_reads_back_as_the_same_float(value: float) -> None:
    assert float(show_float(value)) == value
