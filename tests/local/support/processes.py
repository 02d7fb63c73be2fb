"""Finds the processes of a local cluster, independently of its pid files."""

from pathlib import Path


def processes_using(directory: Path) -> set[int]:
    """The ids of all processes on this machine that have the directory on their command line."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if str(directory).encode() in command:
            found.add(int(entry.name))
    return found
