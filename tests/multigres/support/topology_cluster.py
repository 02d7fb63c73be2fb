"""A cluster whose topology server is an etcd of the fake data plane."""

import shlex
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steward.etcd.answers import KeyValue
from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import Unreachable
from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.multigres.topology.store_records import PoolerRecord, decode_pooler, find_primary
from steward.runtime.manager.connect_to import ForwardFile, Redirect
from steward.testkit.fake_data_plane.faults import ANNOTATION
from tests.cli.support.document_commands import commands_on_page
from tests.multigres.support.clusters import Clusters, cluster
from tests.multigres.support.waiting import T, eventually, run_async
from tests.support import data_planes
from tests.support.kubectl import Kubectl

ROOT = "/multigres/global"
PAGE = "docs/design/fake-data-plane.md"
POOLS = {"default": {"type": "readWrite", "replicasPerCell": 2}}
SHARDS = [{"name": "0-inf", "spec": {"pools": POOLS}}]
DATABASES = [
    {
        "name": "postgres",
        "default": True,
        "tablegroups": [{"name": "default", "default": True, "shards": SHARDS}],
    }
]


def page_commands(words: str, **places: Path) -> list[list[str]]:
    """Arguments of the documented commands that begin with `words`, with the paths of this test."""
    placeholders = {"~/.kube/config": "kubeconfig", "/tmp/data-plane": "directory"}
    commands = [
        command.removeprefix(words) for command in commands_on_page(PAGE) if command.startswith(words)
    ]
    for name, place in placeholders.items():
        commands = [each.replace(name, str(places.get(place, name))) for each in commands]
    return [shlex.split(each) for each in commands]


class TopologyCluster:
    """A cluster, its status and the records in its topology server."""

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
        self._checks = 0

    def apply(self, *zones: str) -> None:
        cells = [{"zone": zone} for zone in zones]
        self.clusters.apply(cluster(self.namespace, cells=cells, databases=DATABASES))

    def annotate(self, *annotations: str) -> None:
        self.kubectl("annotate", "toposerver", self.server, "-n", self.namespace, "--overwrite", *annotations)

    def inject_faults(self, wrong: str) -> None:
        self.annotate(f"{ANNOTATION}={wrong}")

    def clear_faults(self) -> None:
        self.annotate(f"{ANNOTATION}-")

    def trigger_check(self) -> None:
        """Triggers a check of the topology now; the operator would check after a while."""
        self._checks += 1
        check = f"example.com/check={self._checks}"
        self.kubectl("annotate", "mgc", self.name, "-n", self.namespace, "--overwrite", check)

    def condition(self, type_: str = "TopologyRegistered") -> Any:
        status = self.clusters.get("mgc", self.name).get("status") or {}
        return next((c for c in status.get("conditions", []) if c["type"] == type_), None)

    def wait_registered(self) -> Any:
        return eventually(self._is_registered, "the records to be registered")

    def _is_registered(self) -> Any:
        """Of the current generation: a check that began before an edit may end after it."""
        found = self._is("True")
        generation = self.clusters.get("mgc", self.name)["metadata"]["generation"]
        return found if found is not None and found["observedGeneration"] == generation else None

    def wait_unregistered(self) -> Any:
        return eventually(
            lambda: self.trigger_check() or self._is("False"),
            "the cluster to report that it is not registered",
        )

    def _is(self, status: str) -> Any:
        found = self.condition()
        return found if found is not None and found["status"] == status else None

    def etcd(self, work: Callable[[EtcdClient], Awaitable[T]]) -> T:
        async def call() -> T:
            async with EtcdClient(self._endpoints) as etcd:
                return await work(etcd)

        return run_async(call())

    def keys(self, below: str) -> dict[str, KeyValue]:
        """The records of the topology server, once it answers: it may still be starting."""
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

    def wait_primary(self, but: str = "") -> PoolerRecord:
        """The primary, once it is another one than `but`."""

        def found() -> PoolerRecord | None:
            primary = find_primary(self.poolers())
            return primary if primary is not None and primary.name != but else None

        primary = eventually(found, f"another primary than {but}" if but else "a primary")
        assert isinstance(primary, PoolerRecord)
        return primary

    def primary_cell(self) -> str:
        shard = self.clusters.get("shard", names.shard(ShardPath(self.name, "postgres", "default", "0-inf")))
        return shard["status"].get("primaryCell", "")  # type: ignore[no-any-return]

    def wait_primary_cell(self, *cells: str) -> str:
        found: str
        (found,) = eventually(
            lambda: self.trigger_check() or [cell for cell in [self.primary_cell()] if cell in cells],
            f"the primary's cell to be {cells}",
        )
        return found


@contextmanager
def running_fake_data_plane(
    control_plane: ControlPlane, namespace: str, directory: Path, *flags: str
) -> Iterator[Path]:
    """The fake data plane of one namespace, as a process; yields the file of its forwards."""
    log = directory / "data-plane.log"
    [arguments] = page_commands("python ", kubeconfig=control_plane.kubeconfig, directory=directory)
    here = ("--namespace", namespace, *data_planes.FAST_FLAGS, *flags)
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, *arguments, *here], stderr=output)
        try:
            yield directory / "connect-to"
        finally:
            process.terminate()
            code = process.wait(timeout=90)
    assert code == 0, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()
