"""Which loopback ports a control plane listens on: the ones it had before where they are free, else any free ones."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from steward.local.errors import PortTaken

LISTENERS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")

Ports = Mapping[str, int]


def choose(before: Ports, asked: int | None) -> dict[str, int]:
    """A free port for every listener. The same API server port keeps copied kubeconfigs working."""
    if asked is not None and not is_free(asked):
        raise PortTaken(
            f"Port {asked} of this machine is in use: stop what listens there (`ss -ltnp 'sport = :{asked}'` shows "
            "it) or ask for another with --port."
        )
    chosen = {name: before[name] for name in LISTENERS if name in before and is_free(before[name])}
    if asked is not None:
        chosen["kube-apiserver"] = asked
    missing = [name for name in LISTENERS if name not in chosen]
    return chosen | dict(zip(missing, free_ports(len(missing)), strict=True))


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers themselves do; without it a port that was just closed looks taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
