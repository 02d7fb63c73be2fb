"""The Makefile: its help, the prerequisites of its targets, and its use by the pipeline."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def make(*arguments: str) -> str:
    done = subprocess.run(
        ["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout


def test_make_without_a_target_prints_the_help() -> None:
    assert make() == make("help")


@pytest.mark.parametrize(
    "target", ["up", "down", "test", "test-fast", "attacks", "chaos", "check", "bench", "fmt", "lock"]
)
def test_help_names_every_target(target: str) -> None:
    assert re.search(rf"^make {target}\s+\S", make("help"), re.MULTILINE)


def test_programs_and_databases_are_installed_before_the_tests() -> None:
    steps = make("--dry-run", "test")
    assert steps.index("steward.local") < steps.index("tests.install_databases") < steps.index("bin/pytest")


def test_fast_tests_need_no_programs_and_no_databases() -> None:
    steps = make("--dry-run", "test-fast")
    assert '-m "not needs_server and not slow"' in steps
    assert "python -m steward.local" not in steps
    assert "tests.install_databases" not in steps


def test_the_pipeline_runs_what_a_developer_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    targets = [line.split()[1] for line in script.splitlines() if line.startswith("make ")]
    assert targets == ["check", "test", "attacks", "chaos"]
    assert "set -eu" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_set_up_runs_only_once(tmp_path: Path) -> None:
    """No set-up step runs while the stamp is newer than its prerequisites."""
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
