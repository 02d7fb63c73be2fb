from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.paths import cache_directory, default_directory


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HOME": "/h"}, "/h/.local/state/steward"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/steward"),
        ({"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.local/state/steward"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s", "STEWARD_DIR": "/mine"}, "/mine"),
    ],
)
def test_the_default_cluster_directory(environment: dict[str, str], expected: str) -> None:
    assert default_directory(environment) == Path(expected)


def test_the_cache_directory() -> None:
    assert cache_directory({"HOME": "/h"}) == Path("/h/.cache/steward")
    assert cache_directory({"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == Path("/c/steward")
