"""Verbs that need kubelets, on real containers; `test_data_plane_verbs.py` has those about database servers."""

from __future__ import annotations

import asyncio
import tarfile
from pathlib import Path

import pytest

from steward.cli.operations.forward_server import ForwardServer
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import Key
from steward.kube.transport.port_forward import PodPort, PortForwarder
from steward.local.images.recipes import WORKLOAD_IMAGE
from tests.cli.support.shell import read_until
from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.installation import Installation
from tests.e2e.support.tenants import Shop, deployment, template
from tests.e2e.support.waiting import eventually
from tests.support.database_servers import DatabaseServer

STARTED = "started as uid 65532"
SERVER = {
    "name": "main",
    "image": WORKLOAD_IMAGE,
    "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1},
}
"""Ready when it listens: a container without a probe is ready before."""


@pytest.fixture
def shop(cluster: ContainerCluster, installation: Installation, database: DatabaseServer, pods: str) -> Shop:
    made = Shop(cluster, pods, database)
    made.apply(template("web", deployments=[deployment("web", message="hello")]))
    made.add("acme")
    eventually(lambda: made.is_ready("acme-web"), "Tenant acme-web is ready")
    return made


def where(shop: Shop) -> tuple[str, ...]:
    return ("-n", shop.namespace, "--kubeconfig", str(shop.cluster.directory / "kubeconfig"))


def test_logs_of_a_tenant_name_their_container(shop: Shop) -> None:
    done = shop.cluster.shell.run("logs", "tenant/acme-web", *where(shop))
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if STARTED in line]
    assert len(lines) == 1
    assert lines[0].startswith("acme-web-")


def test_followed_logs_include_a_pod_that_starts_later(shop: Shop) -> None:
    with shop.cluster.shell.start("logs", "tenant/acme-web", "-f", *where(shop)) as following:
        try:
            read_until(following, STARTED)
            shop.cluster.kubectl("delete", "pod", "-n", shop.namespace, "-l", "app=acme-web")
            read_until(following, STARTED)
        finally:
            following.terminate()


async def test_a_port_of_a_container_is_reached_through_the_api_server(
    cluster: ContainerCluster, pods: str
) -> None:
    cluster.start_pod(pods, "server", containers=[SERVER])
    cluster.wait_until_ready(pods, "server")
    settings = load_settings(ConfigSource(kubeconfig=str(cluster.directory / "kubeconfig")))
    errors: list[str] = []
    target = PodPort(Key(pods, "server"), 8080)
    async with ForwardServer(PortForwarder(settings), target, errors.append).on_port(0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: server\r\nConnection: close\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
    assert errors == []


async def test_a_port_on_which_no_container_listens_is_reported(cluster: ContainerCluster, pods: str) -> None:
    cluster.start_pod(pods, "server", containers=[SERVER])
    cluster.wait_until_ready(pods, "server")
    settings = load_settings(ConfigSource(kubeconfig=str(cluster.directory / "kubeconfig")))
    errors: list[str] = []
    target = PodPort(Key(pods, "server"), 9)
    async with ForwardServer(PortForwarder(settings), target, errors.append).on_port(0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x")
        assert await reader.read() == b""
        writer.close()
    assert len(errors) == 1
    assert "port 9" in errors[0]


def test_a_report_has_the_logs_of_the_operators_and_no_password(
    shop: Shop, database: DatabaseServer, tmp_path: Path
) -> None:
    target = tmp_path / "report.tar.gz"
    done = shop.cluster.shell.run("report", "--file", str(target), *where(shop))
    assert done.returncode == 0, done.stderr
    with tarfile.open(target) as tar:
        files = {
            entry.name: content.read().decode()
            for entry in tar.getmembers()
            if (content := tar.extractfile(entry)) is not None
        }
    assert any("/logs/" in name and "tenant-operator" in name for name in files)
    assert not [name for name, text in files.items() if database.password in text]
