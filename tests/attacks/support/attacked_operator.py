"""An operator process with all its ports open on loopback, as a pod has them."""

import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

from steward.local.control_plane import ControlPlane
from tests.multigres.support.operator import REAL, operator_with_webhooks
from tests.support.kubectl import Kubectl

GUARD_SECONDS = 60.0
ESTABLISHED = "01"


class Ports(NamedTuple):
    webhooks: int
    metrics: int
    probes: int


class AttackedOperator(NamedTuple):
    process: subprocess.Popen[bytes]
    ports: Ports
    kubectl: Kubectl
    namespace: str
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def probe(self, path: str) -> int:
        """The status code of a probe."""
        url = f"http://127.0.0.1:{self.ports.probes}{path}"
        try:
            with urllib.request.urlopen(url, timeout=GUARD_SECONDS) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    def review_problem(self) -> str:
        """Empty if the API server gets a review of a new cluster from the webhooks, else its error."""
        cluster = {
            "apiVersion": "multigres.com/v1alpha1",
            "kind": "MultigresCluster",
            "metadata": {"name": "probe", "namespace": self.namespace},
            "spec": {"cells": [{"zone": "z1"}]},
        }
        output, error = self.kubectl.run(
            "create", "--dry-run=server", "-o", "json", "-f", "-", document=cluster
        )
        # The webhook adds the default database: without it, the object is as it was sent.
        return error or ("" if '"databases"' in output else "not defaulted by the webhook")

    def webhook_connections(self, address: str) -> list[int]:
        return self.open_connections(self.ports.webhooks, address)

    def open_connections(self, port: int, address: str) -> list[int]:
        """The established connections of an address to a port, as the kernel lists them: the ports of the clients."""
        return [client for local, peer, client in _established(self.pid) if (local, peer) == (port, address)]


@contextmanager
def attacked_operator(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    namespace: str,
    directory: Path,
    launcher: tuple[str, ...] = (),
) -> Iterator[AttackedOperator]:
    ports = Ports(*free_ports(3))
    log = directory / "operator.log"
    settings = {
        "webhook_url": f"https://127.0.0.1:{ports.webhooks}",
        "webhook_bind_address": f"127.0.0.1:{ports.webhooks}",
        "metrics_bind_address": f"127.0.0.1:{ports.metrics}",
        "health_probe_bind_address": f"127.0.0.1:{ports.probes}",
    }
    with operator_with_webhooks(
        control_plane, kubectl, namespace, log, launcher, periods=REAL, **settings
    ) as process:
        yield AttackedOperator(process, ports, kubectl, namespace, log)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _established(pid: int) -> list[tuple[int, str, int]]:
    """Local port, address and port of the peer of each IPv4 connection in the process's network namespace."""
    lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    ends = [line.split()[1:3] for line in lines if line.split()[3] == ESTABLISHED]
    return [(_port(local), _address(peer), _port(peer)) for local, peer in ends]


def _port(end: str) -> int:
    return int(end.rpartition(":")[2], 16)


def _address(end: str) -> str:
    return socket.inet_ntoa(bytes.fromhex(end.partition(":")[0])[::-1])
