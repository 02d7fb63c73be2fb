"""The cgroups of the nodes: one below ours for each, in every hierarchy that is mounted. All containers run in them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from steward.local.containers.names import CGROUP

# What the kubelet needs; version 2 has one hierarchy, version 1 one for each of them.
CONTROLLERS = ("cpu", "memory", "pids")
_DELEGATED = ("cpuset", "cpu", "io", "memory", "hugetlb", "pids")
_KILL_SECONDS = 10.0
_POLL_SECONDS = 0.05


def hierarchies(mounts: str) -> list[Path]:
    """The mount points of all hierarchies, from the text of /proc/mounts."""
    rows = [line.split() for line in mounts.splitlines()]
    return [Path(row[1]) for row in rows if row[2] in {"cgroup", "cgroup2"}]


def missing_controllers(mounts: str, unified: str) -> list[str]:
    """Controllers that no hierarchy has; `unified` is the text of cgroup.controllers of version 2."""
    rows = [line.split() for line in mounts.splitlines()]
    first_version = {option for row in rows if row[2] == "cgroup" for option in row[3].split(",")}
    return [name for name in CONTROLLERS if name not in first_version and name not in unified.split()]


def mounted() -> list[Path]:
    return hierarchies(Path("/proc/mounts").read_text())


def create(nodes: Iterable[str]) -> None:
    names = list(nodes)
    for hierarchy in mounted():
        ours = hierarchy / CGROUP
        for name in names:
            (ours / name).mkdir(parents=True, exist_ok=True)
        for parent in (hierarchy, ours):
            _delegate(parent)
        for group in (ours, *(ours / name for name in names)):
            weigh(group, os.cpu_count() or 1)


def _delegate(parent: Path) -> None:
    """Version 2 gives children only the controllers that their parent names. A controller may be missing."""
    control = parent / "cgroup.subtree_control"
    if control.exists():
        for name in _DELEGATED:
            with suppress(OSError):
                control.write_text(f"+{name}")


def weigh(group: Path, processors: int) -> None:
    """The share of the processors that a kubelet gives the pods of a whole machine. With the kernel's default all
    containers together get as much of a busy machine as one process that is in no cgroup."""
    for file, value in (("cpu.shares", 1024 * processors), ("cpu.weight", min(100 * processors, 10_000))):
        if (group / file).exists():
            (group / file).write_text(str(value))


def kill_all() -> None:
    """Kill every process in our cgroups, and return when none is left."""
    deadline = time.monotonic() + _KILL_SECONDS
    while (pids := _processes()) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def remove() -> None:
    """Remove our cgroups. A process that is ending keeps its cgroup busy for a moment."""
    deadline = time.monotonic() + _KILL_SECONDS
    while (left := list(_ours())) and time.monotonic() < deadline:
        for path in left:
            with suppress(OSError):
                path.rmdir()
        if any(path.exists() for path in left):
            time.sleep(_POLL_SECONDS)


def _processes() -> set[int]:
    found: set[int] = set()
    for path in _ours():
        # Removed meanwhile, or a cgroup of threads.
        with suppress(OSError):
            found.update(map(int, (path / "cgroup.procs").read_text().split()))
    return found


def _ours() -> Iterator[Path]:
    """Children before their parents."""
    for hierarchy in mounted():
        for directory, _, _ in os.walk(hierarchy / CGROUP, topdown=False):
            yield Path(directory)
