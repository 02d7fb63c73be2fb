"""The parts of the program that need no root; tests/e2e runs it."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.mount_namespace import split_command
from steward.local.containers.namespaces import in_mount_namespace, in_namespace_of
from steward.local.processes import Service


def test_options_end_at_the_first_double_dash() -> None:
    assert split_command(["--join", "f", "--", "sh", "--", "x"]) == (["--join", "f"], ["sh", "--", "x"])


def test_a_command_line_shows_sources_at_their_targets() -> None:
    command = in_mount_namespace({Path("/etc/resolv.conf"): Path("/c/resolv.conf")})
    assert command[-4:] == ["--bind", "/c/resolv.conf", "/etc/resolv.conf", "--"]


def test_a_command_line_names_the_process_whose_namespace_it_joins(tmp_path: Path) -> None:
    assert in_namespace_of(Service("containerd", tmp_path))[-3:] == [
        "--join",
        f"{tmp_path}/containerd.pid",
        "--",
    ]
