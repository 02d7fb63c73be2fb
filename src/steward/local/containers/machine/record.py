"""The record of what a cluster with containers made and changed on the machine, written before the first change.

It is kept in the directory of the cluster, so that `steward down` and the next `steward up` clean after any crash.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from steward.local.state import replace_file

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class MachineRecord(msgspec.Struct, frozen=True):
    boot: str  # everything but files is gone after a reboot
    iptables: str  # the directory of the programs that made the rules
    sysctls: dict[str, str]  # values before
    directories: list[str]  # made as mount points, parents first


def current_boot() -> str:
    return BOOT_ID.read_text().strip()


def read(path: Path) -> MachineRecord | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=MachineRecord)
    except (OSError, msgspec.DecodeError):
        return None


def write(path: Path, record: MachineRecord) -> None:
    replace_file(path, msgspec.json.encode(record).decode())


def missing_directories(wanted: tuple[Path, ...]) -> list[str]:
    """Those that must be made so that all of `wanted` exist, parents first."""
    missing = {each for path in wanted for each in (path, *path.parents) if not each.exists()}
    return sorted(map(str, missing))
