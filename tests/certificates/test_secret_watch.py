import pytest

from steward.certificates.secret_watch import ObservedVersion, is_newer


@pytest.mark.parametrize(
    ("observed", "checked", "expected"),
    [
        (ObservedVersion("7"), "7", False),
        (ObservedVersion("7"), "9", False),
        (ObservedVersion("10"), "9", True),
        (ObservedVersion("9", is_gone=True), "9", True),
        (ObservedVersion("8", is_gone=True), "9", False),
        (ObservedVersion("8"), None, True),
        (ObservedVersion("8", is_gone=True), None, False),
    ],
)
def test_only_versions_after_the_last_check_count_as_changes(observed, checked, expected):
    assert is_newer(observed, checked) is expected
