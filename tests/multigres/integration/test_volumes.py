"""Volumes of running clusters grow, are retained and are deleted as configured, without restarting pods.

Each test has its own cluster; all share one operator.
"""

import secrets
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.volumes import PROVISIONER
from tests.multigres.support.clusters import Clusters, cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.volume_cluster import (
    DELETE,
    NO_ADMIN,
    ONE_ADMIN,
    VolumeCluster,
    topo_server,
    with_storage,
)
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


def test_volumes_grow_and_their_sets_are_recreated_around_the_running_pods(clusters: Clusters) -> None:
    grown = VolumeCluster(clusters, "grown")
    grown.apply(with_storage("1Gi"), pvcDeletionPolicy=DELETE)
    grown.wait_ready()
    pods, claims = grown.uids("pod"), grown.uids("pvc")
    before = {name: grown.stateful_set(name)["metadata"]["uid"] for name in (grown.pool, grown.server)}
    grown.apply(with_storage("2Gi"), pvcDeletionPolicy=DELETE, globalTopoServer=topo_server("3Gi"))
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


@pytest.fixture
def storage_class(kubectl: Kubectl) -> Iterator[str]:
    """A class that forbids expansion until the test allows it."""
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


def test_a_class_that_forbids_expansion_is_named_and_volumes_grow_once_it_allows_it(
    clusters: Clusters, storage_class: str
) -> None:
    rigid = VolumeCluster(clusters, "rigid")
    rigid.apply(with_storage("1Gi", **{"class": storage_class}))
    rigid.wait_ready()
    before = rigid.stateful_set(rigid.pool)["metadata"]["uid"]
    rigid.apply(with_storage("2Gi", **{"class": storage_class}))
    reported = eventually(lambda: _refused(rigid.condition("shard", rigid.shard)), "the class to be named")
    assert f"StorageClass {storage_class} does not allow it" in reported["message"]
    assert rigid.stateful_set(rigid.pool)["metadata"]["uid"] == before
    eventually(
        lambda: storage_class in (rigid.clusters.get("mgc", "rigid")["status"].get("message") or ""),
        "the cluster to report it as well",
    )
    clusters.kubectl("patch", "storageclass", storage_class, "-p", '{"allowVolumeExpansion": true}')
    eventually(lambda: rigid.sizes(rigid.pool) == {("2Gi", "2Gi")}, "the volumes to grow after all")
    eventually(lambda: rigid.is_recreated(rigid.pool, before), "the set to be made again")
    rigid.wait_ready()


def _refused(condition: Any) -> Any:
    return condition if condition["reason"] == "VolumesCannotGrow" else None


def test_a_smaller_size_is_rejected_and_all_other_changes_are_applied(clusters: Clusters) -> None:
    small = VolumeCluster(clusters, "small")
    small.apply(with_storage("2Gi"))
    small.wait_ready()
    before = small.stateful_set(small.pool)["metadata"]["uid"]
    small.apply({**with_storage("1Gi"), "replicasPerCell": 3})
    reported = eventually(lambda: _refused(small.condition("shard", small.shard)), "the refusal")
    assert "cannot shrink from 2Gi to 1Gi" in reported["message"]
    eventually(lambda: len(small.claims(small.pool)) == 3, "the third server")
    assert small.stateful_set(small.pool)["metadata"]["uid"] == before
    eventually(lambda: small.sizes(small.pool) == {("2Gi", "2Gi")}, "all volumes to have the size that stays")


def test_a_retention_policy_of_a_template_reaches_the_running_sets(clusters: Clusters) -> None:
    subject = VolumeCluster(clusters, "steered")

    def templates(policy: dict[str, str]) -> None:
        for kind, name, spec in (
            ("ShardTemplate", "steered-shards", {"pvcDeletionPolicy": policy}),
            ("CoreTemplate", "steered-core", {"globalTopoServer": topo_server(pvcDeletionPolicy=policy)}),
        ):
            metadata = {"name": name, "namespace": clusters.namespace}
            clusters.apply(
                {"apiVersion": "multigres.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
            )

    templates({"whenDeleted": "Retain", "whenScaled": "Retain"})
    defaults = {"coreTemplate": "steered-core", "shardTemplate": "steered-shards"}
    admin = {"multiadmin": ONE_ADMIN, "multiadminWeb": NO_ADMIN}
    clusters.apply(cluster(clusters.namespace, "steered", templateDefaults=defaults, **admin))
    subject.wait_ready()
    before = {name: subject.stateful_set(name)["metadata"]["uid"] for name in (subject.pool, subject.server)}
    templates(DELETE)
    for name in (subject.pool, subject.server):
        eventually(partial(subject.has_policy, name, DELETE), f"the policy to reach {name}")
        assert subject.stateful_set(name)["metadata"]["uid"] == before[name]


def test_with_a_grace_period_unused_claims_stay_and_are_used_again(clusters: Clusters) -> None:
    patient = VolumeCluster(clusters, "patient")
    patient.apply({"replicasPerCell": 2}, pvcDeletionPolicy=DELETE)
    patient.annotate("multigres.com/pvc-deletion-grace=1h")
    patient.wait_ready()
    before = {name: claim["metadata"]["uid"] for name, claim in patient.claims(patient.pool).items()}
    eventually(
        lambda: (
            patient.stateful_set(patient.pool)["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"]
            == "Retain"
        ),
        "the set to keep its claims",
    )
    patient.apply({"replicasPerCell": 0}, pvcDeletionPolicy=DELETE)
    eventually(lambda: all(_unused_since(c) for c in patient.claims(patient.pool).values()), "the mark")
    eventually(lambda: patient.retained() == sorted(before), "the claim to be listed")
    patient.apply({"replicasPerCell": 2}, pvcDeletionPolicy=DELETE)
    eventually(lambda: not any(_unused_since(c) for c in patient.claims(patient.pool).values()), "no mark")
    eventually(lambda: patient.retained() == [], "nothing to be listed")
    patient.wait_ready()
    assert {n: c["metadata"]["uid"] for n, c in patient.claims(patient.pool).items()} == before
    patient.annotate("multigres.com/pvc-deletion-grace=1s")
    patient.apply({"replicasPerCell": 0}, pvcDeletionPolicy=DELETE)
    eventually(lambda: patient.claims(patient.pool) == {}, "the claim to go")


def _unused_since(claim: Any) -> str | None:
    return claim["metadata"].get("annotations", {}).get("multigres.com/unused-since")  # type: ignore[no-any-return]


def test_claims_of_a_removed_pool_are_listed_and_used_again(clusters: Clusters) -> None:
    home = VolumeCluster(clusters, "home")
    home.apply(with_storage("1Gi"))
    home.wait_ready()
    before = {name: claim["metadata"]["uid"] for name, claim in home.claims(home.pool).items()}
    other = {"other": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]}}
    home.annotate("multigres.com/graceful-shutdown-period=1s")
    _with_pools(home, other)
    eventually(lambda: set(before) <= set(home.retained()), "the claims to be listed")
    eventually(lambda: home.stateful_set(home.pool) is None, "the pool to be gone")
    _with_pools(
        home, {**other, "default": {"type": "readWrite", "replicasPerCell": 2, **with_storage("2Gi")}}
    )
    home.wait_ready()
    assert {name: claim["metadata"]["uid"] for name, claim in home.claims(home.pool).items()} == before
    eventually(lambda: home.sizes(home.pool) == {("2Gi", "2Gi")}, "the retained volumes to grow")
    eventually(lambda: home.retained() == [], "nothing to be listed")


def _with_pools(subject: VolumeCluster, pools: dict[str, Any]) -> None:
    shards = [{"name": "0-inf", "spec": {"pools": pools}}]
    groups = [{"name": "default", "default": True, "shards": shards}]
    subject.apply({}, databases=[{"name": "postgres", "default": True, "tablegroups": groups}])


def test_with_when_deleted_delete_all_claims_are_deleted_with_the_cluster(
    clusters: Clusters,
) -> None:
    ended = VolumeCluster(clusters, "ended")
    ended.apply({"replicasPerCell": 2}, pvcDeletionPolicy=DELETE)
    ended.annotate("multigres.com/graceful-shutdown-period=1s")
    ended.wait_ready()
    eventually(
        lambda: all(_is_owned(c) for c in ended.claims(ended.server).values()), "etcd's claims to be owned"
    )
    eventually(lambda: all(_is_owned(c) for c in ended.claims(ended.pool).values()), "the pool's to be owned")
    clusters.kubectl("delete", "mgc", "ended", "-n", clusters.namespace, "--wait=false")
    eventually(lambda: ended.uids("pvc") == {}, "all claims to go")


def _is_owned(claim: Any) -> bool:
    return bool(claim["metadata"].get("ownerReferences"))


def test_a_set_with_other_immutable_fields_is_recreated_around_its_pods(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    subject = VolumeCluster(Clusters(kubectl, namespace), "mini")
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        subject.apply({})
        subject.wait_ready()
    pods = subject.uids("pod")
    found = subject.stateful_set(subject.pool)
    kubectl("delete", "statefulset", subject.pool, "-n", namespace, "--cascade=orphan")
    metadata = {name: found["metadata"][name] for name in ("name", "namespace", "labels", "ownerReferences")}
    spec = {**found["spec"], "serviceName": "another", "podManagementPolicy": "OrderedReady"}
    kubectl("create", "-f", "-", document={**found, "metadata": metadata, "spec": spec, "status": {}})
    changed = subject.stateful_set(subject.pool)["metadata"]["uid"]
    with running_operator(control_plane, namespace, tmp_path / "second.log"):
        eventually(lambda: subject.is_recreated(subject.pool, changed), "the set to be made again")
        subject.wait_ready()
    made = subject.stateful_set(subject.pool)["spec"]
    assert made["serviceName"] == found["spec"]["serviceName"]
    assert made["podManagementPolicy"] == "Parallel"
    assert subject.uids("pod") == pods
