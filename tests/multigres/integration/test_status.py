"""The status of clusters with missing references, pod problems and invalid specs, without effects on other clusters."""

import base64
import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.multigres.support import extreme_objects
from tests.multigres.support.clusters import conditions, small_cluster
from tests.multigres.support.idle_clusters import IDLE_CELL, NO_WEB, idle_cluster
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.kubectl import Kubectl

FUZZED, FUZZED_CLUSTERS = 4, 3
PATIENCE_SECONDS = 480.0
PERIODS = {**EARLY_STATUS, "steward.multigres.controllers.postgres_access.user_secrets:CACHED_SECONDS": 2.0}
"""Secrets of users are not watched, but read again after some time."""


@pytest.fixture(scope="module")
def home(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A namespace with an operator for all tests of this file; the clusters have names of their own."""
    name = f"truth-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, name, log, periods=PERIODS):
        yield name
    namespaces.release_namespace(kubectl.server, name)


def test_a_missing_storage_class_is_named_until_it_exists(home: str, kubectl: Kubectl) -> None:
    storage_class = f"late-{secrets.token_hex(4)}"
    spec = {"pool": {"storage": {"size": "1Gi", "class": storage_class}}}
    kubectl("create", "-f", "-", document=idle_cluster(home, "classy", **spec))

    def condition() -> Any:
        return conditions(kubectl, home, "classy").get("ReferencesFound", {})

    reported = eventually(
        lambda: condition() if condition().get("status") == "False" else None, "the condition"
    )
    assert reported["reason"] == "StorageClassNotFound"
    assert f"StorageClass {storage_class} does not exist" in reported["message"]
    created = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": storage_class},
        "provisioner": "kwok.x-k8s.io/volume",
    }
    kubectl("create", "-f", "-", document=created)
    try:
        eventually(lambda: condition().get("status") == "True", "the class to be noticed")
    finally:
        kubectl("delete", "storageclass", storage_class)


def test_a_missing_password_secret_is_named_until_it_exists(home: str, kubectl: Kubectl) -> None:
    reference = {"name": "own-password", "key": "password"}
    kubectl(
        "create",
        "-f",
        "-",
        document=idle_cluster(home, "secretive", postgresPasswordSecretRef=reference),
    )
    eventually(
        lambda: "Secret own-password does not exist" in json.dumps(conditions(kubectl, home, "secretive")),
        "the Secret to be missed",
    )
    kubectl("create", "secret", "generic", "own-password", "-n", home, "--from-literal=password=pässword")
    eventually(lambda: password(kubectl, home, "secretive-app") == "pässword", "the connection Secret")


def password(kubectl: Kubectl, namespace: str, secret: str) -> str:
    [condition] = kubectl.json(
        "get", "secret", "-n", namespace, "--field-selector", f"metadata.name={secret}"
    )["items"] or [{}]
    return base64.b64decode(condition.get("data", {}).get("password", "")).decode()


def test_the_scheduler_is_quoted_for_a_pod_without_a_node(home: str, kubectl: Kubectl) -> None:
    cells = [{"zone": "nowhere", "spec": {"multiGateway": {"replicas": 1}}}]
    kubectl("create", "-f", "-", document=idle_cluster(home, "homeless", cells=cells))

    def message() -> str:
        condition = kubectl.json("get", "mgc", "homeless", "-n", home)
        return str(condition.get("status", {}).get("message", ""))

    eventually(lambda: "cannot be scheduled: 0/" in message(), "the message of the scheduler")
    label = "topology.kubernetes.io/zone=nowhere"
    eventually(lambda: f"no node carries {label}" in message(), "the message of the scheduler")


def test_a_rejected_child_is_reported_with_the_message_of_the_api_server(home: str, kubectl: Kubectl) -> None:
    crooked = {"multiGateway": {"replicas": 1, "affinity": {"nodeAffinity": "wrong"}}}
    cells = [{**IDLE_CELL, "spec": crooked}]
    kubectl("create", "-f", "-", document=idle_cluster(home, "crooked", cells=cells))

    def reported() -> str:
        condition = kubectl.json("get", "mgc", "crooked", "-n", home)
        return str(condition.get("status", {}).get("message", ""))

    eventually(lambda: "affinity.nodeAffinity" in reported(), "the field to be named")


def test_a_terminating_topology_server_is_reported_with_its_dependents(home: str, kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", document=idle_cluster(home, "doomed"))
    query = ("get", "cells,toposervers", "-n", home, "-l", "multigres.com/cluster=doomed")

    def held() -> bool:
        finalizers = [each["metadata"].get("finalizers") for each in kubectl.json(*query)["items"]]
        return len(finalizers) == 2 and all(finalizers)

    eventually(held, "the cell and its server to be held")
    kubectl("delete", "toposerver", "doomed-global-topo", "-n", home, "--wait=false")

    def degraded() -> str:
        condition = kubectl.json("get", "mgc", "doomed", "-n", home).get("status", {})
        return str(condition.get("message", "")) if condition.get("phase") == "Degraded" else ""

    expected = "TopoServer doomed-global-topo: it is being deleted since "
    eventually(
        lambda: expected in degraded() and "Cannot delete: " in degraded(),
        "the topology server to be reported",
    )
    assert conditions(kubectl, home, "doomed")["Ready"]["status"] == "False"


def test_ready_and_stalled_emit_one_event_each(home: str, kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", document=small_cluster(home, "eventful", **NO_WEB))
    kubectl("wait", "mgc", "eventful", "-n", home, "--for=condition=Ready", "--timeout=120s")
    eventually(lambda: events(kubectl, home, "eventful", "Healthy"), "the event")
    patch = '{"spec":{"cells":[{"zone":"z1"},{"zone":"z1"}]}}'
    kubectl("patch", "mgc", "eventful", "-n", home, "--type=merge", "-p", patch)
    [stalled] = eventually(lambda: events(kubectl, home, "eventful", "InvalidSpec"), "the warning")
    assert stalled["type"] == "Warning"
    assert "spec.cells[0].name" in (stalled.get("message") or stalled.get("note"))
    assert conditions(kubectl, home, "eventful")["Available"]["status"] == "True"


def events(kubectl: Kubectl, namespace: str, name: str, reason: str) -> list[Any]:
    chosen = f"involvedObject.name={name},involvedObject.kind=MultigresCluster,reason={reason}"
    condition: list[Any] = kubectl.json("get", "events", "-n", namespace, "--field-selector", chosen)["items"]
    return condition


def test_ten_thousand_shards_are_rejected_by_the_schema(home: str, kubectl: Kubectl) -> None:
    manifest = small_cluster(home, "huge")
    [group] = manifest["spec"]["databases"][0]["tablegroups"]
    group["shards"] = [{"name": f"s{number}"} for number in range(10_000)]
    reported = kubectl.expect_rejection("create", "-f", "-", document=manifest)
    assert "must have at most 32 items" in reported


def test_random_specs_end_in_a_status_and_leave_other_clusters_alone(home: str, kubectl: Kubectl) -> None:
    numbers = range(FUZZED)
    reported = [extreme_objects.cluster(home, number) for number in numbers[:FUZZED_CLUSTERS]]
    reported += [extreme_objects.user(home, number) for number in numbers[:FUZZED_CLUSTERS]]
    reported += [
        extreme_objects.child(home, kind, number) for kind in extreme_objects.CHILDREN for number in numbers
    ]
    silent = [template for number in numbers for template in extreme_objects.templates(home, number)]
    taken = {name for name in created(kubectl, [*silent, *reported]) if "template" not in name}
    for kind in ("multigrescluster", *map(str.lower, extreme_objects.CHILDREN)):
        assert any(name.startswith(f"{kind}.") for name in taken), f"the server refused every {kind}"
    eventually(lambda: taken <= with_status(kubectl, home), "a status of each", PATIENCE_SECONDS)
    kubectl("create", "-f", "-", document=idle_cluster(home, "sound"))
    query = ("get", "deployment", "-n", home, "--field-selector", "metadata.name=sound-multiadmin")
    eventually(lambda: kubectl.json(*query)["items"], "a valid cluster in the same namespace to be created")


def created(kubectl: Kubectl, items: list[Manifest]) -> set[str]:
    """The names of those that the server took."""
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    taken, _ = kubectl.run("create", "--validate=false", "-o", "name", "-f", "-", document=document)
    return set(taken.split())


def with_status(kubectl: Kubectl, namespace: str) -> set[str]:
    kinds = ",".join(("multigrescluster", *extreme_objects.CHILDREN))
    condition = kubectl.json("get", kinds, "-n", namespace)["items"]
    return {
        f"{each['kind'].lower()}.multigres.com/{each['metadata']['name']}"
        for each in condition
        if each.get("status", {}).get("conditions")
    }
