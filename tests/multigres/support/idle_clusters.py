"""Clusters without pods, for tests of specs and statuses: pods cost a control plane more than all else."""

from typing import Any

from steward.kube.objects.kinds import Manifest
from tests.multigres.support.clusters import cluster

NO_PODS = {"spec": {"replicas": 0}}
NO_ADMIN: dict[str, Any] = {"multiadmin": NO_PODS, "multiadminWeb": NO_PODS}
NO_WEB: dict[str, Any] = {"multiadminWeb": NO_PODS}
"""For clusters with servers, whose state the operator asks of multiadmin."""
IDLE_CELL = {"zone": "z1", "spec": {"multiGateway": {"replicas": 0}}}


def idle_cluster(namespace: str, name: str, **spec: Any) -> Manifest:
    """Its only pod is a member of etcd. `pool` has further fields of its only pool."""
    pool = {"type": "readWrite", "replicasPerCell": 0, **spec.pop("pool", {})}
    shard = {"name": "0-inf", "spec": {"multiorch": {"replicas": 0}, "pools": {"main": pool}}}
    group = {"name": "default", "default": True, "shards": [shard]}
    idle = {
        "cells": [IDLE_CELL],
        "databases": [{"name": "postgres", "default": True, "tablegroups": [group]}],
        "globalTopoServer": {"etcd": {"replicas": 1}},
        **NO_ADMIN,
    }
    return cluster(namespace, name, **{**idle, **spec})
