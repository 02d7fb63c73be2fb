"""What a machine must have to run containers: each missing thing is one sentence with its cure. Pure."""

from __future__ import annotations

from ipaddress import IPv4Network

from steward.local.containers.machine.facts import MachineFacts, NetworkFacts
from steward.local.containers.names import BRIDGE, DNS_PORT, SERVICE_RANGE
from steward.local.containers.network import PodNetwork


def machine_problem(facts: MachineFacts) -> str | None:
    """Of what is known before anything is fetched or built."""
    if facts.system != "linux":
        return (
            f"Containers need Linux and this is {facts.system}: use a Linux machine, or run `steward up` without "
            "--containers."
        )
    if facts.user != 0:
        return "Containers need root: run the command with sudo, or `steward up` without --containers."
    if facts.missing_controllers:
        return (
            f"This machine has no cgroup controller {' and '.join(facts.missing_controllers)}: mount them with "
            "`mount -t cgroup2 none /sys/fs/cgroup`, or use a machine that is not itself a container."
        )
    if not facts.has_ip:
        return "The program ip is not installed: run `apt-get install iproute2`."
    return None


def network_problem(facts: NetworkFacts, network: PodNetwork) -> str | None:
    """Of what others may use on this machine; checked when nothing of the cluster itself is left."""
    if facts.kube_chains:
        return (
            f"This machine has iptables chains of another Kubernetes ({facts.kube_chains[0]} and "
            f"{len(facts.kube_chains) - 1} others): stop that one and remove its rules with `kube-proxy --cleanup`, "
            "or use another machine."
        )
    if facts.has_bridge:
        return f"The network interface {BRIDGE} exists already: remove it with `ip link delete {BRIDGE}`."
    return _subnet_problem(facts.routes, network) or _port_problem(facts, network)


def _subnet_problem(routes: tuple[IPv4Network, ...], network: PodNetwork) -> str | None:
    taken = next((route for route in routes if route.overlaps(network.subnet)), None)
    if taken is not None:
        return (
            f"The pod subnet {network.subnet} overlaps the network {taken} of this machine: choose another with "
            "--pod-subnet."
        )
    services = IPv4Network(SERVICE_RANGE)
    taken = next((route for route in routes if route.overlaps(services)), None)
    if taken is not None or network.subnet.overlaps(services):
        return (
            f"The addresses of Services, {services}, overlap the network {taken or network.subnet}: "
            f"{'remove its route with `ip route`' if taken else 'choose another subnet with --pod-subnet'}."
        )
    return None


def _port_problem(facts: NetworkFacts, network: PodNetwork) -> str | None:
    if facts.is_dns_port_free:
        return None
    return (
        f"Port {DNS_PORT} is in use on all addresses of this machine, so also on {network.address}: let the DNS server "
        f"that listens there (`ss -lnp 'sport = :{DNS_PORT}'` shows it) bind to its own addresses only."
    )
