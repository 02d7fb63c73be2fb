"""What leaves the spec is drained and removed, exactly that, and the rest keeps serving."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_cluster_deletion import HASTY, Ends, databases, order_of_ends, small
from tests.multigres.integration.test_operator import eventually
from tests.multigres.integration.test_topology import run
from tests.support.kubectl import Kubectl


@pytest.fixture
def ends(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path) -> Iterator[Ends]:
    with running_operator(control_plane, namespace, tmp_path / "operator.log", **HASTY):
        yield Ends(kubectl, namespace)


def placed(ends: Ends, cell: str) -> list[str]:
    """Workloads and children of a cell."""
    found = ends.kubectl.json(
        "get", "cell,deploy,sts", "-n", ends.namespace, "-l", f"multigres.com/cell={cell}"
    )
    return sorted(f"{item['kind']}/{item['metadata']['name']}" for item in found["items"])


def uids(ends: Ends, cell: str) -> set[str]:
    """Gateways and orchestrators of a cell. Pools are rolled, one pod at a time, when their certificate changes."""
    chosen = f"multigres.com/cell={cell},app.kubernetes.io/component!=shard-pool"
    pods = ends.kubectl.json("get", "pods", "-n", ends.namespace, "-l", chosen)["items"]
    return {pod["metadata"]["uid"] for pod in pods}


def test_a_cell_leaves_gateways_first_and_its_neighbour_never_notices(
    ends: Ends, control_plane: ControlPlane
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    two = [{"zone": "z1"}, {"zone": "z2"}]
    ends.apply(small(ends.namespace, cells=two))
    ends.wait_ready()
    kept = uids(ends, "z1")
    assert len(kept) == 2
    mark = run(audit.mark())
    ends.apply(small(ends.namespace, cells=two[:1]))
    eventually(lambda: not placed(ends, "z2"), "the cell to go")
    assert order_of_ends(audit, mark, ends.namespace, "z2") == [
        "delete cells",
        "scale gateway",
        "scale orchestrator",
        "scale pool",
    ]
    ends.wait_ready()
    assert uids(ends, "z1") == kept
    assert len([name for name in ends.claims() if "z2" in name]) == 2


def test_a_table_group_and_a_pool_leave_and_say_where_their_data_is(ends: Ends) -> None:
    ends.apply(small(ends.namespace, databases=databases("extra")))
    ends.wait_ready()
    ends.apply(small(ends.namespace))
    eventually(lambda: len(ends.all("shard")) == 1, "the shard to go")
    ends.wait_event("ClaimsRetained", "Shard postgres/extra/0-inf is gone; its data stays in volume claims")
    ends.wait_ready()
    pools = {"default": {"replicasPerCell": 1}, "more": {"replicasPerCell": 1, "type": "readOnly"}}
    with_more = with_pools(pools)
    ends.apply(small(ends.namespace, databases=with_more))
    eventually(lambda: len(pool_sets(ends)) == 2, "the second pool to come")
    ends.wait_ready()
    ends.apply(small(ends.namespace))
    eventually(lambda: len(pool_sets(ends)) == 1, "the second pool to go")
    ends.wait_event("ShutdownStarted", "Graceful shutdown started, waiting 2s")

    def retained() -> Any:
        [shard] = ends.all("shard")
        return [name for name in shard["status"].get("retainedClaims", []) if "more" in name]

    assert len(eventually(retained, "the Shard to say where the data is")) == 1


def with_pools(pools: dict[str, Any]) -> list[dict[str, Any]]:
    found = databases()
    found[0]["tablegroups"][0]["shards"][0]["spec"]["pools"] = pools
    return found


def pool_sets(ends: Ends) -> list[str]:
    chosen = "app.kubernetes.io/component=shard-pool"
    found = ends.kubectl.json("get", "sts", "-n", ends.namespace, "-l", chosen)
    return [item["metadata"]["name"] for item in found["items"]]


def test_everything_scaled_to_zero_is_ready(ends: Ends) -> None:
    none = {"spec": {"replicas": 0}}
    pools = {"default": {"replicasPerCell": 0}}
    shards = with_pools(pools)
    shards[0]["tablegroups"][0]["shards"][0]["spec"]["multiorch"] = {"replicas": 0}
    cells = [{"zone": "z1", "spec": {"multiGateway": {"replicas": 0}}}]
    ends.apply(small(ends.namespace, cells=cells, databases=shards, multiadmin=none, multiadminWeb=none))
    ready = ends.wait_ready()
    assert ready["status"]["phase"] == "Healthy"
    assert ready["status"]["cells"] == {"z1": {"ready": True, "gatewayReplicas": 0}}
    running = {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in ends.all("pod")}
    assert running == {"toposerver"}
