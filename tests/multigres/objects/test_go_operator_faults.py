"""Faults of the Go operator that generated objects show."""

from typing import Any

import pytest

from steward.kube.objects.conditions import READY
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres import names
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.controllers.common.children import may_delete_child
from steward.multigres.resolution.defaulting import with_defaults
from steward.multigres.status.conditions import child_component
from steward.multigres.views import TopoServerView
from tests.multigres.support.tree import build_tree, containers, of_kind, pods
from tests.multigres.support.typed_templates import templates

WORKLOADS = ("Deployment", "StatefulSet")
ZONE = "topology.kubernetes.io/zone"


def arguments(name: str, **spec: Any) -> list[list[str]]:
    all_containers = [container for pod in pods(build_tree(**spec)) for container in containers(pod)]
    return [container["args"] for container in all_containers if container["name"] == name]


@pytest.mark.parametrize("name", ["multigateway", "multiorch"])
def test_gateways_and_orchestrators_register_an_address_that_others_can_reach(name: str) -> None:
    found = arguments(name)
    assert found
    assert all("--hostname=$(POD_IP)" in each for each in found)


@pytest.mark.parametrize("name", ["multiadmin", "multigateway", "multiorch", "multipooler"])
def test_every_component_gets_the_root_path_of_a_shared_topology_server(name: str) -> None:
    external = {"endpoints": ["http://a:2379"], "rootPath": "/shared"}
    found = arguments(name, globalTopoServer={"external": external})
    assert found
    assert all("--topo-global-root=/shared" in each for each in found)


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
    """The eviction API rejects pods with two budgets."""
    tree = build_tree()
    chosen = [
        budget["spec"]["selector"]["matchLabels"].items() for budget in of_kind(tree, "PodDisruptionBudget")
    ]
    for stateful in of_kind(tree, "StatefulSet"):
        labels = stateful["spec"]["template"]["metadata"]["labels"].items()
        assert sum(each <= labels for each in chosen) == 1, stateful["metadata"]["name"]


def test_a_topology_server_compacts_its_history() -> None:
    [etcd] = [
        manifest
        for manifest in of_kind(build_tree(), "StatefulSet")
        if "topo" in manifest["metadata"]["name"]
    ]
    [container] = containers(etcd["spec"]["template"])
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert environment["ETCD_AUTO_COMPACTION_MODE"] == "periodic"
    assert environment["ETCD_AUTO_COMPACTION_RETENTION"] == "1h"


def test_a_cluster_that_switches_to_an_external_topology_server_deletes_only_its_own() -> None:
    cluster = ObjectMeta(name="mini", namespace="ns", uid="cluster")

    def server(name: str, owner: str) -> TopoServerView:
        owners = (OwnerReference(uid=owner, controller=True),)
        return TopoServerView(
            ObjectMeta(name=name, namespace="ns", owner_references=owners), TopoServerSpec()
        )

    assert may_delete_child(server(names.global_topo("mini"), "cluster"), cluster)
    assert not may_delete_child(server(names.local_topo(names.cell("mini", "z1")), "cell"), cluster)


def test_a_missing_child_is_not_ready() -> None:
    assert not child_component("cell z1", None, [], 0).is_ready


def test_no_default_pool_is_added_to_those_of_a_default_template() -> None:
    existing = templates(shard={"default": {"pools": {"main": {"type": "readWrite"}}}})
    defaulted = with_defaults({"cells": [{"zone": "z1"}]}, existing)
    [database] = defaulted["databases"]
    assert "spec" not in database["tablegroups"][0]["shards"][0]


def test_every_column_ready_reads_the_condition_that_is_set() -> None:
    paths = [column.path for kind in CUSTOM_KINDS for column in kind.columns if column.name == "Ready"]
    assert len(paths) == 4
    assert set(paths) == {f".status.conditions[?(@.type=='{READY}')].status"}
