"""Runs `steward` commands as a user's shell does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shell:
    """Runs `steward` with a cluster directory of its own."""

    directory: Path

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"STEWARD_DIR": str(self.directory)}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command(*arguments),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command(*arguments),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @staticmethod
    def _command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "steward.cli.main", *arguments]


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """The output up to the line that contains these words."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError(f"{words!r} is missing in:\n{''.join(lines)}")
