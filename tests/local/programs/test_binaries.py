from __future__ import annotations

import asyncio
import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from steward.local.errors import CompileFailed, DiskFull, RegistryUnreachable
from steward.local.programs import binaries
from steward.local.programs.programs import key as program_key
from steward.local.programs.programs import machine
from steward.local.progress import Share, Silent
from tests.local.support.fake_program import MAIN, fake_program


class Told:
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.activities: list[str] = []
        self.shares: list[Share] = []
        self.changed = asyncio.Event()

    def report(self, activity: str, share: Share | None = None) -> None:
        self.activities.append(activity)
        if share is not None:
            self.shares.append(share)
        self.changed.set()


async def test_a_built_program_answers_to_each_of_its_names(tmp_path: Path) -> None:
    found = await binaries.ensure([fake_program(tmp_path)], Silent(), tmp_path / "cache")
    said = [subprocess.check_output([found[name]], text=True).split() for name in ("hello", "greet")]
    assert said == [["hello", "1.2.3"], ["greet", "1.2.3"]]


async def test_progress_says_what_is_built_and_how_far(tmp_path: Path) -> None:
    told = Told()
    never_built_before = f"{MAIN}\nvar unique = {os.urandom(8).hex()!r}\n".replace("'", '"')
    await binaries.ensure([fake_program(tmp_path, never_built_before)], told, tmp_path / "cache")
    assert "building hello 1.2.3" in told.activities
    assert told.shares[-1].unit == "packages"
    assert 0 < told.shares[-1].done <= (told.shares[-1].total or 0)


async def test_a_program_is_built_once(tmp_path: Path) -> None:
    program = fake_program(tmp_path)
    first = await binaries.ensure([program], Silent(), tmp_path / "cache")
    built = first["hello"].stat().st_ino
    told = Told()
    second = await binaries.ensure([program], told, tmp_path / "cache")
    assert second["hello"].stat().st_ino == built
    assert told.activities == []


async def test_a_changed_source_is_another_program(tmp_path: Path) -> None:
    program = fake_program(tmp_path)
    before = program_key(program, machine())
    fake_program(tmp_path, main=MAIN.replace("Println", "Print"))
    assert program_key(program, machine()) != before


async def test_an_interrupted_build_heals(tmp_path: Path) -> None:
    program, cache, told = fake_program(tmp_path), tmp_path / "cache", Told()
    interrupted = asyncio.create_task(binaries.ensure([program], told, cache))
    await told.changed.wait()
    interrupted.cancel()
    with pytest.raises(asyncio.CancelledError):
        await interrupted
    assert not binaries.is_built(program, cache)
    found = await binaries.ensure([program], Silent(), cache)
    assert found["hello"].exists()


async def test_the_leftovers_of_a_killed_build_are_cleared(tmp_path: Path) -> None:
    program, cache = fake_program(tmp_path), tmp_path / "cache"
    leftover = cache / "bin" / f"incomplete-{program_key(program, machine())}-dead"
    leftover.mkdir(parents=True)
    (leftover / "hello").write_text("half a program")
    found = await binaries.ensure([program], Silent(), cache)
    assert subprocess.check_output([found["hello"]], text=True).startswith("hello")
    assert not leftover.exists()


async def test_of_two_builds_at_once_the_second_waits_says_so_and_builds_nothing(tmp_path: Path) -> None:
    program, cache = fake_program(tmp_path), tmp_path / "cache"
    first, second = Told(), Told()
    building = asyncio.create_task(binaries.ensure([program], first, cache))
    await first.changed.wait()
    await asyncio.gather(building, binaries.ensure([program], second, cache))
    assert any(f"waiting for process {os.getpid()}" in activity for activity in second.activities)
    assert not any(activity.startswith("building") for activity in second.activities)


async def test_a_full_disk_is_told_before_the_build(tmp_path: Path) -> None:
    program = dataclasses.replace(fake_program(tmp_path), disk=1 << 60)
    with pytest.raises(
        DiskFull, match=r"Building hello needs .* GiB .* free: make room, or point XDG_CACHE_HOME"
    ):
        await binaries.ensure([program], Silent(), tmp_path / "cache")


async def test_an_unreachable_registry_is_one_sentence_with_the_cure(
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
        await binaries.ensure([program], Silent(), tmp_path / "cache")
    assert not binaries.is_built(program, tmp_path / "cache")


async def test_a_program_that_does_not_compile_says_where(tmp_path: Path) -> None:
    program = fake_program(tmp_path, main=MAIN.replace("Println", "Printline"))
    with pytest.raises(CompileFailed, match=r"main.go.*Printline"):
        await binaries.ensure([program], Silent(), tmp_path / "cache")
