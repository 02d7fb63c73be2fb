"""time.Duration."""

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.time.durations import (
    HOUR,
    MINUTE,
    SECOND,
    format_duration,
    parse_duration,
    round_duration,
    truncate_duration,
)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("1h30m", HOUR + 30 * MINUTE),
        ("-1.5h", -HOUR - 30 * MINUTE),
        ("+5s", 5 * SECOND),
        (".5s", SECOND // 2),
        ("1µs", 1000),
        ("1us1ns", 1001),
        ("-9223372036854775808ns", -(1 << 63)),
    ],
)
def test_a_duration_is_read(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 'time: invalid duration ""'),
        ("1", 'time: missing unit in duration "1"'),
        ("1x", 'time: unknown unit "x" in duration "1x"'),
        ("x", 'time: invalid duration "x"'),
        (".s", 'time: invalid duration ".s"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("1é", r'time: unknown unit "\xc3\xa9" in duration "1\xc3\xa9"'),
        ("9" * 5000, f'time: invalid duration "{"9" * 5000}"'),
    ],
)
def test_what_is_no_duration_is_refused_in_go_words(text: str, words: str) -> None:
    with pytest.raises(GoError) as caught:
        parse_duration(text)
    assert caught.value.text == words


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1500, "1.5µs"),
        (2_000_000, "2ms"),
        (1_500_000_000, "1.5s"),
        (90 * SECOND, "1m30s"),
        (-HOUR, "-1h0m0s"),
        (-(1 << 63), "-2562047h47m16.854775808s"),
    ],
)
def test_a_duration_prints_in_its_units(nanoseconds: int, text: str) -> None:
    assert format_duration(nanoseconds) == text


def test_rounding_goes_away_from_zero_and_truncation_toward_it() -> None:
    assert round_duration(90 * SECOND, MINUTE) == 2 * MINUTE
    assert round_duration(-90 * SECOND, MINUTE) == -2 * MINUTE
    assert truncate_duration(-90 * SECOND, MINUTE) == -MINUTE
    assert round_duration(5, 0) == truncate_duration(5, -1) == 5
    assert round_duration((1 << 63) - 1, HOUR) == (1 << 63) - 1
