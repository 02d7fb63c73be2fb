"""Every missing precondition is one sentence with its cure."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from steward.local.containers.machine.facts import MachineFacts, NetworkFacts
from steward.local.containers.machine.preconditions import machine_problem, network_problem
from steward.local.containers.network import parse_pod_network

MACHINE = MachineFacts("linux", 0, (), has_ip=True)
FREE = NetworkFacts((), (IPv4Network("192.168.1.0/24"),), has_bridge=False, is_dns_port_free=True)
PODS = parse_pod_network("10.88.0.0/24")

MACHINE_PROBLEMS = {
    "other system": (replace(MACHINE, system="darwin"), "Linux and this is darwin: use a Linux machine"),
    "not root": (replace(MACHINE, user=1000), "need root: run the command with sudo"),
    "no cgroups": (replace(MACHINE, missing_controllers=("memory",)), "no cgroup controller memory: mount"),
    "no ip": (replace(MACHINE, has_ip=False), "apt-get install iproute2"),
}
NETWORK_PROBLEMS = {
    "another Kubernetes": (
        replace(FREE, kube_chains=("KUBE-FORWARD", "KUBE-SERVICES")),
        "KUBE-FORWARD and 1 others): stop that one",
    ),
    "bridge": (
        replace(FREE, has_bridge=True),
        "steward0 exists already: remove it with `ip link delete steward0`",
    ),
    "pod subnet": (
        replace(FREE, routes=(IPv4Network("10.88.0.0/16"),)),
        "10.88.0.0/24 overlaps the network 10.88.0.0/16 of this machine: choose another with --pod-subnet",
    ),
    "service range": (
        replace(FREE, routes=(IPv4Network("10.96.4.0/24"),)),
        "overlap the network 10.96.4.0/24: remove its route",
    ),
    "DNS port": (replace(FREE, is_dns_port_free=False), "Port 53 is in use on all addresses"),
}


def test_a_suitable_machine_has_no_problem() -> None:
    assert machine_problem(MACHINE) is None
    assert network_problem(FREE, PODS) is None


@pytest.mark.parametrize(("facts", "sentence"), MACHINE_PROBLEMS.values(), ids=MACHINE_PROBLEMS)
def test_a_problem_of_the_machine_names_its_cure(facts: MachineFacts, sentence: str) -> None:
    problem = machine_problem(facts)
    assert problem is not None
    assert sentence in problem
    assert problem.endswith(".")


@pytest.mark.parametrize(("facts", "sentence"), NETWORK_PROBLEMS.values(), ids=NETWORK_PROBLEMS)
def test_a_problem_of_the_network_names_its_cure(facts: NetworkFacts, sentence: str) -> None:
    problem = network_problem(facts, PODS)
    assert problem is not None
    assert sentence in problem
    assert problem.endswith(".")


def test_a_pod_subnet_inside_of_the_service_range_is_a_problem() -> None:
    problem = network_problem(FREE, parse_pod_network("10.96.8.0/24"))
    assert problem is not None
    assert "choose another subnet with --pod-subnet" in problem
