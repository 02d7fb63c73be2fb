"""Cells, databases and poolers in a real etcd, with the operator and the fake data plane as processes.

All tests of this file share one cluster in two cells; each restores it.
"""

from collections.abc import Iterator

import pytest

from steward.etcd.client import EtcdClient
from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.topology.protobuf import DecodedMessage, encode, text_field
from steward.multigres.topology.store_records import cell_key, decode_cell
from steward.testkit import AuditedCalls, AuditLog
from steward.testkit.fake_data_plane.programs import ShardKey
from steward.testkit.fake_data_plane.records import stale_pooler, stale_pooler_key
from tests.multigres.support.clusters import cluster
from tests.multigres.support.operator import SHORT
from tests.multigres.support.topology_cluster import (
    DATABASES,
    ROOT,
    TopologyCluster,
    page_commands,
    running_fake_data_plane,
)
from tests.multigres.support.waiting import eventually, run_async
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process
from tests.support.short_periods import short_periods

SERVER = "mini-global-topo"
ONE_MEMBER = {"etcd": {"replicas": 1}}
SMALL = {"globalTopoServer": ONE_MEMBER, "multiadminWeb": {"spec": {"replicas": 0}}}


class SmallCluster(TopologyCluster):
    def apply(self, *zones: str) -> None:
        cells = [{"zone": zone} for zone in zones]
        self.clusters.apply(cluster(self.namespace, cells=cells, databases=DATABASES, **SMALL))


@pytest.fixture(scope="module")
def world(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[TopologyCluster]:
    directory = tmp_path_factory.mktemp("data-plane")
    [flags] = page_commands("steward run multigres ", directory=directory)
    user, log = operator_kubeconfig(MULTIGRES, control_plane), directory / "operator.log"
    with (
        running_fake_data_plane(control_plane, long_namespace, directory) as forwards,
        run_operator_process(
            OperatorProcess("multigres", user, long_namespace, log, tuple(flags), short_periods(SHORT)),
            default_graceful_shutdown_period="1s",
        ),
    ):
        found = SmallCluster(kubectl, long_namespace, forwards)
        found.apply("z1", "z2")
        yield found


@pytest.fixture
def mini(world: TopologyCluster) -> Iterator[TopologyCluster]:
    """The cluster, ready, registered and with a primary."""
    world.clusters.wait_ready()
    world.wait_registered()
    world.wait_primary_cell("z1", "z2")
    yield world
    world.clear_faults()


def test_cells_and_databases_are_registered_and_reported(mini: TopologyCluster) -> None:
    assert set(mini.keys("cells")) == {cell_key(ROOT, "z1"), cell_key(ROOT, "z2")}
    assert set(mini.keys("databases")) == {f"{ROOT}/databases/postgres/Database"}
    address = f"{SERVER}.{mini.namespace}.svc:2379"
    assert decode_cell(mini.keys("cells")[cell_key(ROOT, "z1")].value) == ("z1", (address,), ROOT)
    condition = mini.condition()
    assert condition["reason"] == "Registered"
    assert condition["message"] == "the topology server holds the records of all cells and databases"


def test_a_check_without_changes_writes_nothing_to_kubernetes(
    mini: TopologyCluster, control_plane: ControlPlane
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run_async(audit.mark())
    _wait_checked(mini)
    calls: AuditedCalls = run_async(audit.calls_since(mark))
    ours = [each for each in calls.writes_of("multigres-operator") if each.call.namespace == mini.namespace]
    assert ours == []


async def _removed(etcd: EtcdClient, key: str) -> bool:
    found = await etcd.get(key)
    return found is not None and await etcd.delete(key, found.revision)


def test_an_unreachable_server_blocks_nothing_else_and_its_records_are_written_later(
    mini: TopologyCluster,
) -> None:
    misbehave, behave = page_commands("kubectl ")
    mini.kubectl(*misbehave, "-n", mini.namespace)
    reported = mini.wait_unregistered()
    assert reported["reason"] == "TopologyUnreachable"
    assert reported["message"].startswith(f"{SERVER}.{mini.namespace}.svc:2379: no answer within 5 s")
    mini.apply("z1", "z2", "z3")
    eventually(lambda: len(mini.clusters.all("cell")) == 3, "the third Cell")
    gateways = names.gateway("mini", "z3")
    assert mini.clusters.get("deployment", gateways) is None
    mini.kubectl(*behave, "-n", mini.namespace)
    mini.wait_registered()
    eventually(lambda: mini.clusters.get("deployment", gateways), "the gateways of the registered cell")
    assert cell_key(ROOT, "z3") in mini.keys("cells")
    mini.apply("z1", "z2")


def test_a_lost_server_is_reported_until_it_is_back(mini: TopologyCluster) -> None:
    mini.inject_faults("dead-etcd")
    reported = mini.wait_unregistered()
    assert reported["reason"] == "TopologyUnreachable"
    assert mini.condition("Ready")["status"] == "True"
    mini.clear_faults()
    mini.wait_registered()


def test_the_records_of_a_removed_cell_are_removed_with_its_poolers(mini: TopologyCluster) -> None:
    # The cell with the primary cannot go before another one leads.
    staying = mini.wait_primary_cell("z1", "z2")
    mini.apply(staying)
    eventually(
        lambda: mini.trigger_check() or set(mini.keys("cells")) == {cell_key(ROOT, staying)},
        "the cell's record to go",
    )
    eventually(
        lambda: mini.trigger_check() or {pooler.cell for pooler in mini.poolers()} == {staying},
        "the cell's poolers to go",
    )
    mini.apply("z1", "z2")


def test_unknown_fields_of_a_record_stay_when_it_is_corrected(mini: TopologyCluster) -> None:
    key = cell_key(ROOT, "z1")
    newer = encode([*text_field(1, "z1"), *text_field(3, "/elsewhere"), *text_field(99, "newer")])
    before = mini.keys("cells")[key]
    assert mini.etcd(lambda etcd: etcd.write(key, newer, before.revision))
    mini.trigger_check()
    eventually(lambda: decode_cell(mini.keys("cells")[key].value).root == ROOT, "the root to be corrected")
    assert DecodedMessage.decode(mini.keys("cells")[key].value).text(99) == "newer"


def test_poolers_without_a_pod_are_removed(mini: TopologyCluster) -> None:
    key = stale_pooler_key(ROOT, "z1", "stale")
    stale = stale_pooler("z1", "stale", ShardKey("postgres", "default", "0-inf"))
    assert mini.etcd(lambda etcd: etcd.write(key, stale, 0))
    mini.trigger_check()
    eventually(lambda: key not in mini.keys("poolers"), "the stale record to go")
    eventually(
        lambda: {pooler.cell for pooler in mini.poolers()} == {"z1", "z2"}, "the poolers of both cells"
    )


def test_poolers_without_a_pod_stay_while_pruning_is_off(mini: TopologyCluster) -> None:
    key = stale_pooler_key(ROOT, "z2", "stale")
    stale = stale_pooler("z2", "stale", ShardKey("postgres", "default", "0-inf"))
    _set_pruning(mini, "false")
    assert mini.etcd(lambda etcd: etcd.write(key, stale, 0))
    # Poolers are read after databases are registered: the second check begins after the first one has ended.
    _wait_checked(mini)
    _wait_checked(mini)
    assert key in mini.keys("poolers")
    _set_pruning(mini, "null")
    eventually(lambda: mini.trigger_check() or key not in mini.keys("poolers"), "the stale record to go")


def _set_pruning(mini: TopologyCluster, value: str) -> None:
    patch = f'{{"spec":{{"topologyReconciliation":{{"pruneTablets":{value}}}}}}}'
    mini.kubectl("patch", "mgc", "mini", "-n", mini.namespace, "--type=merge", "-p", patch)
    mini.wait_registered()


def _wait_checked(mini: TopologyCluster) -> None:
    """A check has begun: it restores a record that was removed."""
    key = f"{ROOT}/databases/postgres/Database"
    mini.etcd(lambda etcd: _removed(etcd, key))
    mini.trigger_check()
    eventually(lambda: key in mini.keys("databases"), "the record to be restored")


def test_the_shard_reports_the_cell_of_its_primary(mini: TopologyCluster) -> None:
    leading = mini.wait_primary()
    assert mini.wait_primary_cell("z1", "z2") == leading.cell
    mini.kubectl("delete", "pod", leading.name, "-n", mini.namespace)
    assert mini.wait_primary_cell(mini.wait_primary(leading.name).cell)


@pytest.mark.parametrize("wrong", ["no-primary", "two-primaries"])
def test_an_unknown_primary_is_not_guessed(mini: TopologyCluster, wrong: str) -> None:
    mini.inject_faults(wrong)
    mini.wait_primary_cell("")
    mini.clear_faults()
    mini.wait_primary_cell("z1", "z2")


def test_a_cell_with_its_own_server_keeps_its_poolers_there(mini: TopologyCluster) -> None:
    own = {"zone": "z1", "spec": {"localTopoServer": ONE_MEMBER}}
    manifest = cluster(mini.namespace, "apart", cells=[own], databases=DATABASES, **SMALL)
    mini.clusters.apply(manifest)
    apart = TopologyCluster(mini.kubectl, mini.namespace, mini.forwards, "apart")
    mini.clusters.wait_ready("apart")
    apart.wait_registered()
    server = names.local_topo(names.cell("apart", "z1"))
    record = decode_cell(apart.keys("cells")[cell_key(ROOT, "z1")].value)
    assert record == ("z1", (f"{server}.{mini.namespace}.svc:2379",), "/multigres/z1")
    assert eventually(
        lambda: apart.primary_cell() == "z1", "the primary that is registered in the cell's server"
    )
    assert apart.poolers() == []
