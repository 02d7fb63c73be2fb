"""Debian packages, downloaded and unpacked into the cache. Nothing is installed: no service starts, and no file of the
system changes.

Invariant: a directory under `packages/` is complete. Packages are unpacked under a lock into a temporary directory,
which is renamed at the end.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from steward.local.errors import ProgramsMissing
from steward.local.locks import exclusive
from steward.local.progress import Progress, ProgressCount

CONTAINERD = ("containerd", "containernetworking-plugins")
RUNC = ("runc",)
# With the libraries that a small installation lacks.
IPTABLES = (
    "iptables",
    "libip4tc2",
    "libip6tc2",
    "libmnl0",
    "libnetfilter-conntrack3",
    "libnfnetlink0",
    "libnftnl11",
    "libxtables12",
)


async def unpacked(names: Sequence[str], cache: Path, progress: Progress) -> Path:
    """The directory into which the packages are unpacked; they are downloaded now unless they are cached."""
    home = cache / "packages" / f"{names[0]}-{_key(names, _release())}"
    if home.is_dir():
        return home
    lock = home.with_name(f".{home.name}.lock")
    async with exclusive(
        lock, lambda pid: progress.report(f"waiting for process {pid}, which fetches packages")
    ):
        if not home.is_dir():
            await _fetch(names, home, progress)
    return home


def _key(names: Sequence[str], release: str) -> str:
    return hashlib.sha256("\n".join((release, *names)).encode()).hexdigest()[:12]


def _release() -> str:
    """Distribution and architecture: packages of another release have other library versions."""
    found = Path("/etc/os-release")
    return f"{found.read_text() if found.exists() else ''}{os.uname().machine}"


async def _fetch(names: Sequence[str], home: Path, progress: Progress) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise ProgramsMissing(missing_packages_message(names))
    for leftover in home.parent.glob("incomplete-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    incomplete = Path(tempfile.mkdtemp(prefix="incomplete-", dir=home.parent))
    try:
        activity = f"fetching the packages of {names[0]}"
        progress.report(activity, ProgressCount(0, "packages", len(names)))
        await _run(["apt-get", "download", *names], incomplete, names)
        for count, archive in enumerate(sorted(incomplete.glob("*.deb")), 1):
            progress.report(activity, ProgressCount(count, "packages", len(names)))
            await _run(["dpkg", "-x", archive.name, "."], incomplete, names)
            archive.unlink()
        incomplete.chmod(0o755)
        incomplete.rename(home)
    finally:
        shutil.rmtree(incomplete, ignore_errors=True)


async def _run(command: list[str], directory: Path, names: Sequence[str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=directory, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        output, _ = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise ProgramsMissing(failed_message(names, output.decode(errors="replace")))


def missing_packages_message(names: Sequence[str]) -> str:
    return (
        f"{names[0]} is not installed and this machine has no apt-get to fetch it: install what Debian calls "
        f"{' and '.join(names[:2]) if names == CONTAINERD else names[0]}, so that it is on PATH."
    )


def failed_message(names: Sequence[str], output: str) -> str:
    errors = [line for line in output.splitlines() if line.startswith(("E:", "dpkg"))]
    reason = (errors or output.splitlines() or ["no reason given"])[0].strip()
    return (
        f"The packages of {names[0]} cannot be fetched ({reason}): run `apt-get update`, make the package index "
        f"reachable, or run `apt-get install {' '.join(names)}`."
    )
