"""Postgres settings of a cluster whose servers are one real Postgres server. It does not see the files of pods.

Both tests share the cluster; the first one needs it without settings.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.real_postgres import REFERENCE, connect_to, create_superuser, drop_superuser
from tests.multigres.support.waiting import eventually
from tests.support.database_servers import DatabaseServer
from tests.support.kubectl import Kubectl

CLUSTER = "tuned"
SHARD = names.shard(names.ShardPath(CLUSTER, "postgres", "default", "0-inf"))
NO_WEB = {"multiadminWeb": {"spec": {"replicas": 0}}}
SETTINGS = "/spec/databases/0/tablegroups/0/shards/0/spec/postgres"


class TunedCluster:
    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters
        clusters.apply(small_cluster(clusters.namespace, CLUSTER, **REFERENCE, **NO_WEB))
        clusters.wait_ready(CLUSTER)

    def change(self, **settings: str | int) -> None:
        patch = [{"op": "add", "path": SETTINGS, "value": {"settings": settings}}]
        self.clusters.kubectl(
            *("patch", "mgc", CLUSTER, "-n", self.clusters.namespace, "--type=json", "-p", json.dumps(patch))
        )

    def written(self) -> str:
        """What servers mount."""
        found = self.clusters.get("configmap", f"{SHARD}-postgres-config")
        return str(found["data"]["postgresql.conf"])

    def pods(self) -> set[str]:
        label = f"multigres.com/cluster={CLUSTER},app.kubernetes.io/component=shard-pool"
        found = self.clusters.kubectl.json("get", "pods", "-n", self.clusters.namespace, "-l", label)["items"]
        return {each["metadata"]["uid"] for each in found}

    def condition(self, type_: str) -> dict[str, Any]:
        reported = self.clusters.get("shard", SHARD)["status"]["conditions"]
        return next((each for each in reported if each["type"] == type_), {"status": "", "message": ""})


@pytest.fixture(scope="module")
def tuned(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
    postgres: DatabaseServer,
) -> Iterator[TunedCluster]:
    forwards = connect_to(control_plane, postgres, long_namespace, [CLUSTER], "main")
    create_superuser(postgres, kubectl, long_namespace)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, long_namespace, log, connect_to=forwards):
        yield TunedCluster(Clusters(kubectl, long_namespace))
    drop_superuser(postgres)


def test_postgres_decides_which_settings_are_passed_on_and_which_of_them_restart_servers(
    tuned: TunedCluster,
) -> None:
    first = tuned.pods()
    assert tuned.written() == ""
    assert not tuned.condition("SettingsLoaded")["status"], "no server is asked without settings"

    # Postgres needs no restart.
    tuned.change(work_mem="8MB", timezone="Europe/Rome")
    eventually(lambda: "work_mem = '8MB'" in tuned.written(), "the settings to be passed on")
    eventually(lambda: tuned.condition("SettingsLoaded")["status"] == "False", "the servers to be asked")
    assert "does not have the settings yet" in tuned.condition("SettingsLoaded")["message"]
    assert tuned.pods() == first

    # A value that Postgres does not accept reaches no server.
    tuned.change(work_mem="8MB", shared_buffers="much")
    eventually(
        lambda: "shared_buffers (it is not a number)" in tuned.condition("PostgresConfigRefused")["message"],
        "the refusal",
    )
    assert "shared_buffers" not in tuned.written()
    assert tuned.pods() == first

    # A setting that needs a restart replaces all servers.
    tuned.change(work_mem="8MB", shared_buffers="64MB")
    eventually(lambda: "shared_buffers = '64MB'" in tuned.written(), "the settings to be passed on")
    eventually(
        lambda: len(tuned.pods()) == 2 and first.isdisjoint(tuned.pods()), "all servers to be replaced"
    )
    assert not tuned.condition("PostgresConfigRefused")["status"]


def test_a_setting_can_be_lowered_to_what_all_servers_run_with(tuned: TunedCluster) -> None:
    tuned.change(max_connections=5000)
    eventually(lambda: "max_connections = '5000'" in tuned.written(), "the settings to be passed on")

    # Postgres never got them, as if it could not start with them: it runs with 200.
    tuned.change(max_connections=90)
    eventually(
        lambda: (
            "lowers max_connections from 200 to 90" in tuned.condition("PostgresConfigRefused")["message"]
        ),
        "the refusal",
    )
    assert "max_connections = '5000'" in tuned.written()

    tuned.change(max_connections=250)
    eventually(lambda: "max_connections = '250'" in tuned.written(), "the settings to be passed on")
    eventually(lambda: not tuned.condition("PostgresConfigRefused")["status"], "no refusal")
