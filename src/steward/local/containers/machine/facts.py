"""What this machine has, as far as containers need it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from steward.local.containers.machine.cgroups import missing_controllers
from steward.local.containers.names import BRIDGE, DNS_PORT
from steward.local.containers.programs import SYSTEM_PATH

_IP_FREEBIND = 15


@dataclass(frozen=True)
class MachineFacts:
    system: str
    user: int
    missing_controllers: tuple[str, ...]
    has_ip: bool


@dataclass(frozen=True)
class NetworkFacts:
    kube_chains: tuple[str, ...]
    routes: tuple[IPv4Network, ...]
    has_bridge: bool
    is_dns_port_free: bool


def read_machine() -> MachineFacts:
    if sys.platform != "linux":
        return MachineFacts(sys.platform, -1, (), has_ip=False)
    return MachineFacts(
        sys.platform,
        os.geteuid(),
        tuple(missing_controllers(Path("/proc/mounts").read_text(), _unified_controllers())),
        shutil.which("ip", path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}") is not None,
    )


def _unified_controllers() -> str:
    with suppress(OSError):
        return Path("/sys/fs/cgroup/cgroup.controllers").read_text()
    return ""


def read_network(kube_chains: Iterable[str], address: str) -> NetworkFacts:
    return NetworkFacts(
        tuple(kube_chains),
        tuple(read_routes(Path("/proc/net/route").read_text())),
        Path("/sys/class/net", BRIDGE).exists(),
        _is_free(address, DNS_PORT),
    )


def read_routes(text: str) -> list[IPv4Network]:
    """The networks of /proc/net/route, in which addresses are hexadecimal in the byte order of the machine."""
    rows = [line.split() for line in text.splitlines()[1:]]
    found = [(_number(row[1]), _number(row[7])) for row in rows if re.fullmatch("[0-9A-F]{8}", row[1])]
    return [IPv4Network((address, bin(mask).count("1"))) for address, mask in found if mask]


def _number(text: str) -> int:
    return int.from_bytes(int(text, 16).to_bytes(4, sys.byteorder), "big")


def _is_free(address: str, port: int) -> bool:
    """Of both protocols; the address need not exist yet."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            probe.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True
