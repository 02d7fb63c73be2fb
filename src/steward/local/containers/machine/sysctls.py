"""Kernel settings that kubelets change. Their values are recorded before and written back afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

CHANGED = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
_ROOT = Path("/proc/sys")


def read(root: Path = _ROOT) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in CHANGED:
        with suppress(OSError):  # a kernel without this setting
            found[name] = (root / name).read_text().strip()
    return found


def restore(recorded: Mapping[str, str], root: Path = _ROOT) -> None:
    """Write back what differs. Only names that we change: the record is a file that may be edited."""
    current = read(root)
    for name, value in recorded.items():
        if name in CHANGED and current.get(name) != value:
            with suppress(OSError):
                (root / name).write_text(value)


def enable_forwarding(interface: str, root: Path = _ROOT) -> None:
    """Of this interface only, and as long as it exists: the machine as a whole does not become a router."""
    (root / "net/ipv4/conf" / interface / "forwarding").write_text("1")
