"""Builds programs once and caches them: `ensure` returns the paths of the executables.

Invariant: a directory under `bin/` is complete. A build runs under a lock in a temporary directory that is renamed at
the end, so an interrupted build leaves nothing that a later one could use. Go's own build cache is kept: it makes the
second attempt of an interrupted build quick.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from steward.local.locks import exclusive
from steward.local.paths import cache_directory
from steward.local.programs import disk, toolchain
from steward.local.programs.disk import DiskRequirement
from steward.local.programs.go_build import Compilation, compile_program
from steward.local.programs.programs import Program, build_key, platform_name, required_go
from steward.local.progress import Progress


async def ensure(
    programs: Iterable[Program], progress: Progress, cache: Path | None = None
) -> dict[str, Path]:
    """The executables of `programs` by name, built now unless they are cached."""
    found: dict[str, Path] = {}
    for program in programs:
        home = await _ensure_one(program, progress, cache or cache_directory())
        found |= {name: home / name for name in program.names}
    return found


def is_built(program: Program, cache: Path | None = None) -> bool:
    return _home(program, cache or cache_directory()).is_dir()


def _home(program: Program, cache: Path) -> Path:
    return cache / "bin" / build_key(program, platform_name())


async def _ensure_one(program: Program, progress: Progress, cache: Path) -> Path:
    home = _home(program, cache)
    if home.is_dir():
        return home
    lock = cache / "bin" / f".{home.name}.lock"
    async with exclusive(
        lock, lambda pid: progress.report(f"waiting for process {pid}, which builds {program.name}")
    ):
        if not home.is_dir():
            await _build(program, home, progress, cache)
    return home


async def _build(program: Program, home: Path, progress: Progress, cache: Path) -> None:
    need = DiskRequirement(
        f"Building {program.name}", program.disk, cache, "point XDG_CACHE_HOME and GOCACHE at a larger disk"
    )
    disk.require_space(need)
    with disk.translate_disk_full(need):
        await _build_in_temporary_directory(program, home, progress, cache)


async def _build_in_temporary_directory(
    program: Program, home: Path, progress: Progress, cache: Path
) -> None:
    go = await toolchain.find_go(required_go(program.source), cache, progress)
    for leftover in home.parent.glob(f"incomplete-{home.name}-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    incomplete = Path(tempfile.mkdtemp(prefix=f"incomplete-{home.name}-", dir=home.parent))
    try:
        await compile_program(Compilation(go, program, incomplete / program.name), progress)
        for name in program.names:
            if name != program.name:
                (incomplete / name).symlink_to(program.name)
        incomplete.chmod(0o755)
        incomplete.rename(home)
    finally:
        shutil.rmtree(incomplete, ignore_errors=True)
