import pytest

from steward.admission.deadline import deadline_seconds


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [
        ("10s", 9),
        ("30s", 29),
        ("1m30s", 29),
        ("1000h", 29),
        ("2.5s", 2.25),
        ("1s", 0.9),
        (None, 9),
        ("", 9),
        ("junk", 9),
        ("0s", 9),
    ],
)
def test_the_deadline_is_before_the_timeout_of_the_api_server(timeout, seconds):
    assert deadline_seconds(timeout) == pytest.approx(seconds)
