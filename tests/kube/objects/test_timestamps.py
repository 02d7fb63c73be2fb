import pytest

from steward.kube.objects.timestamps import from_timestamp, to_timestamp


def test_a_time_is_written_in_utc_and_whole_seconds() -> None:
    assert to_timestamp(1_800_000_000.9) == "2027-01-15T08:00:00Z"


@pytest.mark.parametrize(
    "text", ["2027-01-15T08:00:00Z", "2027-01-15T09:00:00+01:00", "2027-01-15T08:00:00.000000Z"]
)
def test_any_spelling_of_a_time_is_read(text: str) -> None:
    assert from_timestamp(text) == 1_800_000_000


def test_text_that_is_no_timestamp_is_rejected() -> None:
    with pytest.raises(ValueError, match="yesterday"):
        from_timestamp("yesterday")
