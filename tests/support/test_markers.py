"""Tests that use a server are marked at collection."""

from typing import Any

import pytest

from tests.support.markers import SERVER_FIXTURES, mark_server_tests
from tests.support.paths import TESTS


class CollectedTest:
    """As much of a pytest.Item as marking uses."""

    def __init__(self, *fixture_closure: str) -> None:
        self.fixturenames = fixture_closure
        self.markers: list[str] = []

    def add_marker(self, marker: str) -> None:
        self.markers.append(marker)


@pytest.mark.parametrize(
    ("closure", "markers"),
    [
        (("namespace", "api_server", "control_plane"), ["needs_server"]),
        (("postgres", "tmp_path"), ["needs_server"]),
        (("tmp_path",), []),
        ((), []),
    ],
)
def test_a_test_is_marked_by_its_fixture_closure(closure: tuple[str, ...], markers: list[str]) -> None:
    item: Any = CollectedTest(*closure)
    mark_server_tests([item])
    assert item.markers == markers


def test_every_server_fixture_exists() -> None:
    texts = [path.read_text() for path in TESTS.rglob("*.py")]
    assert [name for name in SERVER_FIXTURES if not any(f"def {name}(" in text for text in texts)] == []
