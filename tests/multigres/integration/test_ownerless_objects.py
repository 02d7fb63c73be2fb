"""A deleted cluster takes everything with it that belongs to it, also what lost its owner while no operator ran.

One cluster for each way in which an object loses its owner. All are created by one operator, changed and deleted while
none runs, and cleaned up by the next one.
"""

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.kubectl import Kubectl

DELETE = {"whenDeleted": "Delete", "whenScaled": "Delete"}
FAST = {"default_graceful_shutdown_period": "1s"}
KINDS = (
    *("mgc", "cell", "tablegroup", "shard", "toposerver", "deployment", "replicaset", "statefulset", "pod"),
    *("service", "configmap", "secret", "poddisruptionbudget", "controllerrevision"),
)
OWNED_KINDS = ("cell", "tablegroup", "shard", "toposerver", "deployment", "statefulset", "service", "secret")


class Scene(NamedTuple):
    """One cluster of a namespace."""

    kubectl: Kubectl
    namespace: str
    cluster: str
    log: Path
    """Of the operator that deletes the cluster."""

    @property
    def path(self) -> ShardPath:
        return ShardPath(self.cluster, "postgres", "default", "0-inf")

    @property
    def pool(self) -> str:
        return names.pool(self.path, "main", "z1")

    def objects(self, *kinds: str) -> list[Any]:
        label = f"multigres.com/cluster={self.cluster}"
        found = (self.kubectl.json("get", kind, "-n", self.namespace, "-l", label)["items"] for kind in kinds)
        return [each for items in found for each in items]

    def orphan(self, kind: str, name: str) -> None:
        """Deletes an object without its dependents; a finalizer of the operator keeps the object itself."""
        self.kubectl("delete", kind, name, "-n", self.namespace, "--cascade=orphan", "--wait=false")
        eventually(
            lambda: not self._is_orphaning(kind, name), f"the dependents of {kind} {name} to be released"
        )

    def _is_orphaning(self, kind: str, name: str) -> bool:
        found = [each for each in self.objects(kind) if each["metadata"]["name"] == name]
        return any("orphan" in each["metadata"].get("finalizers", []) for each in found)

    def patch(self, kind: str, name: str, change: str, patch_type: str = "merge") -> None:
        self.kubectl("patch", kind, name, "-n", self.namespace, f"--type={patch_type}", "-p", change)

    def delete(self, kind: str, name: str, cascade: str) -> None:
        self.kubectl("delete", kind, name, "-n", self.namespace, f"--cascade={cascade}", "--wait=false")

    def remaining(self) -> list[str]:
        names_found = [f"{each['kind']}/{each['metadata']['name']}" for each in self.objects(*KINDS)]
        return [name for name in names_found if name != f"Secret/{self.cluster}-postgres-password"]

    def describe(self) -> str:
        """The remaining objects, why they are still there, and the end of the operator's log."""
        fields = ("deletionTimestamp", "finalizers", "ownerReferences", "annotations")
        lines = [
            json.dumps(
                {
                    "object": f"{each['kind']}/{each['metadata']['name']}",
                    **{name: each["metadata"].get(name) for name in fields},
                    "message": each.get("status", {}).get("message"),
                }
            )
            for each in self.objects(*KINDS)
        ]
        return "\n".join([*lines, *self.log.read_text().splitlines()[-40:]])


def orphaned_cell(scene: Scene) -> None:
    scene.orphan("cell", names.cell(scene.cluster, "z1"))


def orphaned_table_group(scene: Scene) -> None:
    scene.orphan("tablegroup", names.table_group(scene.cluster, "postgres", "default"))


def orphaned_shard(scene: Scene) -> None:
    scene.orphan("shard", names.shard(scene.path))


def orphaned_topology_server(scene: Scene) -> None:
    scene.orphan("toposerver", names.global_topo(scene.cluster))


def orphaned_members(scene: Scene) -> None:
    scene.orphan("statefulset", names.global_topo(scene.cluster))


def orphaned_deployments(scene: Scene) -> None:
    for each in scene.objects("deployment"):
        scene.orphan("deployment", each["metadata"]["name"])


def recreated_set(scene: Scene) -> None:
    """As the operator does it when volumes grow: the claims lose their owner before the set is deleted."""
    policy = (
        '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}}'
    )
    scene.patch("statefulset", scene.pool, policy)

    def is_released() -> bool:
        claims = [each for each in scene.objects("pvc") if scene.pool in each["metadata"]["name"]]
        return bool(claims) and not any(each["metadata"].get("ownerReferences") for each in claims)

    eventually(is_released, "the claims to lose their owner")
    scene.orphan("statefulset", scene.pool)


def owners_removed_by_hand(scene: Scene) -> None:
    """From one object of each kind; from all, it would be a deletion with --cascade=orphan."""
    for kind in OWNED_KINDS:
        owned = [each for each in scene.objects(kind) if each["metadata"].get("ownerReferences")]
        first = owned[0]["metadata"]["name"]
        scene.patch(kind, first, '[{"op":"remove","path":"/metadata/ownerReferences"}]', "json")


def foreground_children(scene: Scene) -> None:
    scene.delete("cell", names.cell(scene.cluster, "z1"), "foreground")
    scene.delete("shard", names.shard(scene.path), "foreground")


class Loss(NamedTuple):
    """How objects lose their owners, and how the cluster is deleted afterwards."""

    ways: tuple[Callable[[Scene], None], ...]
    cascade: str = "background"
    annotation: str = ""

    @property
    def name(self) -> str:
        words = [way.__name__.replace("_", " ") for way in self.ways]
        return f"{', '.join(words)}: {self.annotation.partition('=')[0] or self.cascade}"


LOSSES = {
    "cells": Loss((orphaned_cell,)),
    "groups": Loss((orphaned_table_group, orphaned_members, orphaned_deployments), "foreground"),
    "shards": Loss((orphaned_shard, orphaned_topology_server)),
    "sets": Loss((recreated_set,), "foreground"),
    "hands": Loss((owners_removed_by_hand, foreground_children)),
    "forced": Loss(
        (orphaned_table_group, orphaned_shard, orphaned_cell, orphaned_deployments, recreated_set),
        annotation="multigres.com/force-delete=true",
    ),
}
WITH_ADMIN = ("groups",)
NO_ADMIN, ONE_ADMIN = {"spec": {"replicas": 0}}, {"spec": {"replicas": 1}}


@pytest.fixture(scope="module")
def scenes(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Scene]]:
    """The clusters after their deletion, while the second operator still runs."""
    namespace, logs = f"lost-{secrets.token_hex(4)}", tmp_path_factory.mktemp("operators")
    kubectl("create", "namespace", namespace)
    found = {name: Scene(kubectl, namespace, name, logs / "second.log") for name in LOSSES}
    with running_operator(control_plane, namespace, logs / "first.log", **FAST):
        for name in found:
            admin = {} if name in WITH_ADMIN else {"multiadmin": ONE_ADMIN, "multiadminWeb": NO_ADMIN}
            document = small_cluster(namespace, name, pool={"pvcDeletionPolicy": DELETE}, **admin)
            kubectl("apply", "--server-side", "--field-manager=user", "-f", "-", document=document)
        for name in found:
            Clusters(kubectl, namespace).wait_ready(name)
    for name, loss in LOSSES.items():
        if loss.annotation:
            kubectl("annotate", "mgc", name, "-n", namespace, "--overwrite", loss.annotation)
        for way in loss.ways:
            way(found[name])
        found[name].delete("mgc", name, loss.cascade)
    with running_operator(control_plane, namespace, logs / "second.log", **FAST):
        yield found
    namespaces.release_namespace(kubectl.server, namespace)


@pytest.mark.parametrize("cluster", LOSSES, ids=[loss.name for loss in LOSSES.values()])
def test_nothing_of_a_deleted_cluster_keeps_running(scenes: dict[str, Scene], cluster: str) -> None:
    scene = scenes[cluster]
    eventually(lambda: not scene.remaining(), f"{cluster}: everything to go", explain=scene.describe)


@pytest.mark.parametrize("cluster", ["sets", "forced"])
def test_volumes_of_a_set_that_was_being_recreated_follow_the_policy(
    scenes: dict[str, Scene], cluster: str
) -> None:
    scene = scenes[cluster]

    def servers() -> list[str]:
        claims = (each["metadata"]["name"] for each in scene.objects("pvc"))
        return [name for name in claims if scene.pool in name]

    eventually(lambda: not servers(), "the claims of the pool to be deleted")
