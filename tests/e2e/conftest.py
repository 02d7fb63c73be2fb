from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.support.container_cluster import ContainerCluster, running_cluster
from tests.e2e.support.database_cluster import DatabaseCluster
from tests.e2e.support.installation import Installation
from tests.e2e.support.user_commands import machine_address
from tests.support import namespaces
from tests.support.database_servers import DatabaseServer, postgres_server

DATA_PLANE = os.environ.get("STEWARD_DATA_PLANE", "")
"""A directory with archives of the Multigres images, under the names that Steward uses."""
collect_ignore_glob = [] if DATA_PLANE else ["test_backups.py", "test_data_plane*.py"]


@pytest.fixture(scope="session", autouse=True)
def _root() -> None:
    assert os.geteuid() == 0, "containers need root: run `sudo make e2e`"


@pytest.fixture(scope="module")
def cluster(_root: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerCluster]:
    """A cluster with containers in two zones, without operators. One for each file: a machine can run one.

    STEWARD_E2E_CLUSTER names the directory of a running one to use instead, which saves its start.
    """
    if given := os.environ.get("STEWARD_E2E_CLUSTER"):
        yield ContainerCluster(Path(given))
        return
    directory = tmp_path_factory.mktemp("containers") / "cluster"
    images = ("--images", DATA_PLANE) if DATA_PLANE else ()
    with running_cluster(directory, "--bare", "--zones", "z1,z2", *images) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def installation(cluster: ContainerCluster) -> Iterator[Installation]:
    """Both operators, installed by helm and ready."""
    installed = Installation(cluster)
    installed.install()
    yield installed
    installed.uninstall()


@pytest.fixture(scope="module")
def database(cluster: ContainerCluster) -> Iterator[DatabaseServer]:
    """A PostgreSQL server that pods can reach."""
    with postgres_server(machine_address(cluster)) as server:
        yield server


@pytest.fixture
def database_cluster(
    cluster: ContainerCluster, installation: Installation, pods: str
) -> Iterator[DatabaseCluster]:
    """Deleted after the test: the servers of all tests together are too many for a small machine."""
    yield DatabaseCluster(cluster, pods)
    cluster.kubectl("delete", "namespace", pods, "--wait=true", "--timeout=120s")


@pytest.fixture
def pods(cluster: ContainerCluster) -> str:
    """The name of a namespace for the pods of one test."""
    return namespaces.create_namespace(cluster.kubectl.server)
