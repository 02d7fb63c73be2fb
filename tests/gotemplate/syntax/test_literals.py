"""Literals: strings that may hold bytes, characters, and numbers that are several things at once."""

from __future__ import annotations

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.syntax.lexer import CHAR_CONSTANT, COMPLEX, NUMBER
from steward.gotemplate.syntax.literals import number, unquote


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        ('"plain"', "plain"),
        (r'"\a\b\f\n\r\t\v\\\""', '\a\b\f\n\r\t\v\\"'),
        (r'"\x41\101\u00e9\U0001F600"', "AAé😀"),
        (r'"\xff"', "\udcff"),
        (r'"\xc3\xa9"', "é"),
        ("`a\\n\r\nb`", "a\\n\nb"),
    ],
)
def test_strings_are_unquoted(quoted: str, text: str) -> None:
    assert unquote(quoted) == text


@pytest.mark.parametrize("quoted", [r'"\q"', r'"\'"', r'"\x4"', r'"\400"', r'"\ud800"', r'"\U00110000"'])
def test_bad_escapes_are_refused(quoted: str) -> None:
    with pytest.raises(GoError, match="invalid syntax"):
        unquote(quoted)


@pytest.mark.parametrize(
    ("text", "as_int", "as_uint", "as_float"),
    [
        ("7", 7, 7, 7.0),
        ("-7", -7, None, -7.0),
        ("-0", 0, 0, 0.0),
        ("017", 15, 15, 15.0),
        ("0x1F", 31, 31, 31.0),
        ("0b101", 5, 5, 5.0),
        ("1_000", 1000, 1000, 1000.0),
        ("1.0", 1, 1, 1.0),
        ("1.5", None, None, 1.5),
        ("09.5", None, None, 9.5),
        ("1e3", 1000, 1000, 1000.0),
        ("0x1p4", 16, 16, 16.0),
        ("18446744073709551615", None, 18446744073709551615, 18446744073709551615.0),
    ],
)
def test_a_number_has_every_reading_that_fits(text: str, as_int: int, as_uint: int, as_float: float) -> None:
    made = number(0, text, NUMBER)
    assert (made.as_int, made.as_uint, made.as_float) == (as_int, as_uint, as_float)


def test_characters_are_numbers() -> None:
    assert number(0, "'a'", CHAR_CONSTANT).as_int == 97
    assert number(0, r"'\n'", CHAR_CONSTANT).as_int == 10
    assert number(0, "'é'", CHAR_CONSTANT).as_int == 233


def test_complex_numbers_without_imaginary_part_are_real_too() -> None:
    assert number(0, "1+2i", COMPLEX).as_complex == 1 + 2j
    assert number(0, "2i", NUMBER).as_complex == 2j
    assert number(0, "3+0i", COMPLEX).as_int == 3


@pytest.mark.parametrize(
    ("text", "kind", "error"),
    [
        ("08", NUMBER, 'integer overflow: "08"'),
        ("99999999999999999999", NUMBER, 'integer overflow: "99999999999999999999"'),
        (".", NUMBER, 'illegal number syntax: "."'),
        ("1__0", NUMBER, 'illegal number syntax: "1__0"'),
        ("'ab'", CHAR_CONSTANT, "malformed character constant: 'ab'"),
    ],
)
def test_what_is_no_number_is_refused(text: str, kind: str, error: str) -> None:
    with pytest.raises(GoError) as caught:
        number(0, text, kind)
    assert caught.value.text == error
