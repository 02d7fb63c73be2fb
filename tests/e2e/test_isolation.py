"""The traffic of pods stays on the machine, and other machines do not reach it."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from steward.local.endpoint import running_api_server_url
from tests.e2e.support.container_cluster import ContainerCluster, python_container
from tests.e2e.support.outside import Outside, outside_machine
from tests.e2e.support.waiting import eventually

CONNECT = """
import socket
try:
    socket.create_connection(({address!r}, {port}), timeout=3)
    print("connected")
except TimeoutError:
    print("timeout")
except OSError as error:
    print(error.strerror)
"""


@pytest.fixture(scope="module")
def outside(cluster: ContainerCluster) -> Iterator[Outside]:
    with outside_machine() as outside:
        yield outside


@pytest.fixture(scope="module")
def client(cluster: ContainerCluster) -> str:
    cluster.start_pod("default", "client", containers=[python_container()])
    cluster.wait_until_ready("default", "client")
    return "client"


def connection(cluster: ContainerCluster, client: str, address: str, port: int) -> str:
    return cluster.python("default", client, CONNECT.format(address=address, port=port))


def test_a_pod_reaches_no_other_machine(cluster: ContainerCluster, client: str, outside: Outside) -> None:
    assert urllib.request.urlopen(f"http://{outside.address}:{outside.port}/", timeout=5).status == 200
    assert connection(cluster, client, outside.address, outside.port) == "timeout"


def test_a_pod_reaches_no_other_address_of_this_machine(
    cluster: ContainerCluster, client: str, outside: Outside
) -> None:
    assert connection(cluster, client, "198.51.100.1", 22) == "timeout"


def test_a_service_whose_endpoint_is_another_machine_is_no_way_out(
    cluster: ContainerCluster, client: str, outside: Outside
) -> None:
    metadata = {"name": "way-out", "namespace": "default"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}
    cluster.kubectl("apply", "--server-side", "-f", "-", document=service)
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": metadata | {"labels": {"kubernetes.io/service-name": "way-out"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [outside.address]}],
        "ports": [{"name": "", "port": outside.port}],
    }
    cluster.kubectl("apply", "--server-side", "-f", "-", document=endpoints)
    address = cluster.kubectl.json("get", "service", "way-out")["spec"]["clusterIP"]
    cluster.wait_for_service(address)
    assert connection(cluster, client, address, 80) == "timeout"


def test_a_service_without_endpoints_is_refused_at_once(cluster: ContainerCluster, client: str) -> None:
    assert connection(cluster, client, "10.96.77.77", 80) == "Connection refused"


def answers(url: str) -> bool:
    """A container without a probe is ready a moment before its server listens."""
    try:
        return bool(urllib.request.urlopen(url, timeout=5).status == 200)
    except OSError:
        return False


def test_other_machines_reach_neither_the_api_server_nor_pods(
    cluster: ContainerCluster, client: str, outside: Outside
) -> None:
    cluster.start_pod("default", "server")
    server = cluster.wait_until_ready("default", "server")["status"]["podIP"]
    eventually(lambda: answers(f"http://{server}:8080/"), "the server listens")
    assert outside.can_connect("198.51.100.1", 9) is False  # nothing listens there
    url = urlsplit(running_api_server_url(cluster.directory))
    assert url.hostname is not None
    assert url.port is not None
    assert not outside.can_connect(url.hostname, url.port)
    assert not outside.can_connect(server, 8080)
