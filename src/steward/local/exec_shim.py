"""Becomes the program it is told to run, after writing down who it is.

    python -I -S launch.py PIDFILE LOGFILE PARENT COMMAND [ARGUMENT ...]

A process that records itself before it becomes the program leaves no moment in which it runs unknown, however its
parent ends. PARENT is the process id of a parent to end with, or 0 to outlive it. This is a program of its own, and
not a function between fork and exec, because Python code there can deadlock where the parent has threads.
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
    """Ask the kernel to kill us when the parent dies, and notice if it already has."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        sys.exit(1)


def write_pidfile(pidfile: str) -> None:
    # The start time and the boot make a process id unique: ids are used again, these three together are not.
    with open("/proc/self/stat") as stat:  # noqa: PTH123 - pathlib costs more than the rest of this program
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
