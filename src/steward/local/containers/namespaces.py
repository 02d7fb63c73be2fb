"""Beginnings of command lines that start a program in a mount namespace of its own, or in that of another process."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from steward.local.processes import Service
from steward.local.settings import Layout

_PROGRAM = Path(__file__).with_name("mount_namespace.py")
_INTERPRETER = (sys.executable, "-I", "-S", str(_PROGRAM))


def in_mount_namespace(shown: Mapping[Path, Path]) -> list[str]:
    """In a new namespace; `shown` has what the program sees at each path."""
    binds = [part for target, source in shown.items() for part in ("--bind", str(source), str(target))]
    return [*_INTERPRETER, *binds, "--"]


def in_namespace_of(service: Service) -> list[str]:
    return [*_INTERPRETER, "--join", str(service.pidfile), "--"]


def cluster_resolver(layout: Layout) -> dict[Path, Path]:
    """Files that let a process on this machine resolve the names of Services; a file that is missing stays so."""
    config = layout.config
    shown = {
        Path("/etc/resolv.conf"): config / "resolv-processes.conf",
        Path("/etc/nsswitch.conf"): config / "nsswitch.conf",
    }
    return {target: source for target, source in shown.items() if target.exists()}
