"""Identity of the process."""

from __future__ import annotations

from importlib.metadata import version

from steward.runtime.manager.identity import VERSION, identity


def test_the_version_is_that_of_the_package() -> None:
    assert version("steward") == VERSION


def test_two_processes_have_different_instances() -> None:
    first, second = (identity("operator", {"POD_NAME": "pod-1"}) for _ in range(2))
    assert first.user_agent == second.user_agent == f"operator/{VERSION}"
    assert first.instance.startswith("pod-1_")
    assert first.instance != second.instance
