"""Clusters are deleted in order on a real control plane, and only retained volumes are left.

One operator serves all tests but those of `restarted`, which begin while none runs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError
from steward.kube.objects.kinds import Manifest
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
from tests.multigres.support.idle_clusters import IDLE_CELL, NO_WEB, idle_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.served_namespaces import new_namespaces, served_namespaces
from tests.multigres.support.waiting import eventually, run_async
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

NAMESPACES = 5


@pytest.fixture(scope="module")
def served(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[str]]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with served_namespaces(control_plane, api_server, NAMESPACES, log, **SHORT_PERIODS) as found:
        yield found


@pytest.fixture
def deleted(served: list[str], kubectl: Kubectl) -> DeletedCluster:
    return DeletedCluster(kubectl, served.pop())


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
    crash = {"replicas": 1, "podAnnotations": {"steward.local/pod": "crash-loop"}}
    cells = [{**IDLE_CELL, "spec": {"multiGateway": crash}}]
    deleted.apply(idle_cluster(deleted.namespace, "mini", cells=cells))
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
    spec = {"databases": databases(policy="Delete"), "pvcDeletionPolicy": gone, **NO_WEB}
    deleted.apply(two_server_cluster(deleted.namespace, **spec))
    deleted.wait_ready()
    deleted.delete_cluster("--cascade=foreground")
    deleted.wait_deleted()
    eventually(lambda: not deleted.claims(), "the volumes to go")


def test_orphans_stay_and_a_new_cluster_of_the_same_name_adopts_them(deleted: DeletedCluster) -> None:
    deleted.apply(two_server_cluster(deleted.namespace, **NO_WEB))
    deleted.wait_ready()
    [cell] = deleted.all("cell")
    deleted.delete_cluster("--cascade=orphan")
    deleted.wait_orphaned(cell)
    deleted.apply(two_server_cluster(deleted.namespace, **NO_WEB))
    deleted.wait_ready()
    [after] = deleted.all("cell")
    assert after["metadata"]["uid"] == cell["metadata"]["uid"]
    assert after["metadata"]["ownerReferences"]


class Restarted(NamedTuple):
    """Clusters that were deleted while no operator ran. The operator before had not finished the first one; the second
    one has lost its children, of which this is the cell."""

    unfinished: DeletedCluster
    orphaned: DeletedCluster
    cell: Manifest


@pytest.fixture(scope="module")
def restarted(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Restarted]:
    logs = tmp_path_factory.mktemp("operators")
    with new_namespaces(api_server, 2) as homes:
        unfinished, orphaned = (DeletedCluster(kubectl, home) for home in homes)
        with running_operator(control_plane, ",".join(homes), logs / "first.log", **SHORT_PERIODS):
            orphaned.apply(idle_cluster(orphaned.namespace, "mini"))
            orphaned.wait_ready()
            [cell] = orphaned.all("cell")
            unfinished.apply(two_server_cluster(unfinished.namespace, **NO_WEB))
            eventually(lambda: unfinished.all("cell"), "the creation to have begun")
        unfinished.delete_cluster()
        assert unfinished.get("mgc", "mini")["metadata"]["deletionTimestamp"]
        orphaned.delete_cluster("--cascade=orphan")
        eventually(
            lambda: "orphan" not in orphaned.get("mgc", "mini")["metadata"]["finalizers"],
            "owners to be taken",
        )
        with running_operator(control_plane, ",".join(homes), logs / "second.log", **SHORT_PERIODS):
            yield Restarted(unfinished, orphaned, cell)


def test_orphans_stay_although_only_missing_owner_references_show_the_orphaning(restarted: Restarted) -> None:
    restarted.orphaned.wait_orphaned(restarted.cell)


def test_a_cluster_that_was_deleted_without_an_operator_is_cleaned_up_later(restarted: Restarted) -> None:
    """And another one of the same name, which is deleted by force."""
    deleted = restarted.unfinished
    eventually(lambda: set(deleted.remaining_objects()) <= {PASSWORD}, "everything to go")
    deleted.apply(two_server_cluster(deleted.namespace, **NO_WEB))
    deleted.wait_ready()
    force = ("--overwrite", "multigres.com/force-delete=true")
    deleted.kubectl("annotate", "mgc", "mini", "-n", deleted.namespace, *force)
    deleted.delete_cluster()
    deleted.wait_deleted(PASSWORD)
    deleted.wait_event("ForceDeleted", "skipped: the order of removal")


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
        server = {"external": {"endpoints": [url]}}
        deleted.apply(two_server_cluster(deleted.namespace, globalTopoServer=server, **NO_WEB))
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
