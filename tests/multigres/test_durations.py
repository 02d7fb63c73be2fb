"""Durations as people write them in annotations."""

import pytest

from steward.multigres.durations import parse_duration, show_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("2h", 7200),
        ("0", 0),
        ("1.5s", 1.5),
        (" 5s ", 5),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("1000000000ns", 1),
    ],
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "30", "-5s", "5 s", "s", "1d", "٣s", "1e3s", "infs"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (0.5, "500ms"), (30, "30s"), (59.5, "59.5s"), (60, "1m0s"), (300, "5m0s"), (3690, "1h1m30s")],
)
def test_a_duration_is_shown_as_go_would_and_reads_back_as_the_same(seconds: float, shown: str) -> None:
    assert show_duration(seconds) == shown
    assert parse_duration(shown) == seconds
