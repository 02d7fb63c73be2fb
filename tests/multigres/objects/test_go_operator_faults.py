"""Faults of the operator before us that are told by looking at what is built, each in one line."""

from typing import Any

import pytest

from steward.kube.objects.conditions import READY
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres import names
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.controllers.common.context import goes_with_its_owner
from steward.multigres.resolution.defaulting import with_defaults
from steward.multigres.status.conditions import child_piece
from steward.multigres.views import TopoServerView
from tests.multigres.resolution.test_resolve import templates
from tests.multigres.support.tree import build_tree, containers, of_kind, pods

WORKLOADS = ("Deployment", "StatefulSet")
ZONE = "topology.kubernetes.io/zone"


def arguments(name: str, **spec: Any) -> list[list[str]]:
    built = [container for pod in pods(build_tree(**spec)) for container in containers(pod)]
    return [container["args"] for container in built if container["name"] == name]


@pytest.mark.parametrize("name", ["multigateway", "multiorch"])
def test_gateways_and_orchestrators_register_an_address_that_others_can_reach(name: str) -> None:
    found = arguments(name)
    assert found
    assert all("--hostname=$(POD_IP)" in each for each in found)


@pytest.mark.parametrize("name", ["multiadmin", "multigateway", "multiorch", "multipooler"])
def test_everybody_takes_the_root_of_a_topology_server_that_is_shared(name: str) -> None:
    external = {"endpoints": ["http://a:2379"], "rootPath": "/ours"}
    found = arguments(name, globalTopoServer={"external": external})
    assert found
    assert all("--topo-global-root=/ours" in each for each in found)


def test_every_workload_prefers_other_nodes_and_other_zones_for_its_pods() -> None:
    tree = build_tree()
    for workload in [manifest for kind in WORKLOADS for manifest in of_kind(tree, kind)]:
        chosen = {"labelSelector": workload["spec"]["selector"]}
        pod = workload["spec"]["template"]["spec"]
        [term] = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        assert term["podAffinityTerm"] == {**chosen, "topologyKey": "kubernetes.io/hostname"}
        [spread] = pod["topologySpreadConstraints"]
        assert spread == {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", **chosen}


def test_no_pod_has_two_budgets_and_every_server_has_one() -> None:
    """A pod with two cannot be evicted at all."""
    tree = build_tree()
    chosen = [
        budget["spec"]["selector"]["matchLabels"].items() for budget in of_kind(tree, "PodDisruptionBudget")
    ]
    for stateful in of_kind(tree, "StatefulSet"):
        labels = stateful["spec"]["template"]["metadata"]["labels"].items()
        assert sum(each <= labels for each in chosen) == 1, stateful["metadata"]["name"]


def test_a_topology_server_forgets_its_history() -> None:
    [etcd] = [
        manifest
        for manifest in of_kind(build_tree(), "StatefulSet")
        if "topo" in manifest["metadata"]["name"]
    ]
    [container] = containers(etcd["spec"]["template"])
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert environment["ETCD_AUTO_COMPACTION_MODE"] == "periodic"
    assert environment["ETCD_AUTO_COMPACTION_RETENTION"] == "1h"


def test_a_cluster_that_turns_to_a_foreign_topology_server_takes_away_only_its_own() -> None:
    cluster = ObjectMeta(name="mini", namespace="ns", uid="cluster")

    def server(name: str, owner: str) -> TopoServerView:
        owners = (OwnerReference(uid=owner, controller=True),)
        return TopoServerView(
            ObjectMeta(name=name, namespace="ns", owner_references=owners), TopoServerSpec()
        )

    assert goes_with_its_owner(server(names.global_topo("mini"), "cluster"), cluster)
    assert not goes_with_its_owner(server(names.local_topo(names.cell("mini", "z1")), "cell"), cluster)


def test_a_child_that_is_not_there_is_not_ready() -> None:
    assert not child_piece("cell z1", None, [], 0).is_ready


def test_the_pools_of_a_default_template_are_all_the_pools_there_are() -> None:
    known = templates(shard={"default": {"pools": {"main": {"type": "readWrite"}}}})
    written = with_defaults({"cells": [{"zone": "z1"}]}, known)
    [database] = written["databases"]
    assert "spec" not in database["tablegroups"][0]["shards"][0]


def test_every_column_ready_reads_the_condition_that_is_set() -> None:
    paths = [column.path for kind in CUSTOM_KINDS for column in kind.columns if column.name == "Ready"]
    assert len(paths) == 4
    assert set(paths) == {f".status.conditions[?(@.type=='{READY}')].status"}
