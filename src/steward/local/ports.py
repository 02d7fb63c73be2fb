"""Chooses the loopback ports of a control plane: the previous ones if they are free, else any free ones."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from steward.local.errors import PortTaken

LISTENERS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")

Ports = Mapping[str, int]


def choose_ports(
    previous: Ports, requested: int | None, listeners: tuple[str, ...] = LISTENERS
) -> dict[str, int]:
    """A free port for every listener. Keeping the API server's port keeps copied kubeconfigs working."""
    if requested is not None and not is_free(requested):
        raise PortTaken(
            f"Port {requested} of this machine is in use: stop what listens there "
            f"(`ss -ltnp 'sport = :{requested}'` shows it) or choose another with --port."
        )
    chosen = {name: previous[name] for name in listeners if name in previous and is_free(previous[name])}
    if requested is not None:
        chosen["kube-apiserver"] = requested
    missing = [name for name in listeners if name not in chosen]
    return chosen | dict(zip(missing, free_ports(len(missing)), strict=True))


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do; without it a recently closed port looks taken.
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
