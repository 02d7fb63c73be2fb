"""`steward psql` from the command line to the port of a gateway, with the psql and a PostgreSQL of this machine."""

import base64
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steward.certificates.authority import Profile, Subject, Validity, make_authority, sign_leaf
from tests.cli.support.pod_stream_server import PodStreamServer, pod, running_server
from tests.support.database_servers import (
    DatabaseServer,
    postgres_server,
    private_file,
    server_directory,
)
from tests.support.steward_command import run_steward

LABELS = {"multigres.com/cluster": "db", "app.kubernetes.io/component": "multigateway"}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def server() -> Iterator[PodStreamServer]:
    """A cluster with one gateway, on whose ports nothing listens yet."""
    server = PodStreamServer()
    meta = {"name": "db", "namespace": "shop"}
    status = {"phase": "Healthy", "connectionSecret": "db-app"}
    server.add(
        "multigresclusters",
        {
            "apiVersion": "multigres.com/v1alpha1",
            "kind": "MultigresCluster",
            "metadata": meta,
            "status": status,
        },
    )
    server.add("pods", pod("gw", "multigateway", **LABELS))
    with running_server(server):
        yield server


def add_secret(server: PodStreamServer, user: str, password: str, **others: str) -> None:
    values = {"user": user, "password": password, "dbname": "postgres", **others}
    data = {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}
    meta = {"name": "db-app", "namespace": "shop"}
    server.add("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data})


@pytest.fixture
def psql(server: PodStreamServer, tmp_path: Path) -> Run:
    config = str(server.write_kubeconfig(tmp_path / "kubeconfig"))

    def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return run_steward("psql", "--kubeconfig", config, *words, **environ)

    return run


@pytest.mark.parametrize(("role", "port"), [("primary", 5432), ("replica", 5433)])
def test_psql_runs_a_query_through_the_gateway(
    server: PodStreamServer, psql: Run, postgres: DatabaseServer, role: str, port: int
) -> None:
    add_secret(server, postgres.user, postgres.password)
    server.ports["gw", port] = (postgres.host, postgres.port)
    done = psql("db", "--role", role, "--", "-At", "-c", "SELECT 40 + 2, current_user")
    assert (done.returncode, done.stdout) == (0, f"42|{postgres.user}\n"), done.stderr


VALID = Validity(time.time() - 60, time.time() + 3600)
AUTHORITY, OTHER_AUTHORITY = (make_authority(Subject("gateways"), VALID) for _ in range(2))


@pytest.fixture(scope="module")
def encrypting() -> Iterator[DatabaseServer]:
    """A server whose certificate has the name of a gateway, not that of this machine."""
    leaf = sign_leaf(AUTHORITY, Profile(Subject("gw"), ("db-gateway.shop.svc",)), VALID)
    with server_directory() as directory:
        certificate = private_file(directory / "tls.crt", leaf.certificate)
        key = private_file(directory / "tls.key", leaf.key)
        settings = ("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")
        with postgres_server(settings=settings) as server:
            yield server


def require_tls(server: PodStreamServer) -> None:
    [cluster] = [each for each in server.objects.values() if each["kind"] == "MultigresCluster"]
    cluster["spec"] = {"gatewayTls": {"required": True}}


@pytest.mark.parametrize(
    "authority", [{}, {"ca.crt": AUTHORITY.certificate.decode()}], ids=["unchecked", "checked"]
)
def test_psql_uses_tls_if_the_gateways_require_it(
    server: PodStreamServer, psql: Run, encrypting: DatabaseServer, authority: dict[str, str]
) -> None:
    add_secret(server, encrypting.user, encrypting.password, **authority)
    require_tls(server)
    server.ports["gw", 5432] = (encrypting.host, encrypting.port)
    query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    done = psql("db", "--", "-At", "-c", query, PGSSLMODE="disable")
    assert (done.returncode, done.stdout) == (0, "t\n"), done.stderr


def test_psql_rejects_a_certificate_of_another_authority(
    server: PodStreamServer, psql: Run, encrypting: DatabaseServer
) -> None:
    authority = {"ca.crt": OTHER_AUTHORITY.certificate.decode()}
    add_secret(server, encrypting.user, encrypting.password, **authority)
    require_tls(server)
    server.ports["gw", 5432] = (encrypting.host, encrypting.port)
    done = psql("db", "--", "-c", "SELECT 1")
    assert (done.returncode, "certificate verify failed" in done.stderr) == (2, True), done.stderr


def test_the_exit_code_is_that_of_psql(server: PodStreamServer, psql: Run, postgres: DatabaseServer) -> None:
    add_secret(server, postgres.user, postgres.password)
    server.ports["gw", 5432] = (postgres.host, postgres.port)
    done = psql("db", "--", "-v", "ON_ERROR_STOP=1", "-f", "-")
    assert done.returncode == 0, done.stderr
    assert psql("db", "--", "-c", "SELECT nonsense").returncode == 1


def test_a_gateway_that_does_not_listen_is_named(server: PodStreamServer, psql: Run) -> None:
    add_secret(server, "postgres", "secret")
    done = psql("db", "--", "-c", "SELECT 1")
    assert done.returncode == 2
    assert "cannot reach port 5432 of pod shop/gw: error forwarding port 5432" in done.stderr


def test_without_psql_the_error_says_how_to_get_it(psql: Run, tmp_path: Path) -> None:
    done = psql("db", PATH=str(tmp_path))
    assert done.returncode == 1
    assert "there is no psql on this machine" in done.stderr
    assert "--listen PORT" in done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other", "there is no MultigresCluster other in namespace shop"),
        ("db", "no gateway of MultigresCluster shop/db"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_an_error(
    server: PodStreamServer, psql: Run, name: str, message: str
) -> None:
    server.objects = {path: each for path, each in server.objects.items() if each["kind"] != "Pod"}
    done = psql(name)
    assert (done.returncode, message in done.stderr) == (1, True), done.stderr


def test_another_client_can_use_a_local_port(
    server: PodStreamServer, tmp_path: Path, postgres: DatabaseServer
) -> None:
    add_secret(server, postgres.user, postgres.password)
    server.ports["gw", 5432] = (postgres.host, postgres.port)
    config = str(server.write_kubeconfig(tmp_path / "kubeconfig"))
    words = ["psql", "db", "--listen", "0", "--kubeconfig", config]
    command = [sys.executable, "-u", "-m", "steward.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listening:
        assert listening.stdout is not None
        address = listening.stdout.readline().partition('"')[2].rpartition('"')[0]
        found = subprocess.run(
            ["psql", address, "-Atc", "SELECT 1"],
            env={**os.environ, "PGPASSWORD": postgres.password},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        listening.terminate()
    assert found.stdout == "1\n", found.stderr
