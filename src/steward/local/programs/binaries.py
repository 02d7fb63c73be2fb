"""Builds programs once and keeps them: `ensure` returns the path of every name that can be called.

The invariant: a directory under `bin/` is whole. A build happens in a directory beside it that is renamed at the end,
under a lock, so a build that was interrupted leaves nothing that a later one could take for the real thing. Go's own
build cache is left where it is: it makes the second attempt of an interrupted build quick.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from steward.local.locks import exclusive
from steward.local.paths import cache_directory
from steward.local.programs import disk, toolchain
from steward.local.programs.disk import Need
from steward.local.programs.go_build import Compilation, compile_program
from steward.local.programs.programs import Program, key, machine, required_go
from steward.local.progress import Progress


async def ensure(
    programs: Iterable[Program], progress: Progress, cache: Path | None = None
) -> dict[str, Path]:
    """The executables of `programs` by the names they are called by, built now if need be."""
    found: dict[str, Path] = {}
    for program in programs:
        home = await _ensure_one(program, progress, cache or cache_directory())
        found |= {name: home / name for name in program.names}
    return found


def is_built(program: Program, cache: Path | None = None) -> bool:
    return _home(program, cache or cache_directory()).is_dir()


def _home(program: Program, cache: Path) -> Path:
    return cache / "bin" / key(program, machine())


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
    need = Need(
        f"Building {program.name}", program.disk, cache, "point XDG_CACHE_HOME and GOCACHE at a larger disk"
    )
    disk.require(need)
    with disk.told(need):
        await _build_beside(program, home, progress, cache)


async def _build_beside(program: Program, home: Path, progress: Progress, cache: Path) -> None:
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
