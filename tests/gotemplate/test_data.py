"""JSON as Go decodes it."""

from __future__ import annotations

import pytest

from steward.gotemplate import from_json


def test_every_number_is_a_float() -> None:
    assert [type(item) for item in from_json("[1, 1.5, 1e3, -0]")] == [float] * 4


def test_half_a_surrogate_pair_is_the_replacement_character() -> None:
    assert from_json(r'{"\ud800": ["\udc00x", "\ud83d\ude00"]}') == {"\ufffd": ["\ufffdx", "😀"]}
    assert from_json(b'"\xff"') == "\ufffd"


@pytest.mark.parametrize("text", ["", "{", "NaN", "Infinity", "1e999", "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(text)
