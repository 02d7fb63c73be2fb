"""The status of shards whose Postgres servers fail, or whose state is unknown.

Most tests share one shard: each begins when it is well and takes its faults away again. Two share a cluster that
begins without multiadmin.
"""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.testkit.fake_data_plane.faults import ANNOTATION, DataPlaneFault
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.kubectl import Kubectl

NO_WEB = {"multiadminWeb": {"spec": {"replicas": 0}}}
PERIODS = {**EARLY_STATUS, "steward.multigres.servers.grace:GRACE_SECONDS": 5.0}


class ObservedShard:
    """The only shard of a cluster, and the faults of its data plane."""

    def __init__(self, kubectl: Kubectl, namespace: str, name: str) -> None:
        self.clusters = Clusters(kubectl, namespace)
        self.kubectl = kubectl
        self.namespace = namespace
        self.name = name
        self.path = ShardPath(name, "postgres", "default", "0-inf")

    def apply(self, replicas: int = 3, **spec: Any) -> None:
        pool = {"replicasPerCell": replicas}
        self.clusters.apply(small_cluster(self.namespace, self.name, pool=pool, **{**NO_WEB, **spec}))

    def create(self) -> None:
        self.apply()
        self.clusters.wait_ready(self.name)

    def inject(self, kind: str, name: str, fault: DataPlaneFault | None) -> None:
        value = f"{ANNOTATION}-" if fault is None else f"{ANNOTATION}={fault.value}"
        self.kubectl("annotate", kind, name, "-n", self.namespace, "--overwrite", value)

    def inject_into_shard(self, fault: DataPlaneFault | None) -> None:
        self.inject("shard", names.shard(self.path), fault)

    def inject_into_topology(self, fault: DataPlaneFault | None) -> None:
        self.inject("toposerver", names.global_topo(self.name), fault)

    def clear_faults(self) -> None:
        self.inject_into_shard(None)
        self.inject_into_topology(None)
        for ordinal in range(3):
            self.inject("pod", self.pod(ordinal), None)

    def wait_well(self) -> None:
        """Ready and available, with a report of each server."""
        self.wait_condition("ServersReady", "True")
        self.wait_condition("Available", "True")
        self.wait_condition("Available", "True", kind="mgc")
        self.clusters.wait_ready(self.name)

    def pod(self, ordinal: int) -> str:
        return f"{names.pool(self.path, 'main', 'z1')}-{ordinal}"

    @property
    def status(self) -> Any:
        return (self.clusters.get("shard", names.shard(self.path)) or {}).get("status") or {}

    @property
    def phase(self) -> str:
        """Of the cluster."""
        return str(self.clusters.get("mgc", self.name)["status"]["phase"])

    def condition(self, type_: str, kind: str = "shard") -> Any:
        live = self.clusters.get(kind, self.name) if kind == "mgc" else None
        status = self.status if kind == "shard" else (live or {}).get("status") or {}
        return next((each for each in status.get("conditions", []) if each["type"] == type_), {})

    def wait_condition(self, type_: str, status: str, reason: str = "", kind: str = "shard") -> Any:
        def reached() -> Any:
            found = self.condition(type_, kind)
            return found if found.get("status") == status and reason in found.get("reason", "") else None

        return eventually(reached, f"{type_}={status} {reason}", explain=lambda: str(self.status))


@pytest.fixture(scope="module")
def home(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A namespace with an operator for all tests of this file; the clusters have names of their own."""
    name = f"servers-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, name, log, periods=PERIODS):
        yield name
    namespaces.release_namespace(kubectl.server, name)


@pytest.fixture(scope="module")
def shared_shard(home: str, kubectl: Kubectl) -> ObservedShard:
    shard = ObservedShard(kubectl, home, "well")
    shard.create()
    return shard


@pytest.fixture
def shard(shared_shard: ObservedShard) -> Iterator[ObservedShard]:
    """Three servers that are well, and are well again at the end."""
    shared_shard.wait_well()
    yield shared_shard
    shared_shard.clear_faults()


def test_ready_shard_names_its_primary_and_its_servers(
    shard: ObservedShard, home: str, kubectl: Kubectl
) -> None:
    servers = {each["pod"]: each for each in shard.status["servers"]}
    assert set(servers) == {shard.pod(ordinal) for ordinal in range(3)}
    assert {each["state"] for each in servers.values()} == {"Ready"}
    assert servers[shard.status["primary"]]["role"] == "Primary"
    assert shard.status["primary"] in kubectl("get", "shard", names.shard(shard.path), "-n", home)


def test_postgres_that_is_down_everywhere_is_neither_ready_nor_available(shard: ObservedShard) -> None:
    """The pods stay Ready."""
    shard.inject_into_shard(DataPlaneFault.POSTGRES_DOWN)
    shard.wait_condition("ServersReady", "False", "PostgresDown")
    shard.wait_condition("Available", "False", kind="mgc")
    shard.wait_condition("Ready", "False", kind="mgc")
    shard.inject_into_shard(None)
    shard.clusters.wait_ready(shard.name)
    shard.wait_condition("Available", "True", kind="mgc")


@pytest.mark.parametrize(
    ("fault", "reason", "available"),
    [
        (DataPlaneFault.NEVER_STREAMS, "StandbyNotStreaming", "True"),
        (DataPlaneFault.QUARANTINED, "ServerQuarantined", "True"),
        (DataPlaneFault.SLOW_POSTGRES, "ServersStarting", "True"),
    ],
)
def test_standby_that_fails_is_named_and_writes_go_on(
    shard: ObservedShard, fault: DataPlaneFault, reason: str, available: str
) -> None:
    standby = next(each["pod"] for each in shard.status["servers"] if each.get("role") == "Standby")
    shard.inject("pod", standby, fault)
    reported = shard.wait_condition("ServersReady", "False", reason)
    assert standby in reported["message"]
    assert shard.condition("Available")["status"] == available
    shard.inject("pod", standby, None)
    shard.clusters.wait_ready(shard.name)


def test_shard_without_a_primary_is_not_available(shard: ObservedShard) -> None:
    shard.inject_into_shard(DataPlaneFault.NO_PRIMARY)
    shard.wait_condition("ServersReady", "False", "NoPrimary")
    assert shard.condition("Available")["reason"] == "NoPrimary"
    shard.inject_into_shard(None)
    shard.clusters.wait_ready(shard.name)


def test_state_is_unknown_while_multiadmin_is_away_and_the_primary_stays_known(
    shard: ObservedShard,
) -> None:
    primary, since = shard.status["primary"], shard.condition("Ready")["lastTransitionTime"]
    shard.inject_into_topology(DataPlaneFault.MULTIADMIN_AWAY)
    reported = shard.wait_condition("ServersReady", "Unknown", "StateUnknown")
    assert "multiadmin does not report the state of Postgres" in reported["message"]
    assert shard.status["primary"] == primary
    assert shard.condition("Ready")["lastTransitionTime"] != since
    shard.wait_condition("Ready", "Unknown", "StateUnknown", kind="mgc")
    shard.inject_into_topology(None)
    shard.clusters.wait_ready(shard.name)


@pytest.fixture(scope="module")
def blind(home: str, kubectl: Kubectl) -> ObservedShard:
    """A new cluster without multiadmin. Its topology server exists and does not answer yet."""
    shard = ObservedShard(kubectl, home, "blind")
    shard.apply(replicas=2, multiadmin={"spec": {"replicas": 0}})
    eventually(lambda: shard.clusters.get("toposerver", names.global_topo("blind")), "the topology server")
    shard.inject_into_topology(DataPlaneFault.SILENT_ETCD)
    return shard


def test_gateways_are_created_when_their_cell_is_registered_and_stay(blind: ObservedShard) -> None:
    gateways, cell = names.gateway("blind", "z1"), names.cell("blind", "z1")
    eventually(
        lambda: (
            "start when the topology server has the record of their cell"
            in ((blind.clusters.get("cell", cell) or {}).get("status") or {}).get("message", "")
        ),
        "the cell to wait",
    )
    assert blind.clusters.get("deployment", gateways) is None
    blind.inject_into_topology(None)
    blind.wait_condition("TopologyRegistered", "True", kind="mgc")
    created = eventually(lambda: blind.clusters.get("deployment", gateways), "the gateways")["metadata"][
        "uid"
    ]
    eventually(
        lambda: blind.clusters.get("deployment", gateways)["status"].get("readyReplicas"), "ready gateways"
    )
    blind.inject_into_topology(DataPlaneFault.DEAD_ETCD)
    blind.wait_condition("TopologyRegistered", "False", kind="mgc")
    assert blind.clusters.get("deployment", gateways)["metadata"]["uid"] == created
    blind.inject_into_topology(None)


def test_without_multiadmin_the_state_of_postgres_is_unknown(blind: ObservedShard) -> None:
    blind.inject_into_topology(None)
    reported = blind.wait_condition("Ready", "Unknown", "StateUnknown", kind="mgc")
    assert "Deployment blind-multiadmin has 0 replicas" in reported["message"]
    blind.apply(replicas=2, multiadmin={"spec": {"replicas": 1}})
    blind.clusters.wait_ready(blind.name)


def test_shard_without_servers_is_stopped(shard: ObservedShard) -> None:
    """The last test of the shared shard."""
    shard.apply(replicas=0)
    shard.wait_condition("Available", "False", "Stopped")
    eventually(lambda: shard.status.get("phase") == "Stopped", "the shard to be stopped")
    eventually(lambda: shard.phase == "Stopped", "the cluster to be stopped")
    assert shard.condition("Ready", kind="mgc")["status"] == "True"
    shard.apply(replicas=3)
    eventually(lambda: shard.phase == "Healthy", "it to run again")
