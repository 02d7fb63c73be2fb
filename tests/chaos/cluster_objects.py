"""Objects of a cluster: which are the operator's, and how two clusters are compared. Pure."""

from steward.multigres.api.group import API_VERSION
from tests.chaos.cluster_model import Manifest
from tests.chaos.snapshot import Snapshot, take_snapshot
from tests.chaos.status_truth import is_ready

MANAGED, OPERATOR = "app.kubernetes.io/managed-by", "multigres-operator"


def is_current_and_ready(cluster: Manifest) -> bool:
    observed = (cluster.get("status") or {}).get("observedGeneration")
    return is_ready(cluster) and observed == cluster["metadata"]["generation"]


def is_managed(each: Manifest) -> bool:
    metadata = each["metadata"]
    return (metadata.get("labels") or {}).get(MANAGED) == OPERATOR or any(
        owner["apiVersion"] == API_VERSION for owner in metadata.get("ownerReferences", ())
    )


def comparable_cluster(objects: list[Manifest], namespace: str) -> Snapshot:
    return take_snapshot([each for each in objects if not _has_random_name(each)], namespace)


def _has_random_name(each: Manifest) -> bool:
    return any(owner["kind"] == "ReplicaSet" for owner in each["metadata"].get("ownerReferences", ()))


def without_kept_claims(live: Snapshot, reference: Snapshot) -> Snapshot:
    """Without the claims that a retention policy kept: a fresh cluster never had them."""
    kept = {name for name in live.keys() - reference.keys() if name.startswith("PersistentVolumeClaim/")}
    return {name: value for name, value in live.items() if name not in kept}


def without_gateway_readiness(snapshot: Snapshot) -> Snapshot:
    """Without the statuses that count gateways. If new gateways never become ready, a Deployment keeps an old one that
    serves, and a fresh cluster has none."""
    kinds = ("Cell/", "Deployment/", "MultigresCluster/")
    return {
        name: {field: value for field, value in content.items() if field != "status"}
        if name.startswith(kinds)
        else content
        for name, content in snapshot.items()
    }
