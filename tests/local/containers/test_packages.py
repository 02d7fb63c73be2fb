"""Downloaded packages: what is kept, and what a user reads when they cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local.containers import packages
from steward.local.errors import ProgramsMissing
from steward.local.progress import SilentProgress


def programs(directory: Path, apt: str) -> None:
    """apt-get and dpkg as scripts."""
    directory.mkdir()
    (directory / "apt-get").write_text(f"#!/bin/sh\n{apt}\n")
    (directory / "dpkg").write_text(
        "#!/bin/sh\nmkdir -p usr/bin && echo unpacked > usr/bin/$(basename $2 .deb)\n"
    )
    for name in ("apt-get", "dpkg"):
        (directory / name).chmod(0o755)


async def test_packages_are_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path / "bin", f"echo x >> {tmp_path}/calls; shift; for n in $*; do touch $n.deb; done")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    first = await packages.unpacked(("runc",), tmp_path / "cache", SilentProgress())
    assert await packages.unpacked(("runc",), tmp_path / "cache", SilentProgress()) == first
    assert (first / "usr/bin/runc").read_text() == "unpacked\n"
    assert list(first.glob("*.deb")) == []
    assert (tmp_path / "calls").read_text() == "x\n"


async def test_a_failed_download_names_the_reason_and_the_cure_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(tmp_path / "bin", "echo 'E: Unable to locate package runc' >&2; exit 100")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    with pytest.raises(ProgramsMissing, match=r"\(E: Unable to locate package runc\): run `apt-get update`"):
        await packages.unpacked(("runc",), tmp_path / "cache", SilentProgress())
    assert [path.name for path in (tmp_path / "cache/packages").iterdir() if path.is_dir()] == []


async def test_without_apt_the_error_names_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ProgramsMissing, match="install what Debian calls containerd and containernetworking-plugins"
    ):
        await packages.unpacked(packages.CONTAINERD, tmp_path / "cache", SilentProgress())
