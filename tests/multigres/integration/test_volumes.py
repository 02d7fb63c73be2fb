"""Volumes of running clusters grow, are retained and are deleted as configured, without restarting pods.

All tests share one operator. Those of `grown` change one cluster, one after the other, and those of `rigid` another.
"""

import secrets
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.volumes import PROVISIONER
from tests.multigres.support.clusters import Clusters, cluster
from tests.multigres.support.idle_clusters import IDLE_CELL, NO_ADMIN
from tests.multigres.support.operator import running_operator
from tests.multigres.support.volume_cluster import DELETE, VolumeCluster, topo_server, with_storage
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl


@pytest.fixture(scope="module")
def clusters(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Clusters]:
    log = tmp_path_factory.mktemp("volumes") / "operator.log"
    with running_operator(control_plane, long_namespace, log):
        yield Clusters(kubectl, long_namespace)


@pytest.fixture(scope="module")
def grown(clusters: Clusters) -> VolumeCluster:
    """A ready cluster whose claims are deleted with it."""
    found = VolumeCluster(clusters, "grown")
    found.apply(with_storage("1Gi"), pvcDeletionPolicy=DELETE)
    found.wait_ready()
    return found


def apply_grown(grown: VolumeCluster, **pool: Any) -> None:
    """With the sizes that its volumes have after the first test."""
    spec = {"pvcDeletionPolicy": DELETE, "globalTopoServer": topo_server("3Gi")}
    grown.apply({**with_storage("2Gi"), **pool}, **spec)


def test_volumes_grow_and_their_sets_are_recreated_around_the_running_pods(grown: VolumeCluster) -> None:
    pods, claims = grown.uids("pod"), grown.uids("pvc")
    before = {name: grown.stateful_set(name)["metadata"]["uid"] for name in (grown.pool, grown.server)}
    apply_grown(grown)
    eventually(lambda: grown.sizes(grown.pool) == {("2Gi", "2Gi")}, "the pool's volumes to grow")
    eventually(lambda: grown.sizes(grown.server) == {("3Gi", "3Gi")}, "etcd's volumes to grow")
    for name in (grown.pool, grown.server):
        eventually(partial(grown.is_recreated, name, before[name]), f"{name} to be made again")
    grown.wait_ready()
    assert grown.stateful_set(grown.pool)["spec"]["persistentVolumeClaimRetentionPolicy"] == DELETE
    assert grown.stateful_set(grown.server)["spec"]["persistentVolumeClaimRetentionPolicy"] == DELETE
    assert grown.uids("pod") == pods
    assert grown.uids("pvc") == claims
    assert grown.condition("shard", grown.shard)["status"] == "True"


def test_a_smaller_size_is_rejected_and_all_other_changes_are_applied(grown: VolumeCluster) -> None:
    apply_grown(grown)
    grown.wait_ready()
    before = grown.stateful_set(grown.pool)["metadata"]["uid"]
    apply_grown(grown, **with_storage("1Gi"), replicasPerCell=3)
    reported = eventually(lambda: _refused(grown.condition("shard", grown.shard)), "the refusal")
    assert "cannot shrink from 2Gi to 1Gi" in reported["message"]
    eventually(lambda: len(grown.claims(grown.pool)) == 3, "the third server")
    assert grown.stateful_set(grown.pool)["metadata"]["uid"] == before
    eventually(lambda: grown.sizes(grown.pool) == {("2Gi", "2Gi")}, "all volumes to have the size that stays")
    apply_grown(grown)
    eventually(lambda: len(grown.claims(grown.pool)) == 2, "the third server to leave, with its claim")


def _refused(condition: Any) -> Any:
    return condition if condition["reason"] == "VolumesCannotGrow" else None


def test_with_a_grace_period_unused_claims_stay_and_are_used_again(grown: VolumeCluster) -> None:
    apply_grown(grown)
    grown.annotate("multigres.com/pvc-deletion-grace=1h")
    grown.wait_ready()
    before = {name: claim["metadata"]["uid"] for name, claim in grown.claims(grown.pool).items()}
    eventually(
        lambda: (
            grown.stateful_set(grown.pool)["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"]
            == "Retain"
        ),
        "the set to keep its claims",
    )
    apply_grown(grown, replicasPerCell=0)
    eventually(lambda: all(_unused_since(c) for c in grown.claims(grown.pool).values()), "the mark")
    eventually(lambda: grown.retained() == sorted(before), "the claim to be listed")
    apply_grown(grown)
    eventually(lambda: not any(_unused_since(c) for c in grown.claims(grown.pool).values()), "no mark")
    eventually(lambda: grown.retained() == [], "nothing to be listed")
    grown.wait_ready()
    assert {n: c["metadata"]["uid"] for n, c in grown.claims(grown.pool).items()} == before
    grown.annotate("multigres.com/pvc-deletion-grace=1s")
    apply_grown(grown, replicasPerCell=0)
    eventually(lambda: grown.claims(grown.pool) == {}, "the claim to go")


def _unused_since(claim: Any) -> str | None:
    return claim["metadata"].get("annotations", {}).get("multigres.com/unused-since")  # type: ignore[no-any-return]


def test_with_when_deleted_delete_all_claims_are_deleted_with_the_cluster(grown: VolumeCluster) -> None:
    apply_grown(grown)
    grown.annotate("multigres.com/graceful-shutdown-period=1s", "multigres.com/pvc-deletion-grace-")
    grown.wait_ready()
    assert len(grown.claims(grown.pool)) == 2
    for part in (grown.server, grown.pool):
        eventually(
            lambda part=part: all(_is_owned(c) for c in grown.claims(part).values()),  # type: ignore[misc]
            f"the claims of {part} to be owned",
        )
    grown.clusters.kubectl("delete", "mgc", "grown", "-n", grown.clusters.namespace, "--wait=false")
    eventually(lambda: grown.uids("pvc") == {}, "all claims to go")


def _is_owned(claim: Any) -> bool:
    return bool(claim["metadata"].get("ownerReferences"))


@pytest.fixture(scope="module")
def storage_class(kubectl: Kubectl) -> Iterator[str]:
    """A class that forbids expansion until a test allows it."""
    name = f"rigid-{secrets.token_hex(4)}"
    kubectl(
        "create",
        "-f",
        "-",
        document={
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": PROVISIONER,
            "allowVolumeExpansion": False,
        },
    )
    yield name
    kubectl("delete", "storageclass", name)


@pytest.fixture(scope="module")
def rigid(clusters: Clusters, storage_class: str) -> VolumeCluster:
    """A ready cluster with volumes of that class, which are retained."""
    found = VolumeCluster(clusters, "rigid")
    found.apply(with_storage("1Gi", **{"class": storage_class}))
    found.wait_ready()
    return found


def test_a_class_that_forbids_expansion_is_named_and_volumes_grow_once_it_allows_it(
    rigid: VolumeCluster, storage_class: str
) -> None:
    before = rigid.stateful_set(rigid.pool)["metadata"]["uid"]
    rigid.apply(with_storage("2Gi", **{"class": storage_class}))
    reported = eventually(lambda: _refused(rigid.condition("shard", rigid.shard)), "the class to be named")
    assert f"StorageClass {storage_class} does not allow it" in reported["message"]
    assert rigid.stateful_set(rigid.pool)["metadata"]["uid"] == before
    eventually(
        lambda: storage_class in (rigid.clusters.get("mgc", "rigid")["status"].get("message") or ""),
        "the cluster to report it as well",
    )
    allow_expansion(rigid, storage_class)
    eventually(lambda: rigid.sizes(rigid.pool) == {("2Gi", "2Gi")}, "the volumes to grow after all")
    eventually(lambda: rigid.is_recreated(rigid.pool, before), "the set to be made again")
    rigid.wait_ready()


def allow_expansion(rigid: VolumeCluster, storage_class: str) -> None:
    rigid.clusters.kubectl("patch", "storageclass", storage_class, "-p", '{"allowVolumeExpansion": true}')


def test_a_set_with_other_immutable_fields_is_recreated_around_its_pods(rigid: VolumeCluster) -> None:
    """It is made while the operator leaves the cluster alone."""
    kubectl, namespace = rigid.clusters.kubectl, rigid.clusters.namespace
    pods = rigid.uids("pod")
    found = rigid.stateful_set(rigid.pool)
    _pause(rigid, "true")
    eventually(lambda: rigid.clusters.get("mgc", "rigid")["status"]["phase"] == "Paused", "the pause")
    kubectl("delete", "statefulset", rigid.pool, "-n", namespace, "--cascade=orphan")
    metadata = {name: found["metadata"][name] for name in ("name", "namespace", "labels", "ownerReferences")}
    spec = {**found["spec"], "serviceName": "another", "podManagementPolicy": "OrderedReady"}
    kubectl("create", "-f", "-", document={**found, "metadata": metadata, "spec": spec, "status": {}})
    changed = rigid.stateful_set(rigid.pool)["metadata"]["uid"]
    _pause(rigid, "null")
    eventually(lambda: rigid.is_recreated(rigid.pool, changed), "the set to be made again")
    rigid.wait_ready()
    made = rigid.stateful_set(rigid.pool)["spec"]
    assert made["serviceName"] == found["spec"]["serviceName"]
    assert made["podManagementPolicy"] == "Parallel"
    assert rigid.uids("pod") == pods


def _pause(subject: VolumeCluster, value: str) -> None:
    patch = f'{{"spec":{{"paused":{value}}}}}'
    place = ("mgc", subject.name, "-n", subject.clusters.namespace)
    subject.clusters.kubectl("patch", *place, "--type=merge", "-p", patch)


def test_claims_of_a_removed_pool_are_listed_and_used_again(rigid: VolumeCluster, storage_class: str) -> None:
    allow_expansion(rigid, storage_class)
    before = {name: claim["metadata"]["uid"] for name, claim in rigid.claims(rigid.pool).items()}
    other = {"other": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]}}
    rigid.annotate("multigres.com/graceful-shutdown-period=1s")
    _with_pools(rigid, other)
    eventually(lambda: set(before) <= set(rigid.retained()), "the claims to be listed")
    eventually(lambda: rigid.stateful_set(rigid.pool) is None, "the pool to be gone")
    larger = with_storage("3Gi", **{"class": storage_class})
    _with_pools(rigid, {**other, "default": {"type": "readWrite", "replicasPerCell": 2, **larger}})
    rigid.wait_ready()
    assert {name: claim["metadata"]["uid"] for name, claim in rigid.claims(rigid.pool).items()} == before
    eventually(lambda: rigid.sizes(rigid.pool) == {("3Gi", "3Gi")}, "the retained volumes to grow")
    eventually(lambda: rigid.retained() == [], "nothing to be listed")


def _with_pools(subject: VolumeCluster, pools: dict[str, Any]) -> None:
    shards = [{"name": "0-inf", "spec": {"pools": pools}}]
    groups = [{"name": "default", "default": True, "shards": shards}]
    subject.apply({}, databases=[{"name": "postgres", "default": True, "tablegroups": groups}])


def test_a_retention_policy_of_a_template_reaches_the_running_sets(clusters: Clusters) -> None:
    subject = VolumeCluster(clusters, "steered")
    pools = {"default": {"type": "readWrite", "replicasPerCell": 0}}
    idle = {"multiorch": {"replicas": 0}, "pools": pools}

    def templates(policy: dict[str, str]) -> None:
        for kind, name, spec in (
            ("ShardTemplate", "steered-shards", {**idle, "pvcDeletionPolicy": policy}),
            ("CoreTemplate", "steered-core", {"globalTopoServer": topo_server(pvcDeletionPolicy=policy)}),
        ):
            metadata = {"name": name, "namespace": clusters.namespace}
            clusters.apply(
                {"apiVersion": "multigres.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
            )

    templates({"whenDeleted": "Retain", "whenScaled": "Retain"})
    defaults = {"coreTemplate": "steered-core", "shardTemplate": "steered-shards"}
    small = {"cells": [IDLE_CELL], **NO_ADMIN}
    clusters.apply(cluster(clusters.namespace, "steered", templateDefaults=defaults, **small))
    subject.wait_ready()
    before = {name: subject.stateful_set(name)["metadata"]["uid"] for name in (subject.pool, subject.server)}
    templates(DELETE)
    for name in (subject.pool, subject.server):
        eventually(partial(subject.has_policy, name, DELETE), f"the policy to reach {name}")
        assert subject.stateful_set(name)["metadata"]["uid"] == before[name]
