"""What is compared before and after a cluster: links, routes, rules, mounts, cgroups, namespaces, processes, files."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from steward.local.containers.machine import sysctls
from steward.local.containers.machine.firewall import read_tables
from steward.local.containers.names import CGROUP, PRIVATE_DIRECTORIES, RUN
from steward.local.containers.programs import find_programs
from steward.local.paths import cache_directory
from steward.local.progress import SilentProgress

State = dict[str, object]


async def read_state(directory: Path) -> State:
    programs = await find_programs(cache_directory(), SilentProgress())
    cgroups = Path("/sys/fs/cgroup")
    return {
        "links": _output("ip", "-o", "link", "show", "type", "bridge")
        + _output("ip", "-o", "link", "show", "type", "veth"),
        "addresses": _output("ip", "-4", "-o", "address"),
        "routes": _output("ip", "-4", "route"),
        "rules": {
            family: _rules(programs.iptables / f"{family}-save") for family in ("iptables", "ip6tables")
        },
        "mounts": sorted(Path("/proc/mounts").read_text().splitlines()),
        "cgroups": sorted(map(str, (*cgroups.glob(CGROUP), *cgroups.glob(f"*/{CGROUP}")))),
        "namespaces": sorted(_network_namespaces()),
        "processes": sorted(_processes(directory)),
        "files": {str(path): path.exists() for path in (RUN, *PRIVATE_DIRECTORIES)},
        "sysctls": sysctls.read(),
        "forwarding": Path("/proc/sys/net/ipv4/ip_forward").read_text(),
    }


async def run_iptables(*arguments: str) -> None:
    programs = await find_programs(cache_directory(), SilentProgress())
    subprocess.run([programs.iptables / "iptables", "-w", *arguments], check=True, timeout=300)


def differences(before: State, after: State) -> dict[str, tuple[object, object]]:
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def _output(*command: str) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return sorted(line for line in done.stdout.splitlines() if "linkdown" not in line)


def _rules(save: Path) -> dict[str, tuple[list[str], tuple[str, ...]]]:
    """Chains and rules; a table that has neither, which iptables makes when it is first read, does not count."""
    done = subprocess.run([save], capture_output=True, text=True, check=False, timeout=300)
    tables = read_tables(done.stdout)
    own = {
        table.name: ([c for c in table.chains if not c.isupper() or "-" in c], table.rules)
        for table in tables
    }
    return {name: content for name, content in own.items() if any(content)}


def _network_namespaces() -> set[str]:
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        with suppress(OSError):
            found.add(str(path.readlink()))
    return found


def _processes(directory: Path) -> set[str]:
    """Living processes whose command line names the cluster's directory or its run directory."""
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if (str(directory) in line or str(RUN) in line) and int(path.parent.name) != os.getpid():
                found.add(line)
    return found
