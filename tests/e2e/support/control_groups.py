"""Processes and memory of a container, as the kernel counts them: control groups of version 1 and 2."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
# By file of version 2: the file of version 1.
_VERSION_1 = {"memory.peak": "memory.max_usage_in_bytes", "memory.current": "memory.usage_in_bytes"}


class ControlGroup:
    def __init__(self, container: str) -> None:
        base = _ROOT / "memory" if (_ROOT / "memory").is_dir() else _ROOT
        self._directory = next(path for path in base.rglob(container) if path.is_dir())

    def processes(self) -> list[int]:
        return [int(line) for line in (self._directory / "cgroup.procs").read_text().split()]

    def peak_bytes(self) -> int:
        """The most memory that the container has had since its start, with the files that the kernel caches for it."""
        return self._read("memory.peak")

    def _read(self, name: str) -> int:
        path = self._directory / name
        return int((path if path.exists() else path.with_name(_VERSION_1[name])).read_text())
