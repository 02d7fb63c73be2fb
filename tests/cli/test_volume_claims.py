"""The claims that `steward volumes` lists."""

from typing import Any

import pytest

from steward.cli.volume_claims import (
    ClaimState,
    ClusterObjects,
    VolumeClaim,
    claim_dict,
    kept_lines,
    volume_claims,
)

LABELS = {
    "multigres.com/cluster": "db",
    "multigres.com/shard": "0-inf",
    "multigres.com/pool": "main",
}
CLUSTERS = [{"metadata": {"name": "db", "namespace": "shop"}}]


def claim(name: str, has: str = "10Gi", **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "shop", "labels": LABELS, **metadata},
        "spec": {"resources": {"requests": {"storage": "20Gi"}}, "storageClassName": "fast"},
        "status": {"capacity": {"storage": has}} if has else {},
    }


def stateful_set(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "20Gi"}}}}
    spec = {"replicas": replicas, "volumeClaimTemplates": [template]}
    return {"metadata": {"name": "pg", "namespace": "shop"}, "spec": spec}


def pod(name: str, *claims: str, namespace: str = "shop") -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [{"persistentVolumeClaim": {"claimName": each}} for each in claims]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"volumes": [*volumes, {"emptyDir": {}}]},
    }


def listed(found: dict[str, Any], *pods: dict[str, Any], replicas: int = 1, **objects: Any) -> VolumeClaim:
    known = {"sets": [stateful_set(replicas)], "clusters": CLUSTERS, **objects}
    [one] = volume_claims(ClusterObjects([found], pods, **known))
    return one


SHARD_OWNER = [{"kind": "Shard", "controller": True}]


@pytest.mark.parametrize(
    ("found", "pods", "replicas", "state"),
    [
        (claim("data-pg-0"), [pod("pg-0", "data-pg-0")], 1, ClaimState.USED),
        (claim("data-pg-1"), [pod("pg-1", "data-pg-1")], 1, ClaimState.USED),
        (claim("data-pg-0"), [], 1, ClaimState.WAITING),
        (claim("data-pg-0"), [pod("pg-0", "data-pg-0", namespace="other")], 1, ClaimState.WAITING),
        (claim("data-pg-1"), [], 1, ClaimState.KEPT),
        (claim("data-pg-0"), [], 0, ClaimState.KEPT),
        (claim("backup", ownerReferences=SHARD_OWNER), [], 1, ClaimState.WAITING),
        (claim("data-pg-1", deletionTimestamp="t"), [], 1, ClaimState.TERMINATING),
    ],
    ids=[
        "used",
        "surplus pod runs",
        "no pod yet",
        "pod elsewhere",
        "scaled down",
        "stopped",
        "owned",
        "deleted",
    ],
)
def test_a_claim_is_kept_if_no_pod_uses_it_and_no_set_asks_for_it(
    found: dict[str, Any], pods: list[dict[str, Any]], replicas: int, state: ClaimState
) -> None:
    assert listed(found, *pods, replicas=replicas).state is state


def test_a_claim_has_the_size_that_was_asked_for_and_the_size_that_it_has() -> None:
    found = claim_dict(listed(claim("data-pg-0"), pod("pg-0", "data-pg-0")))
    assert (found["asked"], found["had"], found["server"], found["state"]) == ("20Gi", "10Gi", "pg-0", "Used")
    assert (found["storageClass"], found["parts"]) == ("fast", {"shard": "0-inf", "pool": "main"})
    assert (found["takenAgainBy"], found["deletedBy"]) == ("", "")
    assert listed(claim("data-pg-0", has="")).had == ""


def test_a_set_without_claims_asks_for_none() -> None:
    no_claims = {"metadata": {"name": "pg", "namespace": "shop"}, "spec": {"replicas": 1}}
    assert listed(claim("data-pg-0"), sets=[no_claims]).state is ClaimState.KEPT


def test_a_kept_claim_is_listed_with_what_takes_it_again_and_what_deletes_it() -> None:
    assert kept_lines([listed(claim("data-pg-1"))]) == [
        "shop/data-pg-1 is kept; the same server of its cluster db (shard 0-inf, pool main) takes it again.",
        "  To delete it and its data for good: kubectl delete pvc data-pg-1 -n shop",
    ]
    assert kept_lines([listed(claim("data-pg-0"))]) == []


def test_a_claim_of_a_cluster_that_is_gone_is_taken_by_a_new_one() -> None:
    found = listed(claim("data-pg-0"), sets=[], clusters=[])
    assert not found.has_cluster
    assert found.taken_again_by == "the same server of a new cluster db (shard 0-inf, pool main)"


def test_a_claim_in_its_grace_period_says_that_the_operator_deletes_it() -> None:
    since = {"multigres.com/unused-since": "2027-01-15T08:00:00Z"}
    lines = kept_lines([listed(claim("data-pg-1", annotations=since))])
    assert lines[1] == (
        "  Unused since 2027-01-15T08:00:00Z: the operator deletes it when multigres.com/pvc-deletion-grace is over."
    )


def test_claims_are_sorted_with_kept_ones_last() -> None:
    claims = [claim("data-pg-1"), claim("a-kept"), claim("data-pg-0")]
    found = volume_claims(ClusterObjects(claims, [], [stateful_set(2)], CLUSTERS))
    assert [each.key.name for each in found] == ["data-pg-0", "data-pg-1", "a-kept"]
