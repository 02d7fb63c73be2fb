"""Installs packages that tests need, on Debian and derived distributions as root; elsewhere the error names them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Debian runs this program to decide whether a service may be started; exit code 101 means no.
_POLICY = Path("/usr/sbin/policy-rc.d")


def install_packages(missing: Sequence[str]) -> str | None:
    """Returns an error message, or None. No service is started."""
    if not missing:
        return None
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        return (
            f"The tests need {' and '.join(missing)}: install it (`sudo apt-get install {' '.join(missing)}` on Debian "
            "and Ubuntu; the equivalent packages elsewhere), then run the same command again."
        )
    print(f"installing {' and '.join(missing)} (no service is started)", file=sys.stderr)
    with _services_not_started():
        return _apt_get("update") or _apt_get("install", "--yes", "--no-install-recommends", *missing)


def _apt_get(*arguments: str) -> str | None:
    done = subprocess.run(
        ["apt-get", "--quiet", *arguments],
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    if done.returncode == 0:
        return None
    return f"`apt-get {' '.join(arguments)}` failed: make it work, then run the same command again.\n{done.stderr}"


@contextmanager
def _services_not_started() -> Iterator[None]:
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()
