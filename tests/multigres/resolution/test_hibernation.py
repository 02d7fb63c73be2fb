"""The replicas and volume policies of a cluster that hibernates, stage by stage."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects import etcd, gateway, orchestrator, pool
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.tree import cluster_tree
from steward.multigres.resolution.hibernation import HibernationStage, hibernate, hibernation_stage
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates

DELETES = {"whenDeleted": "Delete", "whenScaled": "Delete"}
SPEC: dict[str, Any] = {"cells": [{"zone": "a"}, {"zone": "b"}], "pvcDeletionPolicy": DELETES}


def replicas(stage: HibernationStage) -> dict[str, set[Any]]:
    spec = msgspec.convert(SPEC, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity("ns", "c"), spec, Templates({}, {}, {}))
    tree = cluster_tree(Owner("MultigresCluster", "ns", "c", "u"), spec, hibernate(resolved, stage))
    found: dict[str, set[Any]] = {}
    for manifest in tree:
        if manifest["kind"] in ("Deployment", "StatefulSet"):
            component = manifest["metadata"]["labels"]["app.kubernetes.io/component"]
            found.setdefault(component, set()).add(manifest["spec"]["replicas"])
    return found


@pytest.mark.parametrize(
    ("running", "expected"),
    [
        ([gateway.COMPONENT, orchestrator.COMPONENT, pool.COMPONENT], HibernationStage.GATEWAYS),
        ([orchestrator.COMPONENT, pool.COMPONENT], HibernationStage.ORCHESTRATORS),
        ([pool.COMPONENT, etcd.COMPONENT], HibernationStage.SERVERS),
        ([], HibernationStage.SERVERS),
    ],
    ids=["everything", "no gateway", "no orchestrator", "nothing"],
)
def test_a_stage_starts_when_the_pods_of_the_one_before_are_gone(
    running: list[str], expected: HibernationStage
) -> None:
    assert hibernation_stage(running, gateway.COMPONENT, orchestrator.COMPONENT) is expected


def test_gateways_stop_first_then_orchestrators_then_servers_and_etcd_stays() -> None:
    stopped = [
        {name for name, count in replicas(stage).items() if count == {0}} for stage in HibernationStage
    ]
    first, second, third = stopped
    assert first == {gateway.COMPONENT}
    assert second - first == {orchestrator.COMPONENT}
    assert pool.COMPONENT in third - second
    assert replicas(HibernationStage.SERVERS)[etcd.COMPONENT] != {0}


@pytest.mark.parametrize("stage", HibernationStage)
def test_volumes_are_retained_from_the_first_stage_on(stage: HibernationStage) -> None:
    """Otherwise Kubernetes would delete the volumes of servers that are scaled to 0."""
    spec = msgspec.convert(SPEC, MultigresClusterSpec)
    resolved = hibernate(resolve(ClusterIdentity("ns", "c"), spec, Templates({}, {}, {})), stage)
    tree = cluster_tree(Owner("MultigresCluster", "ns", "c", "u"), spec, resolved)
    sets = [each for each in tree if each["kind"] == "StatefulSet" and "pool" in each["metadata"]["name"]]
    policies = [each["spec"]["persistentVolumeClaimRetentionPolicy"] for each in sets]
    assert policies
    assert all(policy == {"whenDeleted": "Delete", "whenScaled": "Retain"} for policy in policies)


def test_previews_of_a_hibernating_cluster_show_no_servers() -> None:
    spec = msgspec.convert({**SPEC, "hibernation": True}, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity("ns", "c"), spec, Templates({}, {}, {}))
    tree = cluster_tree(Owner("MultigresCluster", "ns", "c", "u"), spec, resolved)
    deployments = [each["spec"]["replicas"] for each in tree if each["kind"] == "Deployment"]
    assert deployments
    assert set(deployments) == {0}
