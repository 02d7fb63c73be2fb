from __future__ import annotations

import pytest

from steward.local.images.names import full_name, registry_host

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("name", "full", "host"),
    [
        ("steward", "docker.io/library/steward:latest", "docker.io"),
        ("steward:1", "docker.io/library/steward:1", "docker.io"),
        ("team/app:1", "docker.io/team/app:1", "docker.io"),
        ("docker.io/library/app:1", "docker.io/library/app:1", "docker.io"),
        ("ghcr.io/team/app", "ghcr.io/team/app:latest", "ghcr.io"),
        ("steward.local/pause:1", "steward.local/pause:1", "steward.local"),
        ("localhost/app:1", "localhost/app:1", "localhost"),
        ("localhost:5000/app", "localhost:5000/app:latest", "localhost:5000"),
        (f"ghcr.io/app@{DIGEST}", f"ghcr.io/app@{DIGEST}", "ghcr.io"),
    ],
)
def test_a_name_is_completed_as_the_kubelet_completes_it(name: str, full: str, host: str) -> None:
    assert (full_name(name), registry_host(name)) == (full, host)
