"""The API server is restored from an older backup while both operators run, and while they are stopped.

resourceVersions go back, objects that were deleted since the backup exist again, and what was created since is gone. No
object of the backup may be deleted, and both operators reach the state that the restored objects ask for.

All tests share one control plane and its backup: they run in order, and each leaves the operators as the next one
expects them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.install.operators import MULTIGRES, TENANTS, ShippedOperator
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANTS_KINDS
from tests.multigres.support.cluster_deletion import databases, two_server_cluster
from tests.multigres.support.clusters import Clusters
from tests.multigres.support.waiting import eventually
from tests.support import definitions
from tests.support.data_planes import connect_to_file, started_data_plane
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.restorable_control_plane import RestorableControlPlane, restorable_control_plane
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry

pytestmark = [pytest.mark.needs_server, pytest.mark.timeout(900)]
NAMESPACE = "restored"
KINDS = (
    "mgc,cells,tablegroups,shards,toposervers,tenants,tenantregistries,tenanttemplates"
    ",deployments,statefulsets,services,secrets,configmaps,persistentvolumeclaims,pods"
)
CUSTOMERS = [f"c{number}" for number in range(8)]


class RestoredServer:
    """One control plane, one backup of it, and the table that both histories share."""

    def __init__(self, plane: RestorableControlPlane, directory: Path) -> None:
        self.plane = plane
        self.directory = directory
        self.kubectl = Kubectl(plane.found.kubeconfig)
        self.clusters = Clusters(self.kubectl, NAMESPACE)
        self.world = World(self.kubectl, NAMESPACE)
        self.customers = Customers(directory)
        self.customers.add(*CUSTOMERS)
        self._data_plane = directory / "data-plane"
        self._data_plane.mkdir()
        self._running = ExitStack()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.backup: dict[str, str] = {}

    def install(self) -> None:
        definitions.install_crds(self.plane.found, self.kubectl, (*MULTIGRES_KINDS, *TENANTS_KINDS))
        self.kubectl("create", "namespace", NAMESPACE)
        self.clusters.apply(two_server_cluster(NAMESPACE, databases=databases("extra", policy="Delete")))
        self.world.apply(sqlite_registry(), config_template())

    def uids(self) -> dict[str, str]:
        found = self.kubectl.json("get", KINDS, "-n", NAMESPACE)["items"]
        return {f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["uid"] for each in found}

    def wait_converged(self) -> None:
        self.clusters.wait_ready()
        eventually(self._is_ready, "the cluster to report its present spec")
        self.world.until_tenants(*(f"{each}-web-app" for each in CUSTOMERS))
        for each in CUSTOMERS:
            self.world.until_condition("Ready", "True", kind="tenant", name=f"{each}-web-app")

    def _is_ready(self) -> bool:
        found = self.clusters.get("mgc", "mini")
        status = found["status"]
        ready = next(each for each in status["conditions"] if each["type"] == "Ready")
        generation = found["metadata"]["generation"]
        return bool(ready["status"] == "True" and ready["observedGeneration"] == generation)

    def move_on(self) -> None:
        """What happens after the backup: a table group goes with its volume, one customer goes and another comes."""
        self.clusters.apply(two_server_cluster(NAMESPACE, databases=databases(policy="Delete")))
        self.customers.remove(CUSTOMERS[0])
        self.customers.add("later")
        eventually(lambda: len(self.clusters.all("shard")) == 1, "the shard to go")
        eventually(lambda: not self._claims("extra"), "its volume to go")
        others = (f"{each}-web-app" for each in CUSTOMERS[1:])
        self.world.until_tenants(*others, "later-web-app")

    def _claims(self, part: str) -> list[Any]:
        return [each for each in self.clusters.all("pvc") if part in str(each["metadata"])]

    def take_backup(self) -> None:
        """The API server restarts for it."""
        self.plane.take_backup()
        self.backup = self.uids()

    def restore(self) -> None:
        """With the table: it is restored together with the cluster."""
        self.customers.remove("later")
        self.customers.add(CUSTOMERS[0])
        self.plane.restore()

    def start_operators(self) -> None:
        """With a data plane of their own: the restored API server ends its watches, too."""
        self._running.enter_context(started_data_plane(self.plane.found.kubeconfig, self._data_plane))
        connect_to = connect_to_file(self._data_plane)
        self.processes = {
            operator.short_name: self._running.enter_context(self._operator(operator, connect_to=connect_to))
            for operator in (MULTIGRES, TENANTS)
        }

    def stop_operators(self) -> None:
        self._running.close()

    def all_run(self) -> bool:
        return all(process.poll() is None for process in self.processes.values())

    @contextmanager
    def _operator(self, operator: ShippedOperator, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
        """Unlike other tests, this one expects that a process may end by itself."""
        environment = os.environ | {
            "KUBECONFIG": str(operator_kubeconfig(operator, self.plane.found)),
            "STEWARD_NAMESPACES": NAMESPACE,
            "STEWARD_METRICS_BIND_ADDRESS": "0",
            "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
            "STEWARD_LEADER_ELECT": "false",
            "STEWARD_DEFAULT_GRACEFUL_SHUTDOWN_PERIOD": "1s",
            "STEWARD_SQLITE_ROOT": str(self.directory),
            **{f"STEWARD_{name.upper()}": value for name, value in settings.items()},
        }
        command = [str(Path(sys.executable).parent / "steward"), "run", operator.short_name]
        with self.log(operator.short_name).open("ab") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
            try:
                yield process
            finally:
                process.terminate()
                process.wait(timeout=90)

    def log(self, operator: str) -> Path:
        return self.directory / f"{operator}.log"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestoredServer]:
    with restorable_control_plane() as plane:
        server = RestoredServer(plane, tmp_path_factory.mktemp("restored"))
        try:
            server.install()
            server.start_operators()
            server.wait_converged()
            yield server
        finally:
            server.stop_operators()


def test_operators_survive_a_restart_of_the_api_server(server: RestoredServer) -> None:
    """Without a restore, the version only grows: no process ends, and changes are seen."""
    server.take_backup()
    server.move_on()
    assert server.all_run()


def test_operators_that_run_during_a_restore_end_and_delete_nothing_of_the_backup(
    server: RestoredServer,
) -> None:
    server.restore()
    for name, process in server.processes.items():
        assert process.wait(timeout=240) == 1, name
        text = server.log(name).read_text()
        assert "it was restored from a backup; this process ends" in text
        assert "Traceback" not in text
    server.stop_operators()
    server.start_operators()
    server.wait_converged()
    assert server.backup.items() <= server.uids().items()


def test_operators_that_start_after_a_restore_delete_nothing_of_the_backup(server: RestoredServer) -> None:
    server.move_on()
    server.stop_operators()
    server.restore()
    server.start_operators()
    server.wait_converged()
    assert server.all_run()
    assert server.backup.items() <= server.uids().items()
