"""Runs a process under a real memory limit: a cgroup as a kubelet makes it, or a limit on the process's data.

A cgroup needs write access to the tests' own group, which root has. Elsewhere RLIMIT_DATA is used: it counts private
writable memory, whether it is used or not, so it is the stricter of the two. RLIMIT_AS would also count mapped
libraries and the address space that threads reserve, which no kubelet does.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_CGROUPS: Final = Path("/sys/fs/cgroup")
_ENTER_GROUP: Final = 'echo $$ > "$0" && exec "$@"'
_SET_LIMIT: Final = (
    "import os, resource, sys; limit = int(sys.argv[1]); "
    "resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)); os.execv(sys.argv[2], sys.argv[2:])"
)


@contextmanager
def memory_limit(size: int) -> Iterator[tuple[str, ...]]:
    """A command that takes another one as its arguments and becomes it, under the limit."""
    group = _limited_group(size)
    if group is None:
        yield (sys.executable, "-c", _SET_LIMIT, str(size))
        return
    try:
        yield ("/bin/sh", "-c", _ENTER_GROUP, str(group / "cgroup.procs"))
    finally:
        group.rmdir()


def _limited_group(size: int) -> Path | None:
    for parent, limit_file in _memory_groups():
        group = parent / f"steward-test-{secrets.token_hex(4)}"
        with suppress(OSError):
            group.mkdir()
            if _can_limit(group, limit_file, size):
                return group
            group.rmdir()
    return None


def _can_limit(group: Path, limit_file: str, size: int) -> bool:
    try:
        (group / limit_file).write_text(str(size))
    except OSError:
        return False
    # Without this, the kernel would swap instead of ending the process.
    for swap, value in (("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", str(size))):
        if (group / swap).exists():
            (group / swap).write_text(value)
    return os.access(group / "cgroup.procs", os.W_OK)


def _memory_groups() -> Iterator[tuple[Path, str]]:
    """The own groups with a memory controller: version 1, then version 2."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            yield _CGROUPS / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
        elif not controllers:
            yield _CGROUPS / path.lstrip("/"), "memory.max"
