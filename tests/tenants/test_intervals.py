import pytest

from steward.tenants.intervals import seconds_of, sync_seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("2h", 7200), ("0s", 0), ("007s", 7)]
)
def test_an_interval_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "s", "1d", "-1s", "1.5s", "1s ", "1m30s", "٣s", "1s\n"])
def test_what_is_no_interval_is_an_error_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="as in 30s"):
        seconds_of(text)


def test_no_table_is_read_without_a_pause() -> None:
    assert sync_seconds("0s") == 1
    assert sync_seconds("30s") == 30
