"""Verbs that act on a running cluster, on a real API server with a fake data plane."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from steward.cli.main import steward
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from tests.multigres.support.operator import remove_finalizers, running_operator
from tests.multigres.support.rollout_cluster import GOOD, RolloutCluster
from tests.multigres.support.waiting import eventually
from tests.support import data_planes, definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

THREE = {"main": {"type": "readWrite", "replicasPerCell": 3, "cells": ["z1"]}}
SHARD = "postgres/default/0-inf"


@pytest.fixture(scope="module")
def running_cluster(
    control_plane: ControlPlane, api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RolloutCluster]:
    """A cluster of three servers that is ready."""
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    namespace = namespaces.create_namespace(api_server)
    log = tmp_path_factory.mktemp("verbs") / "operator.log"
    with running_operator(control_plane, namespace, log):
        made = RolloutCluster(kubectl, namespace, data_planes.forwards_file(control_plane))
        made.apply_image(GOOD, THREE)
        made.wait_updated(GOOD, 3)
        eventually(lambda: made.shard["status"].get("primary"), "the status to name the primary")
        yield made
    remove_finalizers(kubectl, namespace)
    namespaces.release_namespace(api_server, namespace)


RunVerb = Callable[..., Result]


@pytest.fixture
def run_verb(running_cluster: RolloutCluster, control_plane: ControlPlane) -> RunVerb:
    where = ("-n", running_cluster.namespace, "--kubeconfig", str(control_plane.kubeconfig))
    return lambda *arguments: CliRunner().invoke(steward, [*arguments, *where])


def has_request(cluster: RolloutCluster) -> bool:
    return "multigres.com/switch-primary-from" in (cluster.shard["metadata"].get("annotations") or {})


def test_a_switchover_waits_until_another_server_takes_writes(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    eventually(running_cluster.servers_are_ready, "all servers to be ready")
    before = running_cluster.shard["status"]["primary"]
    done = run_verb("switchover", "mini", "--shard", SHARD)
    assert done.exit_code == 0, done.output
    after = running_cluster.shard["status"]["primary"]
    assert after != before
    lines = done.output.splitlines()
    assert lines[0] == f"{SHARD}: asked the operator to switch the primary from {before}"
    assert lines[-1] == f"{SHARD}: {after} is the primary and takes writes"
    eventually(lambda: not has_request(running_cluster), "the request to be removed")


def test_a_refused_switchover_ends_with_the_operators_sentence_and_withdraws_the_request(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    eventually(running_cluster.servers_are_ready, "all servers to be ready")
    before = running_cluster.shard["status"]["primary"]
    running_cluster.inject_faults("switch-refused")
    done = run_verb("switchover", "mini")
    running_cluster.clear_faults()
    assert done.exit_code == 1, done.output
    assert f"Error: the switch of the primary from {before} was refused: " in done.output
    assert not has_request(running_cluster)


def test_a_switchover_of_a_paused_cluster_is_refused_with_the_cure(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    namespace = running_cluster.namespace
    assert run_verb("pause", "mgc/mini").exit_code == 0
    done = run_verb("switchover", "mini")
    assert run_verb("resume", "mgc/mini").exit_code == 0
    assert done.exit_code == 1, done.output
    assert f"is paused: `steward resume multigrescluster/mini -n {namespace} " in done.output
    assert not has_request(running_cluster)


def test_events_of_a_cluster_have_those_of_its_shards_and_pods(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    done = run_verb("events", "mini", "-o", "json")
    assert done.exit_code == 0, done.output
    events = json.loads(done.output)
    assert {"Shard", "Pod", "StatefulSet"} <= {event["kind"] for event in events}
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    table = run_verb("events", f"shard/{running_cluster.shard_name}").output.splitlines()
    assert table[0].split("  ")[0] == "LAST SEEN"
    assert f"Shard {running_cluster.namespace}/{running_cluster.shard_name}" in "\n".join(table)
    missing = run_verb("events", "mgc/missing")
    assert (missing.exit_code, "there is no mgc/missing in namespace" in missing.output) == (1, True)


def kept_claim(namespace: str, used: Any) -> Any:
    """A claim such as a server that was removed leaves."""
    name = f"{used['metadata']['name'].rpartition('-')[0]}-7"
    metadata = {"name": name, "namespace": namespace, "labels": used["metadata"]["labels"]}
    spec = {field: used["spec"][field] for field in ("accessModes", "resources")}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def test_volumes_lists_the_claims_of_servers_and_those_without_one(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    namespace, kubectl = running_cluster.namespace, running_cluster.kubectl
    claims = kubectl.json("get", "pvc", "-n", namespace, "-l", "multigres.com/pool=main")["items"]
    kept = kept_claim(namespace, claims[0])
    kubectl("apply", "-f", "-", document=kept)
    found = {each["claim"]: each for each in json.loads(run_verb("volumes", "mini", "-o", "json").output)}
    assert {found[each["metadata"]["name"]]["server"] for each in claims} == set(running_cluster.servers())
    assert {name for name, each in found.items() if each["state"] == "Kept"} == {kept["metadata"]["name"]}
    printed = run_verb("volumes").output
    assert re.search(
        rf"kubectl --kubeconfig \S+ delete pvc {kept['metadata']['name']} -n {namespace}", printed
    )
    assert run_verb("volumes", "missing").output == "No volume claims.\n"


def test_restarted_servers_are_replaced_one_at_a_time_and_waited_for(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    eventually(running_cluster.servers_are_ready, "all servers to be ready")
    before = running_cluster.uids()
    asked = run_verb("restart", "mini", "--pool", "main")
    assert (asked.exit_code, "confirmation needs a terminal" in asked.output) == (1, True)
    done = run_verb("restart", "mini", "--pool", "main", "--yes")
    assert done.exit_code == 0, done.output
    assert f"restarted 3 servers of pool main of shard {SHARD}" in done.output
    after = running_cluster.uids()
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values())


def test_a_restarted_component_gets_new_pods(running_cluster: RolloutCluster, run_verb: RunVerb) -> None:
    label = "multigres.com/cluster=mini,app.kubernetes.io/component=multigateway"
    where = ("get", "pod", "-n", running_cluster.namespace, "-l", label)
    before = {pod["metadata"]["uid"] for pod in running_cluster.kubectl.json(*where)["items"]}
    done = run_verb("restart", "mini", "multigateway")
    assert done.exit_code == 0, done.output
    eventually(
        lambda: before.isdisjoint(
            pod["metadata"]["uid"] for pod in running_cluster.kubectl.json(*where)["items"]
        ),
        "the old gateways to be gone",
    )


def test_a_server_is_traced_to_its_pool_its_shard_and_its_cluster(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    server, namespace = next(iter(running_cluster.servers())), running_cluster.namespace
    lines = run_verb("trace", f"pod/{server}").output.splitlines()
    assert lines[0] == f"Pod {namespace}/{server}: pool main in cell z1"
    assert lines[2] == (
        f"  by Shard {namespace}/{running_cluster.shard_name}: "
        "spec.databases[postgres].tablegroups[default].shards[0-inf]"
    )
    assert lines[-1].startswith(f"  by MultigresCluster {namespace}/mini: written by ")
    foreign = run_verb("trace", "serviceaccount/default")
    assert (foreign.exit_code, "neither a Tenant nor a cluster made" in foreign.output) == (1, True)


def test_a_paused_cluster_is_neither_restarted_nor_put_to_sleep_until_it_is_resumed(
    running_cluster: RolloutCluster, run_verb: RunVerb
) -> None:
    paused = run_verb("pause", "mgc/mini")
    assert paused.exit_code == 0, paused.output
    assert running_cluster.condition("Paused")["status"] == "True"
    assert "paused already" in run_verb("pause", "mini").output
    for words in (("restart", "mini", "--yes"), ("hibernate", "mini", "--yes")):
        done = run_verb(*words)
        assert (done.exit_code, "is paused: `steward resume multigrescluster/mini" in done.output) == (
            1,
            True,
        )
    assert run_verb("resume", "mini").output.endswith("/mini: resumed\n")
    assert run_verb("resume", "mini").output.endswith("/mini: is not paused\n")


def test_a_cluster_hibernates_and_wakes(running_cluster: RolloutCluster, run_verb: RunVerb) -> None:
    done = run_verb("hibernate", "mini", "--yes")
    assert done.exit_code == 0, done.output
    assert running_cluster.servers() == {}
    refused = run_verb("psql", "mini")
    assert (refused.exit_code, "hibernates: `steward wake mini" in refused.output) == (1, True)
    done = run_verb("wake", "mini")
    assert done.exit_code == 0, done.output
    assert len(running_cluster.servers()) == 3
