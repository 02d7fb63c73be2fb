"""Writes a pid file, then replaces itself with a program.

    python -I -S exec_shim.py PIDFILE LOGFILE PARENT COMMAND [ARGUMENT ...]

The process writes its own pid file before exec, so the program never runs without one, even if the parent dies. PARENT
is the id of the parent process to end with, or 0 to outlive it. This is a separate program and not a function between
fork and exec, because Python code there can deadlock if the parent has threads.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(pidfile: str, logfile: str, parent: int, command: list[str]) -> None:
    os.setsid()
    if parent:
        end_with_parent(parent)
    write_pidfile(pidfile)
    redirect(logfile)
    os.execv(command[0], command)


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the parent dies; exit if it is dead already."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        sys.exit(1)


def write_pidfile(pidfile: str) -> None:
    # Process ids are reused; id, start time and boot id together are unique.
    with open("/proc/self/stat") as stat:  # noqa: PTH123 - importing pathlib takes longer than the rest of this program
        started = int(stat.read().rpartition(")")[2].split()[19])
    with open("/proc/sys/kernel/random/boot_id") as boot_id:  # noqa: PTH123
        identity = {"pid": os.getpid(), "started": started, "boot": boot_id.read().strip()}
    incomplete = f"{pidfile}.{os.getpid()}"
    with open(incomplete, "w") as file:  # noqa: PTH123
        json.dump(identity, file)
    os.replace(incomplete, pidfile)  # noqa: PTH105


def redirect(logfile: str) -> None:
    log = os.open(logfile, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
