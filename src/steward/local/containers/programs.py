"""Finds containerd, runc, iptables and the network plugins.

containerd and the plugins come from packages where apt-get is at hand, else from the system; runc and iptables are
taken from the system if it has them. Unpacked programs find their libraries through small wrapper scripts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from steward.local.containers import packages
from steward.local.containers.assembly import NodePrograms
from steward.local.errors import ProgramsMissing
from steward.local.progress import Progress

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PLUGIN_DIRECTORIES = (Path("/usr/lib/cni"), Path("/opt/cni/bin"), Path("/usr/libexec/cni"))
_PLUGINS = ("bridge", "host-local", "loopback")
IPTABLES_NAMES = tuple(
    f"{family}{suffix}" for family in ("iptables", "ip6tables") for suffix in ("", "-save", "-restore")
)
# nft first, as on every current distribution; a kernel may lack it.
_BACKENDS = ("xtables-nft-multi", "xtables-legacy-multi")


async def find_programs(cache: Path, progress: Progress) -> NodePrograms:
    containerd, plugins = await _containerd(cache, progress)
    runc = _on_path("runc") or (await packages.unpacked(packages.RUNC, cache, progress)) / "usr/sbin/runc"
    iptables = _installed_iptables() or await _unpacked_iptables(cache, progress)
    return NodePrograms(containerd, containerd.with_name("ctr"), runc, plugins, iptables)


async def _containerd(cache: Path, progress: Progress) -> tuple[Path, Path]:
    installed, plugins = _on_path("containerd"), _installed_plugins()
    if shutil.which("apt-get") is None and installed and plugins:
        return installed, plugins
    home = await packages.unpacked(packages.CONTAINERD, cache, progress)
    return home / "usr/bin/containerd", home / "usr/lib/cni"


def _on_path(name: str) -> Path | None:
    # root's PATH in some shells lacks the sbin directories.
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")
    return Path(found) if found else None


def _installed_plugins() -> Path | None:
    complete = (each for each in _PLUGIN_DIRECTORIES if all((each / name).exists() for name in _PLUGINS))
    return next(complete, None)


def _installed_iptables() -> Path | None:
    found = _on_path("iptables-restore")
    return found.parent if found and (found.parent / "iptables").exists() else None


async def _unpacked_iptables(cache: Path, progress: Progress) -> Path:
    home = await packages.unpacked(packages.IPTABLES, cache, progress)
    for backend in _BACKENDS:
        wrappers = home / "wrappers" / backend
        _write_wrappers(home, backend, wrappers)
        if _works(wrappers / "iptables"):
            return wrappers
    raise ProgramsMissing(
        "This kernel supports neither nftables nor iptables: load its modules with `modprobe -a nf_tables nft_compat`, "
        "or use a kernel that has them."
    )


def _write_wrappers(home: Path, backend: str, wrappers: Path) -> None:
    wrappers.mkdir(parents=True, exist_ok=True)
    for name in IPTABLES_NAMES:
        wrapper = wrappers / name
        wrapper.write_text(wrapper_script(home, backend, name))
        wrapper.chmod(0o755)


def wrapper_script(home: Path, backend: str, name: str) -> str:
    libraries = f"{home}/usr/lib/{os.uname().machine}-linux-gnu"
    return (
        "#!/bin/sh\n"
        f"export LD_LIBRARY_PATH='{libraries}' XTABLES_LIBDIR='{libraries}/xtables'\n"
        f"exec '{home}/usr/sbin/{backend}' {name} \"$@\"\n"
    )


def _works(iptables: Path) -> bool:
    listed = subprocess.run([iptables, "-w", "-t", "nat", "-S"], capture_output=True, check=False)
    return listed.returncode == 0
