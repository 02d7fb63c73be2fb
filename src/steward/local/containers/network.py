"""Addresses of a cluster with containers, all in one subnet on one bridge. Pure.

The first address is the bridge's: API server, DNS and gateway. The next ones are the nodes', and pods follow. Every
node has its own range of pod addresses, so that the plugins of different nodes never give out the same address.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from steward.local.errors import MachineUnsuitable

_POD_OFFSET = 16
MAX_ZONES = 8
_WIDEST, _NARROWEST = 16, 25


@dataclass(frozen=True)
class AddressRange:
    first: str
    last: str


@dataclass(frozen=True)
class PodNetwork:
    subnet: IPv4Network

    @property
    def address(self) -> str:
        """Of the bridge."""
        return self._at(1)

    @property
    def interface_address(self) -> str:
        return f"{self.address}/{self.subnet.prefixlen}"

    def node_address(self, index: int) -> str:
        return self._at(2 + index)

    def pod_range(self, index: int, nodes: int) -> AddressRange:
        """Of the node with this index; the last address of the subnet is for broadcasts."""
        room = (self.subnet.num_addresses - 1 - _POD_OFFSET) // nodes
        first = _POD_OFFSET + index * room
        return AddressRange(self._at(first), self._at(first + room - 1))

    def _at(self, offset: int) -> str:
        return str(IPv4Address(int(self.subnet.network_address) + offset))


def parse_pod_network(text: str) -> PodNetwork:
    try:
        subnet = IPv4Network(text)
    except ValueError:
        subnet = None
    if subnet is None or not subnet.is_private or not _WIDEST <= subnet.prefixlen <= _NARROWEST:
        raise MachineUnsuitable(
            f"--pod-subnet {text} is no private IPv4 network between /{_WIDEST} and /{_NARROWEST}: "
            "write one such as 10.88.0.0/24."
        )
    return PodNetwork(subnet)
