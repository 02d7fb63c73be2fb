from __future__ import annotations

import asyncio
import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from steward.local.errors import CompileFailed, DiskFull, RegistryUnreachable
from steward.local.programs import binaries
from steward.local.programs.programs import build_key as program_key
from steward.local.programs.programs import platform_name
from steward.local.progress import ProgressCount, SilentProgress
from tests.local.support.fake_program import MAIN, fake_program

pytestmark = pytest.mark.slow


class RecordedProgress:
    """Records all reports."""

    def __init__(self) -> None:
        self.activities: list[str] = []
        self.shares: list[ProgressCount] = []
        self.changed = asyncio.Event()

    def report(self, activity: str, share: ProgressCount | None = None) -> None:
        self.activities.append(activity)
        if share is not None:
            self.shares.append(share)
        self.changed.set()


async def test_a_built_program_can_be_called_by_each_of_its_names(tmp_path: Path) -> None:
    found = await binaries.ensure([fake_program(tmp_path)], SilentProgress(), tmp_path / "cache")
    outputs = [
        subprocess.check_output([found[name]], text=True, timeout=300).split() for name in ("hello", "greet")
    ]
    assert outputs == [["hello", "1.2.3"], ["greet", "1.2.3"]]


async def test_progress_reports_the_build_and_its_packages(tmp_path: Path) -> None:
    progress = RecordedProgress()
    never_built_before = f"{MAIN}\nvar unique = {os.urandom(8).hex()!r}\n".replace("'", '"')
    await binaries.ensure([fake_program(tmp_path, never_built_before)], progress, tmp_path / "cache")
    assert "building hello 1.2.3" in progress.activities
    assert progress.shares[-1].unit == "packages"
    assert 0 < progress.shares[-1].done <= (progress.shares[-1].total or 0)


async def test_a_program_is_built_once(tmp_path: Path) -> None:
    program = fake_program(tmp_path)
    first = await binaries.ensure([program], SilentProgress(), tmp_path / "cache")
    built = first["hello"].stat().st_ino
    progress = RecordedProgress()
    second = await binaries.ensure([program], progress, tmp_path / "cache")
    assert second["hello"].stat().st_ino == built
    assert progress.activities == []


async def test_a_changed_source_is_another_program(tmp_path: Path) -> None:
    program = fake_program(tmp_path)
    before = program_key(program, platform_name())
    fake_program(tmp_path, main=MAIN.replace("Println", "Print"))
    assert program_key(program, platform_name()) != before


async def test_an_interrupted_build_can_be_repeated(tmp_path: Path) -> None:
    program, cache, progress = fake_program(tmp_path), tmp_path / "cache", RecordedProgress()
    interrupted = asyncio.create_task(binaries.ensure([program], progress, cache))
    await progress.changed.wait()
    interrupted.cancel()
    with pytest.raises(asyncio.CancelledError):
        await interrupted
    assert not binaries.is_built(program, cache)
    found = await binaries.ensure([program], SilentProgress(), cache)
    assert found["hello"].exists()


async def test_files_of_a_killed_build_are_deleted(tmp_path: Path) -> None:
    program, cache = fake_program(tmp_path), tmp_path / "cache"
    leftover = cache / "bin" / f"incomplete-{program_key(program, platform_name())}-dead"
    leftover.mkdir(parents=True)
    (leftover / "hello").write_text("incomplete")
    found = await binaries.ensure([program], SilentProgress(), cache)
    assert subprocess.check_output([found["hello"]], text=True, timeout=300).startswith("hello")
    assert not leftover.exists()


async def test_of_two_concurrent_builds_the_second_waits_and_builds_nothing(tmp_path: Path) -> None:
    program, cache = fake_program(tmp_path), tmp_path / "cache"
    first, second = RecordedProgress(), RecordedProgress()
    building = asyncio.create_task(binaries.ensure([program], first, cache))
    await first.changed.wait()
    await asyncio.gather(building, binaries.ensure([program], second, cache))
    assert any(f"waiting for process {os.getpid()}" in activity for activity in second.activities)
    assert not any(activity.startswith("building") for activity in second.activities)


async def test_a_full_disk_is_reported_before_the_build(tmp_path: Path) -> None:
    program = dataclasses.replace(fake_program(tmp_path), disk=1 << 60)
    with pytest.raises(
        DiskFull, match=r"Building hello needs .* GiB .* free: make room, or point XDG_CACHE_HOME"
    ):
        await binaries.ensure([program], SilentProgress(), tmp_path / "cache")


async def test_an_unreachable_registry_is_an_error_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    main = MAIN.replace('"fmt"', '"fmt"\n\t_ "example.test/missing"')
    program = fake_program(tmp_path, main, require="require example.test/missing v1.0.0\n")
    (program.source / "go.sum").write_text(
        "example.test/missing v1.0.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
        "example.test/missing v1.0.0/go.mod h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    )
    with pytest.raises(RegistryUnreachable, match=r"no Go module registry is reachable: .* set GOPROXY"):
        await binaries.ensure([program], SilentProgress(), tmp_path / "cache")
    assert not binaries.is_built(program, tmp_path / "cache")


async def test_a_compile_error_names_the_file(tmp_path: Path) -> None:
    program = fake_program(tmp_path, main=MAIN.replace("Println", "Printline"))
    with pytest.raises(CompileFailed, match=r"main.go.*Printline"):
        await binaries.ensure([program], SilentProgress(), tmp_path / "cache")
