"""The front door: `make` without a target explains itself, and what the pipeline runs is what a developer runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def make(*arguments: str) -> str:
    done = subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_make_alone_is_help() -> None:
    assert make() == make("help")


@pytest.mark.parametrize("target", ["up", "down", "test", "check", "bench", "fmt", "lock"])
def test_help_names_every_target(target: str) -> None:
    assert re.search(rf"^make {target}\s+\S", make("help"), re.MULTILINE)


def test_the_tests_have_their_programs_and_databases_first() -> None:
    steps = make("--dry-run", "test")
    assert steps.index("steward.local") < steps.index("tests.install_databases") < steps.index("bin/pytest")


def test_the_pipeline_runs_what_a_developer_runs() -> None:
    assert "exec make check test" in (ROOT / ".ci" / "run").read_text()
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_set_up_costs_nothing_once_done(tmp_path: Path) -> None:
    """With the stamp newer than what it stands for, no step of the set-up is left."""
    for name in ("Makefile", "pyproject.toml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "requirements").mkdir()
    for name in ("dev.txt", "uv.txt"):
        (tmp_path / "requirements" / name).touch()
    (tmp_path / ".venv").mkdir()
    before = make("--directory", str(tmp_path), "--dry-run", "setup")
    (tmp_path / ".venv" / ".ready").touch()
    after = make("--directory", str(tmp_path), "--dry-run", "setup")
    assert "require-hashes" in before
    assert "require-hashes" not in after
