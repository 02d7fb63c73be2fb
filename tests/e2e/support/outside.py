"""Another "machine": a network namespace behind a link, with an address that no pod may reach."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.e2e.support.waiting import eventually

NAME = "steward-e2e"
HERE, THERE = "198.51.100.1", "198.51.100.2"
PORT = 8080


@dataclass(frozen=True)
class Outside:
    address: str = THERE
    port: int = PORT

    def can_connect(self, address: str, port: int) -> bool:
        """From there to an address here."""
        script = f"import socket; socket.create_connection(({address!r}, {port}), timeout=3)"
        command = ["ip", "netns", "exec", NAME, sys.executable, "-c", script]
        return subprocess.run(command, capture_output=True, check=False, timeout=300).returncode == 0


@contextmanager
def outside_machine() -> Iterator[Outside]:
    """It listens on PORT, and sends everything to this machine."""
    server = [sys.executable, "-m", "http.server", "--bind", THERE, str(PORT)]
    try:
        for command in _commands():
            subprocess.run(["ip", *command.split()], check=True, timeout=300)
        with subprocess.Popen(["ip", "netns", "exec", NAME, *server], stderr=subprocess.DEVNULL) as listening:
            eventually(_listens, "the server outside listens")
            yield Outside()
            listening.kill()
    finally:
        with suppress(OSError):
            subprocess.run(["ip", "netns", "delete", NAME], check=False, timeout=300)


def _listens() -> bool:
    with suppress(OSError), socket.create_connection((THERE, PORT), timeout=1):
        return True
    return False


def _commands() -> list[str]:
    inside = f"-n {NAME}"
    return [
        f"netns add {NAME}",
        f"link add {NAME} type veth peer name eth0 netns {NAME}",
        f"address add {HERE}/30 dev {NAME}",
        f"link set {NAME} up",
        f"{inside} address add {THERE}/30 dev eth0",
        f"{inside} link set eth0 up",
        f"{inside} link set lo up",
        f"{inside} route add default via {HERE}",
    ]
