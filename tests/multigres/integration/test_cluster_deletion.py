"""Clusters on a real control plane go in order and leave nothing behind but what their policy keeps."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import Silent
from steward.testkit import AuditLog, Mark
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_operator import cluster, eventually
from tests.multigres.integration.test_topology import run
from tests.multigres.integration.test_toposerver_deletion import Servers
from tests.support.kubectl import Kubectl

KINDS = (
    "mgc,cell,tablegroup,shard,toposerver,deployment,statefulset,service,secret,configmap,poddisruptionbudget"
)
SMALL = {"pools": {"default": {"replicasPerCell": 1}}}
PASSWORD = "Secret/mini-postgres-password"
HASTY = {"default_graceful_shutdown_period": "1s"}


def databases(*more: str, policy: str = "Retain") -> list[dict[str, Any]]:
    """One pod a shard, so that a whole cluster is a handful of pods. `more` are further table groups."""
    spec = {**SMALL, "pvcDeletionPolicy": {"whenDeleted": policy, "whenScaled": policy}}
    shards = [{"name": "0-inf", "spec": spec}]
    groups: list[dict[str, Any]] = [{"name": "default", "default": True, "shards": shards}]
    groups += [{"name": name, "shards": shards} for name in more]
    return [{"name": "postgres", "default": True, "tablegroups": groups}]


def small(namespace: str, **spec: Any) -> dict[str, Any]:
    etcd = {"etcd": {"replicas": 1}}
    return cluster(namespace, **{"databases": databases(), "globalTopoServer": etcd, **spec})


class Ends(Servers):
    def remains(self) -> list[str]:
        """Everything of the cluster that is still there, claims aside."""
        found = self.kubectl.json("get", KINDS, "-n", self.namespace)["items"]
        names = [f"{item['kind']}/{item['metadata']['name']}" for item in found]
        return [name for name in names if "kube-root-ca" not in name]

    def wait_nothing(self, *but: str) -> None:
        self.wait_gone("mgc", "mini")
        eventually(lambda: self.remains() == list(but), f"everything to go but {but}")

    def claims(self) -> list[str]:
        return sorted(claim["metadata"]["name"] for claim in self.all("pvc"))

    def take_owners(self) -> None:
        """What the garbage collector does for `--cascade=orphan`; it leaves no other trace when it is through."""
        owner = self.get("mgc", "mini")["metadata"]["uid"]
        for each in self.kubectl.json("get", KINDS, "-n", self.namespace)["items"]:
            owners = each["metadata"].get("ownerReferences", [])
            if [one["uid"] for one in owners] == [owner]:
                name = f"{each['kind']}/{each['metadata']['name']}"
                nobody = '{"metadata":{"ownerReferences":null}}'
                self.kubectl("patch", name, "-n", self.namespace, "--type=merge", "-p", nobody)

    def wait_let_go(self, cell: Manifest) -> None:
        """The cluster is gone, and its cell stands there as it was, without an owner."""
        self.wait_gone("mgc", "mini")
        [orphan] = self.all("cell")
        assert orphan["metadata"]["uid"] == cell["metadata"]["uid"]
        assert "deletionTimestamp" not in orphan["metadata"]
        assert not orphan["metadata"].get("ownerReferences")

    def delete_cluster(self, *options: str) -> None:
        self.kubectl("delete", "mgc", "mini", "-n", self.namespace, "--wait=false", *options)


@pytest.fixture
def hasty_operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with running_operator(control_plane, namespace, tmp_path / "operator.log", **HASTY) as process:
        yield process


@pytest.fixture
def ends(hasty_operator: object, kubectl: Kubectl, namespace: str) -> Ends:
    return Ends(kubectl, namespace)


def order_of_ends(audit: AuditLog, mark: Mark, namespace: str, part: str = "") -> list[str]:
    """In which order the operator scaled workloads with `part` in their name to their end, and deleted children.

    What it writes to a workload last is its end; before that it may note that it was asked to end it, and waits.
    """
    calls = [item.call for item in run(audit.calls_since(mark)) if item.code < 300]
    ours = [call for call in calls if call.namespace == namespace and "multigres-operator" in call.user_agent]
    moments: dict[str, None] = {}
    for call in ours:
        if call.verb == "patch" and call.resource in WORKLOADS and part in call.name:
            scaled = f"scale {WORKLOADS[call.resource](call.name)}"
            moments.pop(scaled, None)
            moments[scaled] = None
        elif call.verb == "delete" and call.resource in CHILDREN:
            moments[f"delete {call.resource}"] = None
    return list(moments)


CHILDREN = ("cells", "tablegroups", "toposervers")
WORKLOADS: dict[str, Callable[[str], str]] = {
    "deployments": lambda name: "gateway" if "multigateway" in name else "orchestrator",
    "statefulsets": lambda name: "etcd" if "topo" in name else "pool",
}


def test_a_cluster_goes_gateways_first_and_etcd_last(ends: Ends, control_plane: ControlPlane) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    ends.apply(small(ends.namespace))
    ends.wait_ready()
    mark = run(audit.mark())
    ends.delete_cluster()
    ends.wait_nothing(PASSWORD)
    assert order_of_ends(audit, mark, ends.namespace) == [
        "delete cells",
        "scale gateway",
        "delete tablegroups",
        "scale orchestrator",
        "scale pool",
        "delete toposervers",
        "scale etcd",
    ]
    assert len(ends.claims()) == 3, "Retain keeps the volumes of the pool, the backups and etcd"
    ends.wait_event("ClaimsRetained", "Shard postgres/default/0-inf is gone; its data stays in volume claims")


def test_foreground_deletion_leaves_nothing(ends: Ends) -> None:
    gone = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    ends.apply(small(ends.namespace, databases=databases(policy="Delete"), pvcDeletionPolicy=gone))
    ends.wait_ready()
    ends.delete_cluster("--cascade=foreground")
    ends.wait_nothing()
    eventually(lambda: not ends.claims(), "the volumes to go")


def test_a_cluster_deleted_while_it_is_made_and_nobody_looks_goes_when_somebody_does(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    """The operator goes down in the middle of the creation, and the deletion comes while it is down."""
    ends = Ends(kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "first.log", **HASTY):
        ends.apply(small(namespace))
        eventually(lambda: ends.all("cell"), "the creation to have begun")
    ends.delete_cluster()
    assert ends.get("mgc", "mini")["metadata"]["deletionTimestamp"]
    with running_operator(control_plane, namespace, tmp_path / "second.log", **HASTY):
        eventually(lambda: set(ends.remains()) <= {PASSWORD}, "everything to go")
        ends.apply(small(namespace))
        ends.wait_ready()
        ends.kubectl("annotate", "mgc", "mini", "-n", namespace, "multigres.com/force-delete=true")
        ends.delete_cluster()
        ends.wait_nothing(PASSWORD)
        ends.wait_event("ForceDeleted", "skipped: the order of removal")


def test_orphans_stay_and_a_new_cluster_of_the_name_takes_them_over(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    """Once while the operator looks, once while it is down: then only what lost its owner tells what was asked for."""
    ends = Ends(kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "first.log", **HASTY):
        ends.apply(small(namespace))
        ends.wait_ready()
        [cell] = ends.all("cell")
        ends.delete_cluster("--cascade=orphan")
        ends.wait_let_go(cell)
        ends.apply(small(namespace))
        ends.wait_ready()
        [after] = ends.all("cell")
        assert after["metadata"]["uid"] == cell["metadata"]["uid"]
        assert after["metadata"]["ownerReferences"]
    ends.delete_cluster("--cascade=orphan")
    eventually(
        lambda: "orphan" not in ends.get("mgc", "mini")["metadata"]["finalizers"], "owners to be taken"
    )
    with running_operator(control_plane, namespace, tmp_path / "second.log", **HASTY):
        ends.wait_let_go(cell)


def test_a_namespace_goes_with_its_cluster(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    gone = f"{namespace}-gone"
    ends = Ends(kubectl, gone)
    kubectl("create", "namespace", gone)
    eventually(lambda: ends.get("serviceaccount", "default"), "the namespace to be ready for pods")
    with running_operator(control_plane, gone, tmp_path / "operator.log", **HASTY):
        ends.apply(small(gone))
        ends.wait_ready()
        kubectl("delete", "namespace", gone, "--wait=false")
        ends.wait_nothing()


def test_records_in_somebody_elses_etcd_go_with_the_cluster_and_others_stay(
    ends: Ends, tmp_path: Path
) -> None:
    programs = run(binaries.ensure([CONTROL_PLANE], Silent()))
    process = EtcdProcess(programs["etcd"], tmp_path / "etcd")
    process.start()
    try:
        url = f"http://127.0.0.1:{process.port}"
        others = "/multigres/somebody/else/global/cells/z1/Cell"
        eventually(lambda: _put(url, others), "etcd to answer")
        ends.apply(small(ends.namespace, globalTopoServer={"external": {"endpoints": [url]}}))
        ends.wait_ready()
        root = f"/multigres/{ends.namespace}/mini/global/"
        wanted = {f"{root}cells/z1/Cell", f"{root}databases/postgres/Database"}
        eventually(lambda: set(_keys(url, root)) == wanted, "the records to be written")
        ends.delete_cluster()
        ends.wait_gone("mgc", "mini")
        assert _keys(url, "/multigres/") == [others]
    finally:
        run(process.remove())


def _put(url: str, key: str) -> bool:
    async def put() -> bool:
        try:
            async with EtcdClient(Endpoints((url,))) as etcd:
                return await etcd.put(key, b"x", 0)
        except EtcdError:
            return False

    return run(put())


def _keys(url: str, prefix: str) -> list[str]:
    async def keys() -> list[str]:
        async with EtcdClient(Endpoints((url,))) as etcd:
            return sorted(await etcd.list(prefix))

    return run(keys())
