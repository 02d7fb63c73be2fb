"""Objects of every kind with specs that the schema lets in and nobody in their senses would write, of few pods each.

Children among them are made by hand, as by somebody whom no policy hinders; clusters take strange templates.
"""

from typing import Any

from steward.kube.objects.kinds import Manifest
from steward.multigres.api.group import API_VERSION
from tests.multigres.resolution.test_resolve_fuzz import spec_schema
from tests.multigres.support.schema_values import SchemaValues

CHILDREN = ("TopoServer", "Cell", "TableGroup", "Shard")
TEMPLATES = {"CoreTemplate": "coreTemplate", "CellTemplate": "cellTemplate", "ShardTemplate": "shardTemplate"}
COUNTS = ("replicas", "replicasPerCell")
ONE_MEMBER = {"etcd": {"replicas": 1}}


def cluster(namespace: str, number: int) -> Manifest:
    """With a cell: without one the server refuses them all alike."""
    spec = _spec("MultigresCluster", number)
    spec["globalTopoServer"] = ONE_MEMBER
    spec["cells"] = spec.get("cells") or [{"zone": "z1"}]
    return _object(namespace, "MultigresCluster", f"strange-{number}", spec)


def child(namespace: str, kind: str, number: int) -> Manifest:
    """Half of them say whose they are, as ours do."""
    made = _object(namespace, kind, f"strange-{number}", _spec(kind, number))
    if number % 2:
        made["metadata"]["labels"] = {"multigres.com/cluster": "sound", "multigres.com/cell": "z1"}
    return made


def templates(namespace: str, number: int) -> list[Manifest]:
    return [_object(namespace, kind, f"strange-{number}", _spec(kind, number)) for kind in TEMPLATES]


def user(namespace: str, number: int) -> Manifest:
    """A cluster that takes one template of each kind."""
    spec = {
        "cells": [{"zone": "z1"}],
        "templateDefaults": dict.fromkeys(TEMPLATES.values(), f"strange-{number}"),
    }
    return _object(namespace, "MultigresCluster", f"user-{number}", spec)


def _object(namespace: str, kind: str, name: str, spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _spec(kind: str, number: int) -> Any:
    return _tamed(SchemaValues(number, longest=1).value(spec_schema(kind)))


def _tamed(part: Any) -> Any:
    """The same with few pods: how many is not what is tried here."""
    if isinstance(part, list):
        return [_tamed(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: min(value, 1) if name in COUNTS and isinstance(value, int) else _tamed(value)
        for name, value in part.items()
    }
