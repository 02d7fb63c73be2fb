import pytest

from steward.certificates.secret_watch import Sighting, is_news


@pytest.mark.parametrize(
    ("seen", "left", "told"),
    [
        (Sighting("7"), "7", False),
        (Sighting("7"), "9", False),
        (Sighting("10"), "9", True),
        (Sighting("9", is_gone=True), "9", True),
        (Sighting("8", is_gone=True), "9", False),
        (Sighting("8"), None, True),
        (Sighting("8", is_gone=True), None, False),
    ],
)
def test_only_what_came_after_the_last_check_is_news(seen, left, told):
    assert is_news(seen, left) is told
