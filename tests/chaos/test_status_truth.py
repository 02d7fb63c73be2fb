"""Statuses against the objects around them."""

from typing import Any

from tests.chaos.status_truth import false_cluster_counts, false_fleet_counts, stale_statuses

READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def _cluster(gateways: int, ready_shards: int) -> dict[str, Any]:
    status = {
        "cells": {"z1": {"ready": True, "gatewayReplicas": gateways}},
        "databases": {"postgres": {"totalShards": 1, "readyShards": ready_shards}},
    }
    return {"kind": "MultigresCluster", "metadata": {"name": "shop"}, "status": status}


def _gateway(ready: int) -> dict[str, Any]:
    labels = {"multigres.com/cell": "z1", "app.kubernetes.io/component": "multigateway"}
    return {
        "kind": "Deployment",
        "metadata": {"name": "g", "labels": labels},
        "status": {"readyReplicas": ready},
    }


SHARD = {"kind": "Shard", "metadata": {"name": "s"}, "status": READY}


def test_true_counts_of_a_cluster_are_accepted() -> None:
    assert list(false_cluster_counts([_cluster(2, 1), _gateway(2), SHARD])) == []


def test_a_false_count_of_gateways_is_found() -> None:
    found = list(false_cluster_counts([_cluster(2, 1), _gateway(1), SHARD]))
    assert found == ["the status reports 2 gateways of cell z1, and there are 1"]


def test_a_shard_that_is_counted_as_ready_and_is_not_is_found() -> None:
    found = list(false_cluster_counts([_cluster(1, 1), _gateway(1), {**SHARD, "status": {}}]))
    assert found == ["the status reports 1 ready shards, and there are 0"]


def test_false_counts_of_a_fleet_are_found() -> None:
    registry = {"kind": "TenantRegistry", "metadata": {"name": "prod"}, "status": {"ready": 2}}
    template = {
        "kind": "TenantTemplate",
        "metadata": {"name": "web"},
        "status": {"totalTenants": 1, "readyTenants": 1},
    }
    tenant = {"kind": "Tenant", "metadata": {"name": "t"}, "spec": {"templateRef": "web"}, "status": READY}
    assert list(false_fleet_counts([registry, template, tenant])) == [
        "the status reports 2 ready Tenants, and there are 1"
    ]


def test_a_status_of_an_old_generation_is_found() -> None:
    cell = {"kind": "Cell", "metadata": {"name": "c", "generation": 3}, "status": {"observedGeneration": 2}}
    assert list(stale_statuses([cell])) == ["Cell/c: the status is of generation 2, not 3"]
