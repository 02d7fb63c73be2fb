"""Processes of containers that outlive their containerd: shims, and runc while it starts a container.

They are recognised by their program and by an argument below our run directory; processes inside of containers are
found by their cgroup.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from steward.local.containers.names import RUN

_PROGRAMS = ("containerd-shim-runc-v2", "containerd-shim", "runc")


def is_leftover(arguments: list[str]) -> bool:
    if not arguments or Path(arguments[0]).name not in _PROGRAMS:
        return False
    return any(argument.startswith(f"{RUN}/") for argument in arguments[1:])


def kill_shims() -> None:
    for pid in _leftovers():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _leftovers() -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if is_leftover(arguments):
            yield int(path.parent.name)
