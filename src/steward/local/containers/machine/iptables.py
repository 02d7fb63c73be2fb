"""Runs iptables, for both families of addresses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from steward.local.containers.machine.firewall import install_script, kube_chains, removal_script
from steward.local.containers.programs import SYSTEM_PATH
from steward.local.errors import MachineUnsuitable

_FAMILIES = ("iptables", "ip6tables")
_WAIT_SECONDS = "10"  # for the lock of another iptables


class Iptables:
    """The programs in `directory`, or those of the system if that directory was deleted."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory if (directory / "iptables-save").exists() else _installed()

    def install(self, subnet: str) -> None:
        self._restore("iptables", install_script(subnet))

    def kube_chains(self) -> list[str]:
        """kube-proxy's chains, of whatever cluster."""
        return sorted({chain for family in self._families() for chain in kube_chains(self._save(family))})

    def remove(self) -> None:
        """Delete our chain and kube-proxy's. Idempotent."""
        for family in self._families():
            script = removal_script(self._save(family))
            if script:
                self._restore(family, script)

    def _families(self) -> list[str]:
        return [family for family in _FAMILIES if (self._directory / f"{family}-save").exists()]

    def _save(self, family: str) -> str:
        # A kernel without IPv6 has no tables for it.
        done = subprocess.run(
            [self._directory / f"{family}-save"], capture_output=True, text=True, check=False
        )
        return done.stdout

    def _restore(self, family: str, script: str) -> None:
        command = [str(self._directory / f"{family}-restore"), "-w", _WAIT_SECONDS, "--noflush"]
        done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MachineUnsuitable(
                f"{family}-restore rejects the rules of the pod network ({done.stderr.strip().splitlines()[0]}): "
                "load the kernel's modules with `modprobe -a iptable_nat iptable_mangle xt_comment`."
            )


def _installed() -> Path:
    found = shutil.which("iptables-save", path=SYSTEM_PATH)
    if found is None:
        raise MachineUnsuitable(
            "iptables is missing, so the rules of the pod network cannot be read: run `apt-get install iptables`, then "
            "the command again."
        )
    return Path(found).parent
