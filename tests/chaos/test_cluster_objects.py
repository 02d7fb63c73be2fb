"""Which objects of a namespace belong to a cluster, and which are compared."""

from typing import Any

from tests.chaos.cluster_objects import (
    comparable_cluster,
    is_current_and_ready,
    is_managed,
    without_gateway_readiness,
    without_kept_claims,
)
from tests.chaos.snapshot import Snapshot


def _object(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, **metadata}, "spec": {"containers": []}}


def test_an_object_is_managed_by_its_label_or_its_owner() -> None:
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "Cell", "name": "z1", "uid": "1"}
    assert is_managed(_object("Service", "a", labels={"app.kubernetes.io/managed-by": "multigres-operator"}))
    assert is_managed(_object("Service", "a", ownerReferences=[owner]))
    assert not is_managed(_object("Service", "a", labels={"app.kubernetes.io/managed-by": "Helm"}))


def test_pods_of_deployments_are_not_compared_because_their_names_are_random() -> None:
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "1"}
    objects = [_object("Pod", "web-1-x7k2p", ownerReferences=[replica_set]), _object("Pod", "pool-0")]
    assert set(comparable_cluster(objects, "space")) == {"Pod/pool-0"}


def test_claims_that_a_policy_kept_are_not_compared() -> None:
    live: Snapshot = {"PersistentVolumeClaim/old": {}, "PersistentVolumeClaim/used": {}, "Service/web": {}}
    reference: Snapshot = {"PersistentVolumeClaim/used": {}}
    assert set(without_kept_claims(live, reference)) == {"PersistentVolumeClaim/used", "Service/web"}


def test_a_ready_condition_of_an_old_generation_does_not_count() -> None:
    def cluster(observed: int) -> dict[str, Any]:
        conditions = [{"type": "Ready", "status": "True"}]
        status = {"observedGeneration": observed, "conditions": conditions}
        return {"metadata": {"name": "shop", "generation": 2}, "status": status}

    assert is_current_and_ready(cluster(2))
    assert not is_current_and_ready(cluster(1))


def test_statuses_that_count_gateways_can_be_left_out() -> None:
    snapshot: Snapshot = {name: {"spec": {}, "status": {}} for name in ("Cell/z1", "Shard/0-inf")}
    found = without_gateway_readiness(snapshot)
    assert found == {"Cell/z1": {"spec": {}}, "Shard/0-inf": {"spec": {}, "status": {}}}
