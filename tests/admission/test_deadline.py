import pytest

from steward.admission.deadline import parse_duration, seconds_to_answer


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("1m30s", 90), ("2.5s", 2.5), ("500ms", 0.5), ("1h", 3600), ("", None), ("x", None), ("10", None),
     ("5s!", None), ("0s", None)],
)  # fmt: skip
def test_a_go_duration_is_read(text, seconds):
    assert parse_duration(text) == (pytest.approx(seconds) if seconds else None)


@pytest.mark.parametrize(
    ("timeout", "seconds"), [("10s", 9), ("30s", 29), ("1s", 0.9), (None, 9), ("junk", 9)]
)
def test_the_answer_comes_before_the_api_server_gives_up(timeout, seconds):
    assert seconds_to_answer(timeout) == pytest.approx(seconds)
