"""The cluster's DNS: the configuration of CoreDNS, resolver files, and a query that tells when it answers.

There is no upstream server: names outside of the cluster do not exist.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from pathlib import Path

from steward.local.containers.names import DNS_PORT

API_SERVER_NAME = "kubernetes.default.svc.cluster.local"
_TIMEOUT_SECONDS = 1.0
_TYPE_A, _CLASS_IN = 1, 1


def corefile(address: str, kubeconfig: Path) -> str:
    return f"""\
.:{DNS_PORT} {{
    bind {address}
    errors
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {kubeconfig} steward
        ttl 2
    }}
}}
"""


def pod_resolver(address: str) -> str:
    """For pods with the DNS policy Default."""
    return f"nameserver {address}\n"


def process_resolver(address: str) -> str:
    """For processes on this machine that use Services by name, as pods do."""
    return f"nameserver {address}\nsearch svc.cluster.local cluster.local\noptions ndots:5\n"


NAME_SERVICES = "hosts: files dns\n"
"""nsswitch.conf for the same processes: systemd's resolver would ignore their resolv.conf."""


async def answers(address: str, name: str = API_SERVER_NAME) -> bool:
    """Whether the server at `address` knows an address for `name`."""
    return await asyncio.to_thread(_query, address, name)


def _query(address: str, name: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(_TIMEOUT_SECONDS)
        try:
            client.connect((address, DNS_PORT))
            client.send(question(name))
            return has_answer(client.recv(4096))
        except OSError:
            return False


def question(name: str, identifier: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    header = struct.pack("!6H", identifier, 0x0100, 1, 0, 0, 0)
    return header + labels + b"\0" + struct.pack("!2H", _TYPE_A, _CLASS_IN)


def has_answer(response: bytes) -> bool:
    flags, count = int.from_bytes(response[2:4], "big"), int.from_bytes(response[6:8], "big")
    return flags & 0x000F == 0 and count > 0
