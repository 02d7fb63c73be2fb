"""Clusters are deleted in order on a real control plane, and only retained volumes are left."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError
from steward.local.control_plane import ControlPlane
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import SilentProgress
from steward.testkit import AuditLog
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from tests.multigres.support.cluster_deletion import (
    PASSWORD,
    SHORT_PERIODS,
    DeletedCluster,
    databases,
    deletion_order,
    two_server_cluster,
)
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually, run_async
from tests.support.kubectl import Kubectl


@pytest.fixture
def fast_operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with running_operator(control_plane, namespace, tmp_path / "operator.log", **SHORT_PERIODS) as process:
        yield process


@pytest.fixture
def deleted(fast_operator: object, kubectl: Kubectl, namespace: str) -> DeletedCluster:
    return DeletedCluster(kubectl, namespace)


def test_a_cluster_is_deleted_gateways_first_and_etcd_last(
    deleted: DeletedCluster, control_plane: ControlPlane
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    deleted.apply(two_server_cluster(deleted.namespace))
    deleted.wait_ready()
    mark = run_async(audit.mark())
    deleted.delete_cluster()
    deleted.wait_deleted(PASSWORD)
    assert deletion_order(audit, mark, deleted.namespace) == [
        "delete cells",
        "scale gateway",
        "delete tablegroups",
        "scale orchestrator",
        "scale pool",
        "scale repository",
        "delete toposervers",
        "scale etcd",
    ]
    assert len(deleted.claims()) == 4, "Retain keeps the volumes of the pool, the backups and etcd"
    deleted.wait_event(
        "ClaimsRetained", "Shard postgres/default/0-inf is gone; its data stays in volume claims"
    )


def test_the_status_of_a_cluster_with_an_unready_cell_follows_its_deletion(deleted: DeletedCluster) -> None:
    crash = {"podAnnotations": {"steward.local/pod": "crash-loop"}}
    deleted.apply(
        two_server_cluster(deleted.namespace, cells=[{"zone": "z1", "spec": {"multiGateway": crash}}])
    )
    unready = {"z1": {"ready": False, "gatewayReplicas": 0}}
    eventually(
        lambda: (deleted.get("mgc", "mini").get("status") or {}).get("cells") == unready,
        "the cell to be reported",
    )
    [cell] = eventually(lambda: deleted.all("cell"), "the Cell to exist")
    name = cell["metadata"]["name"]
    held = [*cell["metadata"]["finalizers"], "example.com/hold"]
    deleted.set_finalizers("cell", name, held)
    deleted.delete_cluster()
    eventually(
        lambda: f"waiting for Cell {name}" in deleted.get("mgc", "mini")["status"]["message"],
        "the status to name the Cell",
    )
    assert deleted.get("mgc", "mini")["status"]["cells"] == unready
    eventually(
        lambda: deleted.get("cell", name)["metadata"]["finalizers"] == ["example.com/hold"],
        "the operator to release the Cell",
    )
    deleted.set_finalizers("cell", name, [])
    deleted.wait_deleted(PASSWORD)


def test_foreground_deletion_leaves_nothing(deleted: DeletedCluster) -> None:
    gone = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    deleted.apply(
        two_server_cluster(deleted.namespace, databases=databases(policy="Delete"), pvcDeletionPolicy=gone)
    )
    deleted.wait_ready()
    deleted.delete_cluster("--cascade=foreground")
    deleted.wait_deleted()
    eventually(lambda: not deleted.claims(), "the volumes to go")


def test_a_cluster_that_was_deleted_without_an_operator_is_cleaned_up_later(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    """The operator stops during the creation, and the cluster is deleted while it is down."""
    deleted = DeletedCluster(kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "first.log", **SHORT_PERIODS):
        deleted.apply(two_server_cluster(namespace))
        eventually(lambda: deleted.all("cell"), "the creation to have begun")
    deleted.delete_cluster()
    assert deleted.get("mgc", "mini")["metadata"]["deletionTimestamp"]
    with running_operator(control_plane, namespace, tmp_path / "second.log", **SHORT_PERIODS):
        eventually(lambda: set(deleted.remaining_objects()) <= {PASSWORD}, "everything to go")
        deleted.apply(two_server_cluster(namespace))
        deleted.wait_ready()
        deleted.kubectl("annotate", "mgc", "mini", "-n", namespace, "multigres.com/force-delete=true")
        deleted.delete_cluster()
        deleted.wait_deleted(PASSWORD)
        deleted.wait_event("ForceDeleted", "skipped: the order of removal")


def test_orphans_stay_and_a_new_cluster_of_the_same_name_adopts_them(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    """Once with a running operator, once without: then only the missing owner references show the orphaning."""
    deleted = DeletedCluster(kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "first.log", **SHORT_PERIODS):
        deleted.apply(two_server_cluster(namespace))
        deleted.wait_ready()
        [cell] = deleted.all("cell")
        deleted.delete_cluster("--cascade=orphan")
        deleted.wait_orphaned(cell)
        deleted.apply(two_server_cluster(namespace))
        deleted.wait_ready()
        [after] = deleted.all("cell")
        assert after["metadata"]["uid"] == cell["metadata"]["uid"]
        assert after["metadata"]["ownerReferences"]
    deleted.delete_cluster("--cascade=orphan")
    eventually(
        lambda: "orphan" not in deleted.get("mgc", "mini")["metadata"]["finalizers"], "owners to be taken"
    )
    with running_operator(control_plane, namespace, tmp_path / "second.log", **SHORT_PERIODS):
        deleted.wait_orphaned(cell)


def test_a_namespace_is_deleted_with_its_cluster(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    gone = f"{namespace}-gone"
    deleted = DeletedCluster(kubectl, gone)
    kubectl("create", "namespace", gone)
    eventually(lambda: deleted.get("serviceaccount", "default"), "the namespace to be ready for pods")
    with running_operator(control_plane, gone, tmp_path / "operator.log", **SHORT_PERIODS):
        deleted.apply(two_server_cluster(gone))
        deleted.wait_ready()
        kubectl("delete", "namespace", gone, "--wait=false")
        deleted.wait_deleted()


def test_records_in_an_external_etcd_are_removed_with_the_cluster_and_others_stay(
    deleted: DeletedCluster, tmp_path: Path
) -> None:
    programs = run_async(binaries.ensure([CONTROL_PLANE], SilentProgress()))
    process = EtcdProcess(programs["etcd"], tmp_path / "etcd")
    run_async(process.start())
    try:
        url = f"http://127.0.0.1:{process.port}"
        others = "/multigres/another/global/cells/z1/Cell"
        eventually(lambda: _write(url, others), "etcd to answer")
        deleted.apply(
            two_server_cluster(deleted.namespace, globalTopoServer={"external": {"endpoints": [url]}})
        )
        root = f"/multigres/{deleted.namespace}/mini/global/"
        expected = {f"{root}cells/z1/Cell", f"{root}databases/postgres/Database"}
        eventually(lambda: expected <= set(_keys(url, root)), "the records to be written")
        deleted.delete_cluster()
        deleted.wait_gone("mgc", "mini")
        assert not expected & set(_keys(url, root))
        eventually(lambda: _keys(url, "/multigres/") == [others], "programs to remove their records, too")
    finally:
        run_async(process.remove())


def _write(url: str, key: str) -> bool:
    async def write() -> bool:
        try:
            async with EtcdClient(Endpoints((url,))) as etcd:
                return await etcd.write(key, b"x", 0)
        except EtcdError:
            return False

    return run_async(write())


def _keys(url: str, prefix: str) -> list[str]:
    async def keys() -> list[str]:
        async with EtcdClient(Endpoints((url,))) as etcd:
            return sorted(await etcd.list(prefix))

    return run_async(keys())
