"""Current and peak memory and CPU time of a process, and memory of a process with its children, from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

KIB_PER_MB = 1_000_000 / 1024


@dataclass(frozen=True)
class Usage:
    rss_mb: float
    peak_mb: float
    private_mb: float
    """Memory that would be freed if the process ended, without pages of shared libraries."""
    cpu_seconds: float


def process_usage(pid: int | None = None) -> Usage:
    directory = Path(f"/proc/{pid or os.getpid()}")
    status = _kib(directory / "status")
    rollup = _kib(directory / "smaps_rollup")
    private = rollup["Private_Clean"] + rollup["Private_Dirty"]
    ticks = (directory / "stat").read_text().rpartition(")")[2].split()[11:13]
    return Usage(
        rss_mb=status["VmRSS"] / KIB_PER_MB,
        peak_mb=status["VmHWM"] / KIB_PER_MB,
        private_mb=private / KIB_PER_MB,
        cpu_seconds=sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
    )


def tree_mb(pid: int) -> float:
    """Memory of a process and its children; a page that they share counts once, as it does in a container's limit."""
    total = 0
    for each in (pid, *_children(pid)):
        with suppress(OSError):  # it has ended meanwhile
            total += _kib(Path(f"/proc/{each}/smaps_rollup"))["Pss"]
    return total / KIB_PER_MB


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []


def _kib(path: Path) -> dict[str, int]:
    """The lines of the form `Name:   123 kB`."""
    pairs = (line.split() for line in path.read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) for words in pairs if words[-1:] == ["kB"]}
