"""Room on the disk: asked for before slow work begins, and told in one sentence when it runs out all the same."""

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
class Need:
    """`purpose` takes `size` bytes of the disk that holds `directory`; `elsewhere` says how to use another one."""

    purpose: str
    size: int
    directory: Path
    elsewhere: str


def require(need: Need) -> None:
    """Refuse early: a build that fails on a full disk after ten minutes helps nobody."""
    free = shutil.disk_usage(need.directory).free
    if free < need.size:
        raise DiskFull(
            f"{need.purpose} needs {_text(need.size)} and the disk of {need.directory} has {_text(free)} free: "
            f"make room, or {need.elsewhere}."
        )


@contextmanager
def told(need: Need) -> Iterator[None]:
    """Turns the system's own complaint into the sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise DiskFull(
            f"{need.purpose} filled the disk of {need.directory}: make room, or {need.elsewhere}."
        ) from error


def _text(size: int) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size // MIB} MiB"
