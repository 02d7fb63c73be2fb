"""Checks for free disk space before slow work begins, and explains a disk that becomes full later."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steward.local.errors import DiskFull

MIB = 1024**2
GIB = 1024**3


@dataclass(frozen=True)
class DiskRequirement:
    """`purpose` needs `size` bytes on the disk of `directory`; `elsewhere` says how to use another disk."""

    purpose: str
    size: int
    directory: Path
    elsewhere: str


def require_space(need: DiskRequirement) -> None:
    """Fail early: a build could otherwise fill the disk after ten minutes."""
    free = shutil.disk_usage(need.directory).free
    if free < need.size:
        raise DiskFull(
            f"{need.purpose} needs {_describe_size(need.size)} and the disk of {need.directory} has "
            f"{_describe_size(free)} free: make room, or {need.elsewhere}."
        )


@contextmanager
def translate_disk_full(need: DiskRequirement) -> Iterator[None]:
    """Turn ENOSPC and EDQUOT into DiskFull, with a message that names the cure."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise DiskFull(
            f"{need.purpose} filled the disk of {need.directory}: make room, or {need.elsewhere}."
        ) from error


def _describe_size(size: int) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size // MIB} MiB"
