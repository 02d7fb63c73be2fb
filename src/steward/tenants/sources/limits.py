"""Limits on what a database may send, and on the memory that its rows may take.

A database server is not trusted: it may send a row that never ends, or more rows than any fleet has. The limits are
checked while bytes arrive, before a driver or a parser keeps them.
"""

import resource
from pathlib import Path
from typing import Final

ROW_BYTES: Final = 1 << 20
"""The bytes of a row, as the database sends it. A larger row is rejected: the objects of a Tenant may have 1 MB."""
RECEIVED_BYTES: Final = 1 << 30
"""The bytes that one read may receive, rejected and inactive rows included."""
TABLE_BYTES: Final = 256 << 20
"""The memory that the rows of a table may take in a process without a memory limit."""
TABLE_SHARE: Final = 8
"""The rows of a table may take one part in so many of the memory limit: a sync keeps them once more while it reads."""

_CGROUPS: Final = Path("/sys/fs/cgroup")
_OWN_CGROUP: Final = Path("/proc/self/cgroup")
_ADDRESS_LIMITS: Final = (resource.RLIMIT_AS, resource.RLIMIT_DATA)


def table_bytes(cgroups: Path = _CGROUPS, own_cgroup: Path = _OWN_CGROUP) -> int:
    """The memory that the rows of a table may take in this process."""
    files = _limit_files(cgroups, own_cgroup)
    limits = [*map(_cgroup_limit, files), *map(_process_limit, _ADDRESS_LIMITS)]
    return min([TABLE_BYTES, *(limit // TABLE_SHARE for limit in limits if limit)])


def _limit_files(cgroups: Path, own_cgroup: Path) -> list[Path]:
    """In a container the first level is its own; a process outside of one is found by its path."""
    lines = [line.split(":", 2) for line in _read(own_cgroup).splitlines()]
    own = {controllers: path.lstrip("/") for _, controllers, path in lines}
    return [
        cgroups / "memory.max",
        cgroups / own.get("", "") / "memory.max",
        cgroups / "memory" / "memory.limit_in_bytes",
        cgroups / "memory" / own.get("memory", "") / "memory.limit_in_bytes",
    ]


def _cgroup_limit(file: Path) -> int:
    """0 without a limit: version 2 writes `max`, version 1 a number beyond any memory."""
    text = _read(file).strip()
    return int(text) if text.isdecimal() else 0


def _process_limit(kind: int) -> int:
    soft, _ = resource.getrlimit(kind)
    return 0 if soft == resource.RLIM_INFINITY else soft


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
