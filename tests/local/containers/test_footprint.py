"""The list that a user reads before the first start."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.containers.footprint import footprint
from steward.local.containers.network import parse_pod_network

NAMED = (
    "steward0",
    "10.88.0.0/24",
    "10.96.0.0/16",
    "KUBE-*",
    "STEWARD-LOCAL",
    "/run/steward-local",
    "/my/cluster",
)


@pytest.mark.parametrize("name", [*NAMED, "cgroups", "namespace", "vm.overcommit_memory", "steward down"])
def test_everything_that_is_made_is_named(name: str) -> None:
    lines = footprint(Path("/my/cluster"), parse_pod_network("10.88.0.0/24"))
    assert any(name in line for line in lines)
