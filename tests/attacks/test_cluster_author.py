"""Attacks with the spec of a MultigresCluster: lists that multiply, names that collide, annotations and labels.

The author may write clusters and templates in one namespace. The operator runs with its webhooks on a real API server.
"""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.attacks.support.attacked_operator import attacked_operator
from tests.attacks.support.cluster_author import DRY_RUN, ClusterAuthor, conditions
from tests.multigres.support.clusters import cluster
from tests.multigres.support.large_clusters import product_spec
from tests.multigres.support.operator import REAL, remove_finalizers, running_operator
from tests.multigres.support.waiting import eventually
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

# Found by brute force: the table groups of two clusters, which would have the same name.
VICTIM = ("mini", "a-b_b_b_b_b_b_b-b-b", "c-c-c_c-c_c-c-c_c")
COLLIDING = ("mini-a", "b_b_b-b-b-b_b_b_b", "c-c_c_c-c-c-c-c-c")


@pytest.fixture(scope="module")
def author(
    control_plane: ControlPlane, api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClusterAuthor]:
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    own = namespaces.create_namespace(api_server)
    with attacked_operator(control_plane, kubectl, own, tmp_path_factory.mktemp("operator")) as operator:
        yield ClusterAuthor(operator, "")
        remove_finalizers(kubectl, own)
    namespaces.release_namespace(api_server, own)


@pytest.mark.parametrize("numbers", [(49, 4, 8, 50), (50, 19, 7, 1)], ids=["30 KB", "128 KB"])
def test_a_spec_whose_lists_multiply_is_denied_with_its_size_and_the_limit(
    author: ClusterAuthor, numbers: tuple[int, int, int, int]
) -> None:
    huge = cluster(author.namespace, "huge", **product_spec(*numbers))
    reported = author.kubectl.expect_rejection(*DRY_RUN, document=huge)
    assert "spec.databases: " in reported
    assert "a cluster has at most 20,000" in reported


def test_more_shards_than_the_schema_allows_are_denied(author: ClusterAuthor) -> None:
    long = cluster(author.namespace, "long", **product_spec(1, 1, 20_000, 1))
    reported = author.kubectl.expect_rejection(*DRY_RUN, document=long)
    assert "must have at most 32 items" in reported


def test_probes_are_answered_while_the_largest_clusters_are_reviewed(author: ClusterAuthor) -> None:
    largest = cluster(author.namespace, "largest", **product_spec(20, 1, 32, 6))
    errors: list[str] = []

    def review() -> None:
        for _ in range(3):
            errors.append(author.kubectl.run(*DRY_RUN, document=largest)[1])

    reviews = [threading.Thread(target=review) for _ in range(2)]
    began = time.monotonic()
    for thread in reviews:
        thread.start()
    longest = 0.0
    while any(thread.is_alive() for thread in reviews):
        asked = time.monotonic()
        assert author.operator.probe("/healthz") == 200
        longest = max(longest, time.monotonic() - asked)
    assert [error for error in errors if error] == []
    # One review that holds the event loop takes longer than this part of all six.
    assert longest < (time.monotonic() - began) / 6


def test_a_cluster_that_no_webhook_checked_is_stalled_and_creates_nothing(
    control_plane: ControlPlane, author: ClusterAuthor, namespace: str, tmp_path: Any
) -> None:
    kubectl = author.kubectl
    huge = cluster(namespace, "huge", **product_spec(49, 4, 8, 50))
    with running_operator(control_plane, namespace, tmp_path / "operator.log", periods=REAL):
        kubectl("create", "-f", "-", document=huge)
        stalled = eventually(
            lambda: conditions(kubectl.json("get", "mgc", "huge", "-n", namespace)).get("Stalled"),
            "a Stalled",
        )
        kubectl("delete", "mgc", "huge", "-n", namespace)
    assert stalled["reason"] == "InvalidSpec"
    assert "a cluster has at most 20,000" in stalled["message"]
    assert kubectl.json("get", "tablegroups", "-n", namespace)["items"] == []


def test_thousands_of_problems_are_a_status_that_the_api_server_accepts(
    control_plane: ControlPlane, author: ClusterAuthor, namespace: str, tmp_path: Any
) -> None:
    kubectl = author.kubectl
    wrong = {"spec": {"pools": {"main": {"cells": ["a-cell-that-does-not-exist"]}}}}
    with running_operator(control_plane, namespace, tmp_path / "operator.log", periods=REAL):
        kubectl(
            "create", "-f", "-", document=cluster(namespace, "wrong", **product_spec(20, 1, 32, 1, **wrong))
        )
        stalled = eventually(
            lambda: conditions(kubectl.json("get", "mgc", "wrong", "-n", namespace)).get("Stalled"),
            "a Stalled",
        )
        kubectl("delete", "mgc", "wrong", "-n", namespace)
    assert stalled["message"].endswith("and 620 more problems")


def test_a_cluster_cannot_take_over_objects_of_another_one_by_a_colliding_name(author: ClusterAuthor) -> None:
    name = names.table_group(*VICTIM)
    assert name == names.table_group(*COLLIDING)
    author.create(VICTIM[0], **_one_group(*VICTIM[1:]))
    before = eventually(lambda: name in author.names("tablegroups") and author.get("tablegroup", name), name)

    author.create(COLLIDING[0], **_one_group(*COLLIDING[1:]))
    stalled = eventually(lambda: conditions(author.get("mgc", COLLIDING[0])).get("Stalled"), "a Stalled")

    after = author.get("tablegroup", name)
    assert stalled["reason"] == "NameTaken"
    assert after["spec"] == before["spec"]
    assert after["metadata"]["ownerReferences"] == before["metadata"]["ownerReferences"]
    assert after["metadata"]["labels"] == before["metadata"]["labels"]


def _one_group(database: str, group: str) -> dict[str, Any]:
    stopped = {"name": "s", "spec": {"pools": {"main": {"replicasPerCell": 0}}}}
    groups = [{"name": group, "default": True, "shards": [stopped]}]
    return {"databases": [{"name": database, "default": True, "tablegroups": groups}]}


@pytest.mark.parametrize("value", ["", "garbage", "true", "-1", "9" * 400, "x" * 100_000], ids=len)
def test_annotations_with_any_value_do_not_stop_a_cluster(author: ClusterAuthor, value: str) -> None:
    name = f"noted-{len(value)}"
    author.create(name, **_one_group("postgres", "default"))
    author.observed(name)
    known = (
        "apply-template-update",
        "rollback-template-update",
        "graceful-shutdown-period",
        "skip-graceful-shutdown",
        "etcd-deletion-protection",
        "traceparent",
        "unknown",
    )
    annotations = {
        f"multigres.com/{word}": value for word in known[: 2 if len(value) > 10_000 else len(known)]
    }
    patch = {"metadata": {"annotations": annotations}, "spec": {"logLevels": {"multigateway": "debug"}}}
    author.kubectl("patch", "mgc", name, "-n", author.namespace, "--type=merge", "-p", json.dumps(patch))
    found = author.observed(name)
    assert "Stalled" not in conditions(found)
    eventually(
        lambda: author.get("cell", names.cell(name, "z1"))["spec"]["logLevels"]["multigateway"] == "debug",
        "the new log level",
    )


@pytest.mark.parametrize("forged", ["owner", "labels"])
def test_a_foreign_object_with_forged_metadata_is_neither_changed_nor_deleted(
    author: ClusterAuthor, forged: str
) -> None:
    """Neither the operator's labels nor an owner reference make an object a child that is no longer desired. A
    reference as controller does: to write it takes the same right as to delete the object."""
    name = f"forged-{forged}"
    author.create(name, **_one_group("postgres", "default"))
    uid = author.observed(name)["metadata"]["uid"]
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "MultigresCluster", "name": name, "uid": uid}
    labels = {"app.kubernetes.io/managed-by": "multigres-operator", "multigres.com/cluster": name}
    metadata: dict[str, Any] = {"name": f"other-{forged}", "namespace": author.namespace}
    metadata |= {"ownerReferences": [owner]} if forged == "owner" else {"labels": labels}
    spec = {"ports": [{"port": 80}], "selector": {"app": "shop"}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    author.kubectl("create", "-f", "-", document=service)
    before = author.get("service", f"other-{forged}")

    patch = json.dumps({"spec": {"logLevels": {"multigateway": "debug"}}})
    author.kubectl("patch", "mgc", name, "-n", author.namespace, "--type=merge", "-p", patch)
    eventually(
        lambda: author.get("cell", names.cell(name, "z1"))["spec"]["logLevels"]["multigateway"] == "debug",
        "the new log level",
    )
    author.observed(name)
    after = author.get("service", f"other-{forged}")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_an_object_of_another_controller_is_not_taken_over_although_it_has_the_operators_labels(
    author: ClusterAuthor,
) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop"}
    author.kubectl("create", "configmap", "shop", "-n", author.namespace)
    uid = author.get("configmap", "shop")["metadata"]["uid"]
    metadata = {
        "name": "taken-multigateway",
        "namespace": author.namespace,
        "labels": {"app.kubernetes.io/managed-by": "multigres-operator", "multigres.com/cluster": "taken"},
        "ownerReferences": [{**owner, "uid": uid, "controller": True}],
    }
    spec = {"ports": [{"port": 80}], "selector": {"app": "shop"}}
    author.kubectl(
        "create",
        "-f",
        "-",
        document={"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec},
    )
    before = author.get("service", "taken-multigateway")
    author.create("taken", **_one_group("postgres", "default"))
    author.observed("taken")
    stalled = eventually(lambda: conditions(author.get("mgc", "taken")).get("Stalled"), "a Stalled")
    assert stalled["reason"] == "NameTaken"
    assert author.get("service", "taken-multigateway") == before
