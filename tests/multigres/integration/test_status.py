"""What the status of a cluster says about a world that is not as it should be, and that nobody else suffers from it."""

import base64
import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_operator import cluster, eventually
from tests.multigres.support import extreme_objects
from tests.support import namespaces
from tests.support.kubectl import Kubectl

FUZZED, FUZZED_CLUSTERS = 4, 3
PATIENCE_SECONDS = 480.0


@pytest.fixture(scope="module")
def home(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A namespace with an operator for all tests of this file; the clusters have names of their own."""
    name = f"truth-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, name, log):
        yield name
    namespaces.leave(kubectl.server, name)


def small(namespace: str, name: str, **spec: Any) -> Manifest:
    """A cluster of few pods."""
    pools = {"main": {"type": "readWrite", "replicasPerCell": 1, **spec.pop("pool", {})}}
    shard = {"name": "0-inf", "spec": {"pools": pools}}
    group = {"name": "default", "default": True, "shards": [shard]}
    database = {"name": "postgres", "default": True, "tablegroups": [group]}
    etcd = {"etcd": {"replicas": 1}}
    return cluster(namespace, name, **{"databases": [database], "globalTopoServer": etcd, **spec})


def conditions(kubectl: Kubectl, namespace: str, name: str) -> dict[str, Any]:
    found = kubectl.json("get", "mgc", name, "-n", namespace)
    return {each["type"]: each for each in found.get("status", {}).get("conditions", [])}


def test_a_missing_storage_class_is_named_and_its_arrival_noticed(home: str, kubectl: Kubectl) -> None:
    storage_class = f"late-{secrets.token_hex(4)}"
    spec = {"pool": {"storage": {"size": "1Gi", "class": storage_class}}}
    kubectl("create", "-f", "-", document=small(home, "classy", **spec))

    def found() -> Any:
        return conditions(kubectl, home, "classy").get("ReferencesFound", {})

    told = eventually(lambda: found() if found().get("status") == "False" else None, "the condition")
    assert told["reason"] == "StorageClassNotFound"
    assert f"StorageClass {storage_class} does not exist" in told["message"]
    made = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": storage_class},
        "provisioner": "kwok.x-k8s.io/volume",
    }
    kubectl("create", "-f", "-", document=made)
    try:
        eventually(lambda: found().get("status") == "True", "the class to be noticed")
    finally:
        kubectl("delete", "storageclass", storage_class)


def test_a_missing_secret_is_named_and_the_application_gets_its_password_later(
    home: str, kubectl: Kubectl
) -> None:
    reference = {"name": "own-password", "key": "password"}
    kubectl("create", "-f", "-", document=small(home, "secretive", postgresPasswordSecretRef=reference))
    eventually(
        lambda: "Secret own-password does not exist" in json.dumps(conditions(kubectl, home, "secretive")),
        "the Secret to be missed",
    )
    kubectl("create", "secret", "generic", "own-password", "-n", home, "--from-literal=password=pässword")
    eventually(lambda: password(kubectl, home, "secretive-app") == "pässword", "the connection Secret")


def password(kubectl: Kubectl, namespace: str, secret: str) -> str:
    [found] = kubectl.json("get", "secret", "-n", namespace, "--field-selector", f"metadata.name={secret}")[
        "items"
    ] or [{}]
    return base64.b64decode(found.get("data", {}).get("password", "")).decode()


def test_a_changed_password_is_followed_by_the_connection_secret(home: str, kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", document=small(home, "rotating"))
    eventually(lambda: password(kubectl, home, "rotating-app"), "the connection Secret")
    patch = '{"stringData":{"password":"changed"}}'
    kubectl("patch", "secret", "rotating-postgres-password", "-n", home, "--type=merge", "-p", patch)
    eventually(lambda: password(kubectl, home, "rotating-app") == "changed", "the new password")


def test_the_scheduler_is_quoted_where_a_pod_finds_no_node(home: str, kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", document=small(home, "homeless", cells=[{"zone": "nowhere"}]))

    def message() -> str:
        found = kubectl.json("get", "mgc", "homeless", "-n", home)
        return str(found.get("status", {}).get("message", ""))

    eventually(lambda: "cannot be scheduled: 0/" in message(), "the scheduler's words")
    label = "topology.kubernetes.io/zone=nowhere"
    eventually(lambda: f"no node carries {label}" in message(), "what the scheduler does not say")


def test_what_the_server_cannot_read_is_told_in_its_words(home: str, kubectl: Kubectl) -> None:
    crooked = {"multiGateway": {"affinity": {"nodeAffinity": "wrong"}}}
    kubectl("create", "-f", "-", document=small(home, "crooked", cells=[{"zone": "z1", "spec": crooked}]))

    def told() -> str:
        found = kubectl.json("get", "mgc", "crooked", "-n", home)
        return str(found.get("status", {}).get("message", ""))

    eventually(lambda: "affinity.nodeAffinity" in told(), "the field to be named")


def test_a_topology_server_that_is_being_deleted_is_told_with_what_it_waits_for(
    home: str, kubectl: Kubectl
) -> None:
    kubectl("create", "-f", "-", document=small(home, "doomed"))
    look = ("get", "cells,toposervers", "-n", home, "-l", "multigres.com/cluster=doomed")

    def held() -> bool:
        finalizers = [each["metadata"].get("finalizers") for each in kubectl.json(*look)["items"]]
        return len(finalizers) == 2 and all(finalizers)

    eventually(held, "the cell and its server to be held")
    kubectl("delete", "toposerver", "doomed-global-topo", "-n", home, "--wait=false")

    def degraded() -> str:
        found = kubectl.json("get", "mgc", "doomed", "-n", home).get("status", {})
        return str(found.get("message", "")) if found.get("phase") == "Degraded" else ""

    wanted = "TopoServer doomed-global-topo: it is being deleted since "
    eventually(lambda: wanted in degraded() and "Cannot delete: " in degraded(), "the server to be told")
    assert conditions(kubectl, home, "doomed")["Ready"]["status"] == "False"


def test_becoming_ready_and_being_stalled_are_told_once_as_events(home: str, kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", document=small(home, "eventful"))
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
    found: list[Any] = kubectl.json("get", "events", "-n", namespace, "--field-selector", chosen)["items"]
    return found


def test_ten_thousand_shards_are_refused_by_the_schema(home: str, kubectl: Kubectl) -> None:
    manifest = small(home, "huge")
    [group] = manifest["spec"]["databases"][0]["tablegroups"]
    group["shards"] = [{"name": f"s{number}"} for number in range(10_000)]
    told = kubectl.refused("create", "-f", "-", document=manifest)
    assert "must have at most 32 items" in told


def test_strange_specs_of_every_kind_end_in_a_status_and_leave_others_alone(
    home: str, kubectl: Kubectl
) -> None:
    numbers = range(FUZZED)
    told = [extreme_objects.cluster(home, number) for number in numbers[:FUZZED_CLUSTERS]]
    told += [extreme_objects.user(home, number) for number in numbers[:FUZZED_CLUSTERS]]
    told += [
        extreme_objects.child(home, kind, number) for kind in extreme_objects.CHILDREN for number in numbers
    ]
    silent = [template for number in numbers for template in extreme_objects.templates(home, number)]
    taken = {name for name in created(kubectl, [*silent, *told]) if "template" not in name}
    for kind in ("multigrescluster", *map(str.lower, extreme_objects.CHILDREN)):
        assert any(name.startswith(f"{kind}.") for name in taken), f"the server refused every {kind}"
    eventually(lambda: taken <= with_status(kubectl, home), "a status of each", PATIENCE_SECONDS)
    kubectl("create", "-f", "-", document=small(home, "sound"))
    look = ("get", "deployment", "-n", home, "--field-selector", "metadata.name=sound-multiadmin")
    eventually(lambda: kubectl.json(*look)["items"], "a sound cluster beside them to be carried out")


def created(kubectl: Kubectl, items: list[Manifest]) -> set[str]:
    """The names of those that the server took."""
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    taken, _ = kubectl.outcome("create", "--validate=false", "-o", "name", "-f", "-", document=document)
    return set(taken.split())


def with_status(kubectl: Kubectl, namespace: str) -> set[str]:
    kinds = ",".join(("multigrescluster", *extreme_objects.CHILDREN))
    found = kubectl.json("get", kinds, "-n", namespace)["items"]
    return {
        f"{each['kind'].lower()}.multigres.com/{each['metadata']['name']}"
        for each in found
        if each.get("status", {}).get("conditions")
    }
