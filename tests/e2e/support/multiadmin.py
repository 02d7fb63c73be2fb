"""Calls of a cluster's multiadmin, as the runbooks describe them."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from steward.multigres import names
from tests.e2e.support.database_cluster import DATABASE, GROUP, SHARD, DatabaseCluster

PORT = 18000
TIMEOUT_SECONDS = 60.0


def call(database: DatabaseCluster, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer to a GET, or to a POST of `body`."""
    service = database.containers.kubectl.json(
        "get", "service", names.multiadmin(database.name), "-n", database.namespace
    )
    request = urllib.request.Request(
        f"http://{service['spec']['clusterIP']}:{PORT}/api/v1/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        return dict(json.load(answer))


def position(database: DatabaseCluster, pod: str) -> int:
    """How much of the log a server has."""
    cell = database.label_of(pod, "multigres.com/cell")
    status = call(database, f"poolers/{cell}/{pod}/status")
    high, low = status["consensusStatus"]["currentPosition"]["lsn"].split("/")
    return (int(high, 16) << 32) + int(low, 16)


def force_rule(database: DatabaseCluster, leader: str, members: list[str]) -> dict[str, Any]:
    """Continues the shard with these servers: what the runbook of MultigresShardNotWritable sends."""
    policy = {
        "policy_name": "AT_LEAST_2",
        "quorum_type": "QUORUM_TYPE_AT_LEAST_N",
        "required_count": 2,
    }
    proposal = {
        "leader_id": _server(database, leader),
        "cohort_members": [_server(database, member) for member in members],
        "durability_policy": policy,
    }
    body = {
        "proposed_transition": {"proposal": proposal},
        "unsafe_derive_cert": {},
        "reason": "servers lost",
    }
    return call(database, f"shards/{DATABASE}/{GROUP}/{SHARD}/rule-change", body)


def allow_restarts(database: DatabaseCluster, pod: str, *, enabled: bool) -> None:
    """Whether the pooler of a server starts its Postgres again when it has ended."""
    cell = database.label_of(pod, "multigres.com/cell")
    call(database, f"poolers/{cell}/{pod}/postgres-restarts", {"enabled": enabled})


def _server(database: DatabaseCluster, pod: str) -> dict[str, str]:
    cell = database.label_of(pod, "multigres.com/cell")
    return {"component": "MULTIPOOLER", "cell": cell, "name": pod}
