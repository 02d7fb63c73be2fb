"""Memory of a running process, as the kernel counts it."""

from pathlib import Path

MIB = 1 << 20


def resident_bytes(pid: int) -> int:
    return _status(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """The largest resident set since the start of the process, or since `reset_peak`."""
    return _status(pid, "VmHWM")


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024
