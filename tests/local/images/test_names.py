from __future__ import annotations

import pytest

from steward.local.images.names import full_name

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("steward", "docker.io/library/steward:latest"),
        ("steward:1", "docker.io/library/steward:1"),
        ("team/app:1", "docker.io/team/app:1"),
        ("docker.io/library/app:1", "docker.io/library/app:1"),
        ("ghcr.io/team/app", "ghcr.io/team/app:latest"),
        ("steward.local/pause:1", "steward.local/pause:1"),
        ("localhost/app:1", "localhost/app:1"),
        ("localhost:5000/app", "localhost:5000/app:latest"),
        (f"ghcr.io/app@{DIGEST}", f"ghcr.io/app@{DIGEST}"),
    ],
)
def test_a_name_is_completed_as_the_kubelet_completes_it(name: str, full: str) -> None:
    assert full_name(name) == full
