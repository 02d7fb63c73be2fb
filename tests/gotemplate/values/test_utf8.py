"""Strings whose bytes are no UTF-8."""

from __future__ import annotations

import pytest

from steward.gotemplate.golang.regexp.regexp import quote_meta
from steward.gotemplate.values.utf8 import repaired, without_surrogates

NO_CHARACTERS = "".join(map(chr, range(0xFDD0, 0xFDF0)))
STRAY = "\udc80\udcff"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain?", "plain?"),
        ("é\U0001f600", "é\U0001f600"),
        (STRAY, "\ufffd\ufffd"),
        # Half a rune is two stray bytes, and Go reads each as one.
        ("\udce2\udc82", "\ufffd\ufffd"),
        (f"a?{STRAY}é?", "a?\ufffd\ufffdé?"),
        (f"?\ufdd0{STRAY}\ufdd1?", "?\ufdd0\ufffd\ufffd\ufdd1?"),
        (f"?{NO_CHARACTERS}{STRAY}", f"?{NO_CHARACTERS}\ufffd\ufffd"),
    ],
)
def test_every_stray_byte_reads_as_one_replacement_character(text: str, expected: str) -> None:
    assert repaired(text) == expected


def test_what_is_printed_holds_no_surrogate_at_all() -> None:
    assert without_surrogates("\ud800?\udfff") == "\ufffd?\ufffd"


def test_operators_are_quoted_once_each_beside_stray_bytes() -> None:
    assert quote_meta(rf"\.+*?()|[]{{}}^$a{STRAY}") == rf"\\\.\+\*\?\(\)\|\[\]\{{\}}\^\$a{STRAY}"
