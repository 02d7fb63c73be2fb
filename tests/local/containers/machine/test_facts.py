"""What is read from the machine."""

from __future__ import annotations

import socket
from ipaddress import IPv4Network

import pytest

from steward.local.containers.machine.facts import read_machine, read_network, read_routes

HEADER = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
ROUTES = (
    HEADER
    + "eth0\t00000000\t0114A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    + "eth0\t0014A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
    + "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
)


def test_routes_are_read_without_the_default_route() -> None:
    assert read_routes(ROUTES) == [IPv4Network("192.168.20.0/24"), IPv4Network("172.17.0.0/16")]


def test_a_machine_without_routes_has_none() -> None:
    assert read_routes(HEADER) == []


def test_this_machine_can_be_read() -> None:
    assert read_machine().system == "linux"


def test_a_server_on_all_addresses_takes_the_port_of_the_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("0.0.0.0", 0))
        monkeypatch.setattr("steward.local.containers.machine.facts.DNS_PORT", server.getsockname()[1])
        assert not read_network((), "10.88.0.1").is_dns_port_free
    assert read_network((), "10.88.0.1").is_dns_port_free
