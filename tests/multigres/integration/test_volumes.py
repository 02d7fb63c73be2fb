"""Volumes of running clusters: they grow, are kept, and go as asked, while no pod restarts for it.

Each test has a cluster of its own; one operator looks after all of them.
"""

import secrets
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.volumes import PROVISIONER
from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_operator import Clusters, cluster, eventually
from tests.support.kubectl import Kubectl

DELETE = {"whenDeleted": "Delete", "whenScaled": "Delete"}
NO_ADMIN = {"spec": {"replicas": 0}}


class Subject:
    """One small cluster and its volumes."""

    def __init__(self, clusters: Clusters, name: str) -> None:
        self.clusters = clusters
        self.name = name
        self.path = ShardPath(name, "postgres", "default", "0-inf")
        self.shard = names.shard(self.path)
        self.pool = names.pool(self.path, "default", "z1")
        self.server = names.global_topo(name)

    def apply(self, pool: dict[str, Any], **spec: Any) -> None:
        pools = {"default": {"type": "readWrite", "replicasPerCell": 2, **pool}}
        shards = [{"name": "0-inf", "spec": {"pools": pools}}]
        groups = [{"name": "default", "default": True, "shards": shards}]
        databases = [{"name": "postgres", "default": True, "tablegroups": groups}]
        wanted = {"databases": databases, "globalTopoServer": etcd(), **spec}
        small = {"multiadmin": NO_ADMIN, "multiadminWeb": NO_ADMIN}
        self.clusters.apply(cluster(self.clusters.namespace, self.name, **small, **wanted))

    def wait_ready(self) -> None:
        generation = self.clusters.get("mgc", self.name)["metadata"]["generation"]
        eventually(lambda: self.is_ready(generation), f"{self.name} to be ready")

    def is_ready(self, generation: int) -> bool:
        status = self.clusters.get("mgc", self.name).get("status") or {}
        ready = [c for c in status.get("conditions", []) if c["type"] == "Ready"]
        return status.get("observedGeneration") == generation and bool(ready) and ready[0]["status"] == "True"

    def annotate(self, *annotations: str) -> None:
        self.clusters.kubectl(
            "annotate", "mgc", self.name, "-n", self.clusters.namespace, "--overwrite", *annotations
        )

    def stateful_set(self, name: str) -> Any:
        return self.clusters.get("statefulset", name)

    def is_remade(self, name: str, before: str) -> bool:
        found = self.stateful_set(name)
        return found is not None and found["metadata"]["uid"] != before

    def has_policy(self, name: str, policy: dict[str, str]) -> bool:
        found = self.stateful_set(name)
        return found is not None and found["spec"]["persistentVolumeClaimRetentionPolicy"] == policy

    def claims(self, of: str) -> dict[str, Any]:
        found = self.clusters.all("pvc")
        return {
            c["metadata"]["name"]: c for c in found if c["metadata"]["name"].rpartition("-")[0].endswith(of)
        }

    def sizes(self, of: str) -> set[tuple[str, str]]:
        return {
            (claim["spec"]["resources"]["requests"]["storage"], claim["status"]["capacity"]["storage"])
            for claim in self.claims(of).values()
            if "capacity" in claim["status"]
        }

    def uids(self, kind: str) -> dict[str, str]:
        """Of this cluster's pods or claims, by name."""
        label = f"multigres.com/cluster={self.name}"
        found = self.clusters.kubectl.json("get", kind, "-n", self.clusters.namespace, "-l", label)["items"]
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}

    def condition(self, kind: str, name: str, type_: str = "VolumesReady") -> Any:
        status = (self.clusters.get(kind, name) or {}).get("status") or {}
        found = [c for c in status.get("conditions", []) if c["type"] == type_]
        return found[0] if found else {"status": "", "reason": "", "message": ""}

    def retained(self) -> list[str]:
        shard = self.clusters.get("shard", self.shard)
        return (shard.get("status") or {}).get("retainedClaims", [])  # type: ignore[no-any-return]


def etcd(size: str = "1Gi", **more: Any) -> dict[str, Any]:
    return {"etcd": {"replicas": 1, "storage": {"size": size}}, **more}


def sized(size: str, **more: Any) -> dict[str, Any]:
    return {"storage": {"size": size, **more}}


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


def test_volumes_grow_and_their_sets_are_made_again_around_the_running_pods(clusters: Clusters) -> None:
    grown = Subject(clusters, "grown")
    grown.apply(sized("1Gi"), pvcDeletionPolicy=DELETE)
    grown.wait_ready()
    pods, claims = grown.uids("pod"), grown.uids("pvc")
    before = {name: grown.stateful_set(name)["metadata"]["uid"] for name in (grown.pool, grown.server)}
    grown.apply(sized("2Gi"), pvcDeletionPolicy=DELETE, globalTopoServer=etcd("3Gi"))
    eventually(lambda: grown.sizes(grown.pool) == {("2Gi", "2Gi")}, "the pool's volumes to grow")
    eventually(lambda: grown.sizes(grown.server) == {("3Gi", "3Gi")}, "etcd's volumes to grow")
    for name in (grown.pool, grown.server):
        eventually(partial(grown.is_remade, name, before[name]), f"{name} to be made again")
    grown.wait_ready()
    assert grown.stateful_set(grown.pool)["spec"]["persistentVolumeClaimRetentionPolicy"] == DELETE
    assert grown.stateful_set(grown.server)["spec"]["persistentVolumeClaimRetentionPolicy"] == DELETE
    assert grown.uids("pod") == pods
    assert grown.uids("pvc") == claims
    assert grown.condition("shard", grown.shard)["status"] == "True"


@pytest.fixture
def storage_class(kubectl: Kubectl) -> Iterator[str]:
    """A class whose volumes do not grow, until somebody lets them."""
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


def test_a_class_that_does_not_let_volumes_grow_is_named_and_growth_goes_on_once_it_does(
    clusters: Clusters, storage_class: str
) -> None:
    rigid = Subject(clusters, "rigid")
    rigid.apply(sized("1Gi", **{"class": storage_class}))
    rigid.wait_ready()
    before = rigid.stateful_set(rigid.pool)["metadata"]["uid"]
    rigid.apply(sized("2Gi", **{"class": storage_class}))
    told = eventually(lambda: _refused(rigid.condition("shard", rigid.shard)), "the class to be named")
    assert f"StorageClass {storage_class} does not allow it" in told["message"]
    assert rigid.stateful_set(rigid.pool)["metadata"]["uid"] == before
    eventually(
        lambda: storage_class in (rigid.clusters.get("mgc", "rigid")["status"].get("message") or ""),
        "the cluster to say it too",
    )
    clusters.kubectl("patch", "storageclass", storage_class, "-p", '{"allowVolumeExpansion": true}')
    eventually(lambda: rigid.sizes(rigid.pool) == {("2Gi", "2Gi")}, "the volumes to grow after all")
    eventually(lambda: rigid.is_remade(rigid.pool, before), "the set to be made again")
    rigid.wait_ready()


def _refused(condition: Any) -> Any:
    return condition if condition["reason"] == "VolumesCannotGrow" else None


def test_a_size_that_would_shrink_is_refused_and_all_else_is_carried_out(clusters: Clusters) -> None:
    small = Subject(clusters, "small")
    small.apply(sized("2Gi"))
    small.wait_ready()
    before = small.stateful_set(small.pool)["metadata"]["uid"]
    small.apply({**sized("1Gi"), "replicasPerCell": 3})
    told = eventually(lambda: _refused(small.condition("shard", small.shard)), "the refusal")
    assert "cannot shrink from 2Gi to 1Gi" in told["message"]
    eventually(lambda: len(small.claims(small.pool)) == 3, "the third server")
    assert small.stateful_set(small.pool)["metadata"]["uid"] == before
    eventually(lambda: small.sizes(small.pool) == {("2Gi", "2Gi")}, "all volumes to have the size that stays")


def test_a_policy_that_a_template_changes_reaches_the_running_sets(clusters: Clusters) -> None:
    subject = Subject(clusters, "steered")

    def templates(policy: dict[str, str]) -> None:
        for kind, name, spec in (
            ("ShardTemplate", "steered-shards", {"pvcDeletionPolicy": policy}),
            ("CoreTemplate", "steered-core", {"globalTopoServer": etcd(pvcDeletionPolicy=policy)}),
        ):
            metadata = {"name": name, "namespace": clusters.namespace}
            clusters.apply(
                {"apiVersion": "multigres.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}
            )

    templates({"whenDeleted": "Retain", "whenScaled": "Retain"})
    defaults = {"coreTemplate": "steered-core", "shardTemplate": "steered-shards"}
    admin = {"multiadmin": NO_ADMIN, "multiadminWeb": NO_ADMIN}
    clusters.apply(cluster(clusters.namespace, "steered", templateDefaults=defaults, **admin))
    subject.wait_ready()
    before = {name: subject.stateful_set(name)["metadata"]["uid"] for name in (subject.pool, subject.server)}
    templates(DELETE)
    for name in (subject.pool, subject.server):
        eventually(partial(subject.has_policy, name, DELETE), f"the policy to reach {name}")
        assert subject.stateful_set(name)["metadata"]["uid"] == before[name]


def test_with_a_grace_unused_claims_stay_for_it_and_a_return_spares_them(clusters: Clusters) -> None:
    patient = Subject(clusters, "patient")
    patient.apply({"replicasPerCell": 1}, pvcDeletionPolicy=DELETE)
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
    patient.apply({"replicasPerCell": 1}, pvcDeletionPolicy=DELETE)
    eventually(lambda: not any(_unused_since(c) for c in patient.claims(patient.pool).values()), "no mark")
    eventually(lambda: patient.retained() == [], "nothing to be listed")
    patient.wait_ready()
    assert {n: c["metadata"]["uid"] for n, c in patient.claims(patient.pool).items()} == before
    patient.annotate("multigres.com/pvc-deletion-grace=1s")
    patient.apply({"replicasPerCell": 0}, pvcDeletionPolicy=DELETE)
    eventually(lambda: patient.claims(patient.pool) == {}, "the claim to go")


def _unused_since(claim: Any) -> str | None:
    return claim["metadata"].get("annotations", {}).get("multigres.com/unused-since")  # type: ignore[no-any-return]


def test_claims_of_a_pool_that_left_are_listed_and_taken_again_when_it_comes_back(clusters: Clusters) -> None:
    home = Subject(clusters, "home")
    home.apply(sized("1Gi"))
    home.wait_ready()
    before = {name: claim["metadata"]["uid"] for name, claim in home.claims(home.pool).items()}
    other = {"other": {"type": "readWrite", "replicasPerCell": 1, "cells": ["z1"]}}
    home.annotate("multigres.com/graceful-shutdown-period=1s")
    _with_pools(home, other)
    eventually(lambda: set(before) <= set(home.retained()), "the claims to be listed")
    eventually(lambda: home.stateful_set(home.pool) is None, "the pool to be gone")
    _with_pools(home, {**other, "default": {"type": "readWrite", "replicasPerCell": 2, **sized("2Gi")}})
    home.wait_ready()
    assert {name: claim["metadata"]["uid"] for name, claim in home.claims(home.pool).items()} == before
    eventually(lambda: home.sizes(home.pool) == {("2Gi", "2Gi")}, "the kept volumes to grow as asked")
    eventually(lambda: home.retained() == [], "nothing to be listed")


def _with_pools(subject: Subject, pools: dict[str, Any]) -> None:
    shards = [{"name": "0-inf", "spec": {"pools": pools}}]
    groups = [{"name": "default", "default": True, "shards": shards}]
    subject.apply({}, databases=[{"name": "postgres", "default": True, "tablegroups": groups}])


def test_when_deleted_is_delete_the_claims_of_pools_and_of_etcd_go_with_the_cluster(
    clusters: Clusters,
) -> None:
    ended = Subject(clusters, "ended")
    ended.apply({"replicasPerCell": 1}, pvcDeletionPolicy=DELETE)
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


def test_a_set_whose_other_fixed_fields_differ_is_made_again_around_its_pods(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    subject = Subject(Clusters(kubectl, namespace), "mini")
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
        eventually(lambda: subject.is_remade(subject.pool, changed), "the set to be made again")
        subject.wait_ready()
    made = subject.stateful_set(subject.pool)["spec"]
    assert made["serviceName"] == found["spec"]["serviceName"]
    assert made["podManagementPolicy"] == "Parallel"
    assert subject.uids("pod") == pods
