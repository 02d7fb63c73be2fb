"""Objects of every kind with random specs that the schema accepts, with few pods each.

Children are created directly, as a user could who bypasses the admission policy; clusters use random templates.
"""

from typing import Any

from steward.kube.objects.kinds import Manifest
from steward.multigres.api.group import API_VERSION
from tests.multigres.support.schema_values import SchemaValues, spec_schema

CHILDREN = ("TopoServer", "Cell", "TableGroup", "Shard")
TEMPLATES = {"CoreTemplate": "coreTemplate", "CellTemplate": "cellTemplate", "ShardTemplate": "shardTemplate"}
COUNTS = ("replicas", "replicasPerCell")
ONE_MEMBER = {"etcd": {"replicas": 1}}


def cluster(namespace: str, number: int) -> Manifest:
    """With a cell: without one the API server rejects every cluster."""
    spec = _spec("MultigresCluster", number)
    spec["globalTopoServer"] = ONE_MEMBER
    spec["cells"] = spec.get("cells") or [{"zone": "z1"}]
    return _object(namespace, "MultigresCluster", f"strange-{number}", spec)


def child(namespace: str, kind: str, number: int) -> Manifest:
    """Half of them have the labels of managed children."""
    manifest = _object(namespace, kind, f"strange-{number}", _spec(kind, number))
    if number % 2:
        manifest["metadata"]["labels"] = {"multigres.com/cluster": "sound", "multigres.com/cell": "z1"}
    return manifest


def templates(namespace: str, number: int) -> list[Manifest]:
    return [_object(namespace, kind, f"strange-{number}", _spec(kind, number)) for kind in TEMPLATES]


def user(namespace: str, number: int) -> Manifest:
    """A cluster that uses one template of each kind."""
    spec = {
        "cells": [{"zone": "z1"}],
        "templateDefaults": dict.fromkeys(TEMPLATES.values(), f"strange-{number}"),
    }
    return _object(namespace, "MultigresCluster", f"user-{number}", spec)


def _object(namespace: str, kind: str, name: str, spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _spec(kind: str, number: int) -> Any:
    return _with_few_pods(SchemaValues(number, max_length=1).value(spec_schema(kind)))


def _with_few_pods(part: Any) -> Any:
    """Limits replicas: the number of pods is not tested here."""
    if isinstance(part, list):
        return [_with_few_pods(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: min(value, 1) if name in COUNTS and isinstance(value, int) else _with_few_pods(value)
        for name, value in part.items()
    }
