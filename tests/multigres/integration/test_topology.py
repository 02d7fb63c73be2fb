"""Cells, databases and poolers in a real etcd, with the operator and the data plane's stand-in as processes.

One cluster in two cells serves all tests of this file; each leaves it as it found it.
"""

import asyncio
import shlex
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from steward.etcd.client import Endpoints, EtcdClient, KeyValue
from steward.etcd.errors import Unreachable
from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.multigres.topology.protobuf import Record, encode, text
from steward.multigres.topology.store_records import PoolerRecord, cell_key, decode_cell, decode_pooler
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit import AuditLog, Calls
from steward.testkit.fake_data_plane.faults import ANNOTATION
from steward.testkit.fake_data_plane.programs import ShardKey
from steward.testkit.fake_data_plane.records import stale_pooler, stale_pooler_key
from tests.cli.support.document_commands import commands_of
from tests.multigres.integration.test_operator import Clusters, cluster, eventually
from tests.support.identities import kubeconfig_of
from tests.support.kubectl import Kubectl
from tests.support.operator_process import Operator, running

T = TypeVar("T")

ROOT = "/multigres/global"
SERVER = "mini-global-topo"
PAGE = "docs/design/data-plane-stand-in.md"
POOLS = {"default": {"type": "readWrite", "replicasPerCell": 1}}
SHARDS = [{"name": "0-inf", "spec": {"pools": POOLS}}]
DATABASES = [
    {
        "name": "postgres",
        "default": True,
        "tablegroups": [{"name": "default", "default": True, "shards": SHARDS}],
    }
]


def printed(words: str, **places: Path) -> list[list[str]]:
    """What the page's commands that begin with the words say after them, about files of ours."""
    named = {"~/.kube/config": "kubeconfig", "/tmp/data-plane": "directory"}
    said = [command.removeprefix(words) for command in commands_of(PAGE) if command.startswith(words)]
    for name, place in named.items():
        said = [each.replace(name, str(places.get(place, name))) for each in said]
    return [shlex.split(each) for each in said]


def run(work: Awaitable[T]) -> T:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


class World:
    """The cluster of this file: what its status says, and what its topology server holds."""

    def __init__(self, kubectl: Kubectl, namespace: str, forwards: Path, name: str = "mini") -> None:
        self.clusters = Clusters(kubectl, namespace)
        self.kubectl = kubectl
        self.namespace = namespace
        self.forwards = forwards
        self.name = name
        self.server = names.global_topo(name)
        address = f"{self.server}.{namespace}.svc:2379"
        redirect = Redirect((ForwardFile(forwards),))
        self._endpoints = Endpoints((address,), redirect=redirect, timeout_seconds=60.0)
        self._looks = 0

    def apply(self, *zones: str) -> None:
        cells = [{"zone": zone} for zone in zones]
        self.clusters.apply(cluster(self.namespace, cells=cells, databases=DATABASES))

    def annotate(self, *annotations: str) -> None:
        self.kubectl("annotate", "toposerver", self.server, "-n", self.namespace, "--overwrite", *annotations)

    def misbehave(self, wrong: str) -> None:
        self.annotate(f"{ANNOTATION}={wrong}")

    def behave(self) -> None:
        self.annotate(f"{ANNOTATION}-")

    def look(self) -> None:
        """Gives the operator a reason to look now; it would by itself, after a while."""
        self._looks += 1
        self.annotate(f"example.com/look={self._looks}")

    def condition(self, type_: str = "TopologyRegistered") -> Any:
        status = self.clusters.get("mgc", self.name).get("status") or {}
        return next((c for c in status.get("conditions", []) if c["type"] == type_), None)

    def wait_registered(self) -> Any:
        return eventually(self._is_registered, "the records to be registered")

    def _is_registered(self) -> Any:
        """Of the present generation: an attempt that began before an edit may end after it, and says so."""
        found = self._is("True")
        generation = self.clusters.get("mgc", self.name)["metadata"]["generation"]
        return found if found is not None and found["observedGeneration"] == generation else None

    def wait_unregistered(self) -> Any:
        return eventually(
            lambda: self.look() or self._is("False"), "the cluster to say that it is not registered"
        )

    def _is(self, status: str) -> Any:
        found = self.condition()
        return found if found is not None and found["status"] == status else None

    def etcd(self, work: Callable[[EtcdClient], Awaitable[T]]) -> T:
        async def call() -> T:
            async with EtcdClient(self._endpoints) as etcd:
                return await work(etcd)

        return run(call())

    def keys(self, below: str) -> dict[str, KeyValue]:
        """What the topology server holds, once it answers: it may just be starting."""
        found: dict[str, KeyValue]
        (found,) = eventually(lambda: self._listed(below), "the topology server to answer")
        return found

    def _listed(self, below: str) -> tuple[dict[str, KeyValue], ...]:
        try:
            return (self.etcd(lambda etcd: etcd.list(f"{ROOT}/{below}/")),)
        except Unreachable:
            return ()

    def poolers(self) -> list[PoolerRecord]:
        return [decode_pooler(found.value) for found in self.keys("poolers").values()]

    def primary_cell(self) -> str:
        shard = self.clusters.get("shard", names.shard(ShardPath(self.name, "postgres", "default", "0-inf")))
        return shard["status"].get("primaryCell", "")  # type: ignore[no-any-return]

    def wait_primary_cell(self, *wanted: str) -> str:
        found: str
        (found,) = eventually(
            lambda: self.look() or [cell for cell in [self.primary_cell()] if cell in wanted],
            f"the primary's cell to be {wanted}",
        )
        return found


@contextmanager
def running_stand_in(control_plane: ControlPlane, namespace: str, directory: Path) -> Iterator[Path]:
    """The stand-in for one namespace, as a process; gives the file of its forwards. It must end in order."""
    log = directory / "stand-in.log"
    [arguments] = printed("python ", kubeconfig=control_plane.kubeconfig, directory=directory)
    here = ("--namespace", namespace, "--failover-seconds", "0.5")
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, *arguments, *here], stderr=output)
        try:
            yield directory / "connect-to"
        finally:
            process.terminate()
            code = process.wait(timeout=90)
    assert code == 0, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture(scope="module")
def world(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("data-plane")
    [flags] = printed("steward run multigres ", directory=directory)
    user, log = kubeconfig_of(MULTIGRES, control_plane), directory / "operator.log"
    with (
        running_stand_in(control_plane, long_namespace, directory) as forwards,
        running(Operator("multigres", user, long_namespace, log, tuple(flags))),
    ):
        found = World(kubectl, long_namespace, forwards)
        found.apply("z1", "z2")
        yield found


@pytest.fixture
def mini(world: World) -> Iterator[World]:
    """The cluster, ready, registered and with a primary."""
    world.clusters.wait_ready()
    world.wait_registered()
    world.wait_primary_cell("z1", "z2")
    yield world
    world.behave()


def test_cells_and_databases_are_registered_and_the_cluster_says_so(mini: World) -> None:
    assert set(mini.keys("cells")) == {cell_key(ROOT, "z1"), cell_key(ROOT, "z2")}
    assert set(mini.keys("databases")) == {f"{ROOT}/databases/postgres/Database"}
    address = f"{SERVER}.{mini.namespace}.svc:2379"
    assert decode_cell(mini.keys("cells")[cell_key(ROOT, "z1")].value) == ("z1", (address,), ROOT)
    condition = mini.condition()
    assert condition["reason"] == "Registered"
    assert condition["message"] == "the topology server holds the records of all cells and databases"


@pytest.mark.parametrize("wrong", ["", "no-primary"])
def test_at_rest_a_look_at_the_server_writes_nothing_to_kubernetes(
    mini: World, control_plane: ControlPlane, wrong: str
) -> None:
    if wrong:
        mini.misbehave(wrong)
        mini.wait_primary_cell("")
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run(audit.mark())
    key = f"{ROOT}/databases/postgres/Database"
    mini.etcd(lambda etcd: _removed(etcd, key))
    mini.look()
    eventually(
        lambda: key in mini.keys("databases"), "the record to be put back, which shows that there was a look"
    )
    calls: Calls = run(audit.calls_since(mark))
    ours = [each for each in calls.writes_of("multigres-operator") if each.call.namespace == mini.namespace]
    assert ours == []


async def _removed(etcd: EtcdClient, key: str) -> bool:
    found = await etcd.get(key)
    return found is not None and await etcd.delete(key, found.revision)


def test_a_silent_server_holds_up_nothing_else_and_is_caught_up_with_when_it_answers(mini: World) -> None:
    misbehave, behave = printed("kubectl ")
    mini.kubectl(*misbehave, "-n", mini.namespace)
    told = mini.wait_unregistered()
    assert told["reason"] == "TopologyUnreachable"
    assert told["message"].startswith(f"{SERVER}.{mini.namespace}.svc:2379: no answer within 5 s")
    mini.apply("z1", "z2", "z3")
    eventually(lambda: len(mini.clusters.all("cell")) == 3, "the third Cell")
    mini.clusters.wait_ready()
    mini.kubectl(*behave, "-n", mini.namespace)
    mini.wait_registered()
    assert cell_key(ROOT, "z3") in mini.keys("cells")
    mini.apply("z1", "z2")


def test_a_server_that_is_gone_is_told_and_recovered_from(mini: World) -> None:
    mini.misbehave("dead-etcd")
    told = mini.wait_unregistered()
    assert told["reason"] == "TopologyUnreachable"
    assert mini.condition("Ready")["status"] == "True"
    mini.behave()
    mini.wait_registered()


def test_the_record_of_a_cell_that_left_goes_and_its_poolers_with_it(mini: World) -> None:
    # The cell with the primary cannot go before another one leads.
    staying = mini.wait_primary_cell("z1", "z2")
    mini.apply(staying)
    eventually(
        lambda: mini.look() or set(mini.keys("cells")) == {cell_key(ROOT, staying)},
        "the cell's record to go",
    )
    eventually(
        lambda: mini.look() or {pooler.cell for pooler in mini.poolers()} == {staying},
        "the cell's poolers to go",
    )
    mini.apply("z1", "z2")


def test_what_a_newer_version_added_to_a_record_is_kept_when_ours_is_corrected(mini: World) -> None:
    key = cell_key(ROOT, "z1")
    newer = encode([*text(1, "z1"), *text(3, "/elsewhere"), *text(99, "newer")])
    before = mini.keys("cells")[key]
    assert mini.etcd(lambda etcd: etcd.put(key, newer, before.revision))
    mini.look()
    eventually(lambda: decode_cell(mini.keys("cells")[key].value).root == ROOT, "the root to be corrected")
    assert Record.of(mini.keys("cells")[key].value).text(99) == "newer"


def test_poolers_that_no_pod_has_are_taken_away_and_others_are_not(mini: World) -> None:
    key = stale_pooler_key(ROOT, "z1", "stale")
    stale = stale_pooler("z1", "stale", ShardKey("postgres", "default", "0-inf"))
    assert mini.etcd(lambda etcd: etcd.put(key, stale, 0))
    mini.look()
    eventually(lambda: key not in mini.keys("poolers"), "the stale record to go")
    eventually(
        lambda: {pooler.cell for pooler in mini.poolers()} == {"z1", "z2"}, "the poolers of both cells"
    )


def test_the_shard_says_in_which_cell_its_primary_is_and_follows_it(mini: World) -> None:
    before = mini.primary_cell()
    [leading] = [pooler for pooler in mini.poolers() if pooler.is_primary and pooler.lifecycle == 2]
    assert leading.cell == before
    mini.kubectl("delete", "pod", leading.name, "-n", mini.namespace)
    assert mini.wait_primary_cell("z2" if before == "z1" else "z1") != before


@pytest.mark.parametrize("wrong", ["no-primary", "two-primaries"])
def test_a_primary_that_is_not_known_is_not_guessed(mini: World, wrong: str) -> None:
    mini.misbehave(wrong)
    mini.wait_primary_cell("")
    mini.behave()
    mini.wait_primary_cell("z1", "z2")


def test_a_cell_with_a_server_of_its_own_keeps_its_poolers_there(mini: World) -> None:
    own = {"zone": "z1", "spec": {"localTopoServer": {"etcd": {"replicas": 1}}}}
    manifest = cluster(mini.namespace, "apart", cells=[own], databases=DATABASES)
    mini.clusters.apply(manifest)
    apart = World(mini.kubectl, mini.namespace, mini.forwards, "apart")
    mini.clusters.wait_ready("apart")
    apart.wait_registered()
    server = names.local_topo(names.cell("apart", "z1"))
    record = decode_cell(apart.keys("cells")[cell_key(ROOT, "z1")].value)
    assert record == ("z1", (f"{server}.{mini.namespace}.svc:2379",), "/multigres/z1")
    assert eventually(
        lambda: apart.primary_cell() == "z1", "the primary that is registered in the cell's server"
    )
    assert apart.poolers() == []
