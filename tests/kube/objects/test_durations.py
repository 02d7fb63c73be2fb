"""Durations as users write them in specs, annotations and flags."""

import pytest

from steward.kube.objects.durations import format_duration, parse_duration, parse_interval


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("2h", 7200),
        ("0", 0),
        ("0s", 0),
        ("1.5s", 1.5),
        (" 5s ", 5),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("1000000000ns", 1),
    ],
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "soon", "30", "-5s", "5 s", "s", "1d", "٣s", "1e3s", "infs", "5s!", ".5s", "1.s"]
)
def test_text_that_is_no_duration_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("2h", 7200), ("0s", 0), ("007s", 7)]
)
def test_an_interval_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert parse_interval(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "0", "30", "s", "1d", "-1s", "1.5s", "1s ", "1m30s", "5ms", "٣s", "1s\n"]
)
def test_text_that_is_no_interval_is_rejected_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="as in 30s"):
        parse_interval(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (0.5, "500ms"), (30, "30s"), (59.5, "59.5s"), (60, "1m0s"), (300, "5m0s"), (3690, "1h1m30s")],
)
def test_a_duration_is_formatted_as_go_does_and_reads_back_as_the_same(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
    assert parse_duration(text) == seconds
