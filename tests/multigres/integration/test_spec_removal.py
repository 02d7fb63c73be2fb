"""Parts that are removed from the spec are drained and deleted, and the rest keeps serving.

One operator serves all tests. The first two change one cluster, one after the other.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.support.cluster_deletion import (
    SHORT_PERIODS,
    DeletedCluster,
    databases,
    deletion_order,
    two_server_cluster,
)
from tests.multigres.support.idle_clusters import NO_WEB, idle_cluster
from tests.multigres.support.served_namespaces import served_namespaces
from tests.multigres.support.waiting import eventually, run_async
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl


@pytest.fixture(scope="module")
def served(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[str]]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with served_namespaces(control_plane, api_server, 2, log, **SHORT_PERIODS) as found:
        yield found


@pytest.fixture(scope="module")
def deleted(served: list[str], kubectl: Kubectl) -> DeletedCluster:
    """A cluster from which each test removes something else."""
    return DeletedCluster(kubectl, served[0])


def small(deleted: DeletedCluster, **spec: Any) -> dict[str, Any]:
    return two_server_cluster(deleted.namespace, **spec, **NO_WEB)


def placed(deleted: DeletedCluster, cell: str) -> list[str]:
    """Workloads and children of a cell."""
    found = deleted.kubectl.json(
        "get", "cell,deploy,sts", "-n", deleted.namespace, "-l", f"multigres.com/cell={cell}"
    )
    return sorted(f"{item['kind']}/{item['metadata']['name']}" for item in found["items"])


def uids(deleted: DeletedCluster, cell: str) -> set[str]:
    """Gateways and orchestrators of a cell. Pools are rolled, one pod at a time, when their certificate changes."""
    chosen = f"multigres.com/cell={cell},app.kubernetes.io/component!=shard-pool"
    pods = deleted.kubectl.json("get", "pods", "-n", deleted.namespace, "-l", chosen)["items"]
    return {pod["metadata"]["uid"] for pod in pods}


def test_a_removed_table_group_and_pool_report_their_retained_claims(deleted: DeletedCluster) -> None:
    two_servers = {"default": {"replicasPerCell": 2}}
    deleted.apply(small(deleted, databases=with_pools(two_servers, "extra")))
    deleted.wait_ready()
    deleted.apply(small(deleted, databases=with_pools(two_servers)))
    eventually(lambda: len(deleted.all("shard")) == 1, "the shard to go")
    deleted.wait_event(
        "ClaimsRetained", "Shard postgres/extra/0-inf is gone; its data stays in volume claims"
    )
    deleted.wait_ready()
    pools = {**two_servers, "more": {"replicasPerCell": 1, "type": "readOnly"}}
    deleted.apply(small(deleted, databases=with_pools(pools)))
    eventually(lambda: len(pool_sets(deleted)) == 2, "the second pool to come")
    deleted.wait_ready()
    deleted.apply(small(deleted, databases=with_pools(two_servers)))
    eventually(lambda: len(pool_sets(deleted)) == 1, "the second pool to go")
    deleted.wait_event("ShutdownStarted", "Graceful shutdown started, waiting 2s")

    def retained() -> Any:
        [shard] = deleted.all("shard")
        return [name for name in shard["status"].get("retainedClaims", []) if "more" in name]

    assert len(eventually(retained, "the Shard to list its retained claims")) == 1

    def listed_by_cluster() -> bool:
        [cluster] = deleted.all("mgc")
        names = cluster["status"].get("retainedClaims", [])
        return all(any(part in name for name in names) for part in ("extra", "more"))

    eventually(
        listed_by_cluster, "the cluster to list the claims of the removed shard and of the removed pool"
    )


def test_a_removed_cell_drains_gateways_first_and_other_cells_keep_serving(
    deleted: DeletedCluster, control_plane: ControlPlane
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    two = [{"zone": "z1"}, {"zone": "z2"}]
    servers = with_pools({"default": {"replicasPerCell": 2}})
    deleted.apply(small(deleted, cells=two, databases=servers))
    deleted.wait_ready()
    kept = uids(deleted, "z1")
    assert len(kept) == 2
    mark = run_async(audit.mark())
    deleted.apply(small(deleted, cells=two[:1], databases=servers))
    eventually(lambda: not placed(deleted, "z2"), "the cell to go")
    assert deletion_order(audit, mark, deleted.namespace, "z2") == [
        "delete cells",
        "scale gateway",
        "scale orchestrator",
        "scale pool",
    ]
    deleted.wait_ready()
    assert uids(deleted, "z1") == kept
    assert len([name for name in deleted.claims() if "z2" in name]) == 2
    assert pool_patches(audit, mark, deleted.namespace) >= 3, (
        "two servers leave one by one, then the set drains"
    )


def with_pools(pools: dict[str, Any], *groups: str) -> list[dict[str, Any]]:
    found = databases(*groups)
    for group in found[0]["tablegroups"]:
        group["shards"] = [{"name": "0-inf", "spec": {**group["shards"][0]["spec"], "pools": pools}}]
    return found


def pool_patches(audit: AuditLog, mark: Any, namespace: str) -> int:
    """How often the operator has patched the pool of the removed cell."""
    calls = run_async(audit.calls_since(mark)).writes_of("multigres-operator")
    of_pools = (each.call for each in calls if each.call.resource == "statefulsets" and each.code < 300)
    return sum(
        call.namespace == namespace and call.verb == "patch" and "z2" in call.name for call in of_pools
    )


def pool_sets(deleted: DeletedCluster) -> list[str]:
    chosen = "app.kubernetes.io/component=shard-pool"
    found = deleted.kubectl.json("get", "sts", "-n", deleted.namespace, "-l", chosen)
    return [item["metadata"]["name"] for item in found["items"]]


def test_everything_scaled_to_zero_is_ready(served: list[str], kubectl: Kubectl) -> None:
    idle = DeletedCluster(kubectl, served[1])
    idle.apply(idle_cluster(idle.namespace, "mini"))
    ready = idle.wait_ready()
    assert ready["status"]["phase"] == "Stopped"
    assert ready["status"]["cells"] == {"z1": {"ready": True, "gatewayReplicas": 0}}
    running = {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in idle.all("pod")}
    assert running == {"toposerver"}
