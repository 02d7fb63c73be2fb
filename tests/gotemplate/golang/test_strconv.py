"""Numbers from text as Go reads them."""

import math

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.strconv import (
    GoRangeError,
    atoi,
    parse_float,
    parse_int,
    parse_uint,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("010", 8),
        ("0x1f", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("1_000", 1000),
        ("0x_f", 15),
        ("-7", -7),
        ("+7", 7),
        ("-9223372036854775808", -(1 << 63)),
    ],
)
def test_base_0_reads_the_base_from_the_prefix(text: str, number: int) -> None:
    assert parse_int(text, 0) == number


@pytest.mark.parametrize("text", ["", "08", "1__0", "_1", "1_", "0x", "x", " 1", "١", "1.0"])
def test_what_is_no_number_is_refused_in_go_words(text: str) -> None:
    with pytest.raises(GoError) as caught:
        parse_int(text, 0)
    assert caught.value.text == f'strconv.ParseInt: parsing "{text}": invalid syntax'


def test_an_int64_that_does_not_fit_carries_the_nearest_one() -> None:
    with pytest.raises(GoRangeError) as caught:
        parse_int("-99999999999999999999", 10)
    assert caught.value.nearest == -(1 << 63)
    assert caught.value.text == 'strconv.ParseInt: parsing "-99999999999999999999": value out of range'


def test_atoi_is_decimal_and_names_itself() -> None:
    assert atoi("010") == 10
    with pytest.raises(GoError, match=r'strconv.Atoi: parsing "0x1": invalid syntax'):
        atoi("0x1")


def test_unsigned_numbers_take_no_sign() -> None:
    assert parse_uint("18446744073709551615", 10) == (1 << 64) - 1
    with pytest.raises(GoError, match="invalid syntax"):
        parse_uint("-1", 10)
    with pytest.raises(GoRangeError):
        parse_uint("18446744073709551616", 10)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("0x1p4", 16.0),
        ("1_0.5", 10.5),
        ("-Inf", -math.inf),
    ],
)
def test_floats_in_all_their_spellings(text: str, number: float) -> None:
    assert parse_float(text) == number


@pytest.mark.parametrize("text", ["", ".", "1e", "0x1", "+nan", "1_e3", "1 "])
def test_what_is_no_float_is_refused(text: str) -> None:
    with pytest.raises(GoError, match=r"strconv.ParseFloat: parsing .*: invalid syntax"):
        parse_float(text)


def test_a_float_too_large_is_out_of_range() -> None:
    with pytest.raises(GoRangeError) as caught:
        parse_float("-1e400")
    assert caught.value.nearest == -math.inf
