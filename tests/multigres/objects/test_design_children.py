"""Children match those of the design document field by field; each difference is listed with its reason."""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from tests.multigres.support.design_manifests import EXAMPLE, design_manifest, example_children

ADDRESS = "example-cluster-global-topo.example.svc:2379"
OTHER_NAME = (
    "other sections of the design name the server {cluster}-global-topo; its Service has the same name"
)
CURRENT_NAME = "the name in the current data plane; etcd2 is accepted, too"
CLUSTER_DIFFERS = "the MultigresCluster of the design has another value, and it is the source of truth"

Differences = dict[str, tuple[Any, str]]
TOPOLOGY: Differences = {
    "globalTopoServer.address": (ADDRESS, OTHER_NAME),
    "globalTopoServer.implementation": ("etcd", CURRENT_NAME),
}


def first_shard(prefix: str) -> Differences:
    """Shard 0 of the group, which the cluster of the design defines inline."""
    compute = {"requests.cpu": "500m", "requests.memory": "1Gi", "limits.cpu": "1", "limits.memory": "2Gi"}
    pool = f"{prefix}pools.primary"
    return {
        f"{prefix}multiorch.cells": (["us-east-1b"], CLUSTER_DIFFERS),
        f"{pool}.cells": (["us-east-1b"], CLUSTER_DIFFERS),
        **{f"{pool}.multipooler.{path}": (generated, CLUSTER_DIFFERS) for path, generated in compute.items()},
    }


DIFFERENCES: dict[str, Differences] = {
    "TopoServer": {
        "image": (
            "gcr.io/etcd-development/etcd:v3.6.7",
            "the cluster of the design sets none: the default applies",
        )
    },
    "Cell": {
        **TOPOLOGY,
        "allCells": (["us-east-1a", "us-east-1b", "us-east-1c"], CLUSTER_DIFFERS),
    },
    "TableGroup": {
        **TOPOLOGY,
        **first_shard("shards[0]."),
        "shards[1].multiorch.cells": (["us-east-1a"], CLUSTER_DIFFERS),
        "shards[1].pools.primary.cells": (["us-east-1a"], CLUSTER_DIFFERS),
    },
    "Shard": {**TOPOLOGY, **first_shard("")},
}

PULL_SETTINGS = {"imagePullPolicy", "imagePullSecrets"}
"""Set in the images of the cluster, and needed by every pod."""
INHERITED = {
    "backup",
    "pvcDeletionPolicy",
    "observability",
    "logLevels",
    "durabilityPolicy",
    "topoServerRef",
    "objectsVersion",
}
"""Inherited from the cluster, in later sections of the design."""
PLACEMENT = {"cellTopologyLabels", "topologyReconciliation"}
"""Needed to place pods and prune records without reading the cluster."""
ADDITIONAL: dict[str, set[str]] = {
    "TopoServer": {*PULL_SETTINGS, "pvcDeletionPolicy", "objectsVersion"},
    "Cell": INHERITED - {"backup", "pvcDeletionPolicy", "durabilityPolicy", "observability"},
    "TableGroup": {*INHERITED, *PLACEMENT, "default"} - {"observability"},
    "Shard": {*INHERITED, *PLACEMENT, "databaseName", "tableGroupName"} - {"observability"},
}
DESIGN_NAMES = {
    "TopoServer": "example-cluster-global",
    "Cell": "example-cluster-us-east-1a",
    "TableGroup": "production-db-orders-tg",
    "Shard": "production-db-orders-tg-0",
}


def leaves(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value by its path; list entries with names by their names."""
    if isinstance(part, dict) and part:
        for key, value in part.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(part, list) and part and isinstance(part[0], dict) and "name" in part[0]:
        for entry in part:
            yield from leaves({k: v for k, v in entry.items() if k != "name"}, f"{path}[{entry['name']}]")
    else:
        yield path, part


def generated_child(shown: Manifest) -> Manifest:
    """The generated child of the same kind and labels."""
    labels = shown["metadata"].get("labels", {}).items()
    [found] = [
        child
        for (kind, _), child in example_children().items()
        if kind == shown["kind"] and labels <= child["metadata"]["labels"].items()
    ]
    return found


@pytest.mark.parametrize("kind", DESIGN_NAMES)
def test_every_field_of_the_design_has_the_same_value_except_listed_differences(kind: str) -> None:
    shown = design_manifest(kind, DESIGN_NAMES[kind])
    generated = dict(leaves(generated_child(shown)["spec"]))
    differing = {
        path: generated.get(path) for path, value in leaves(shown["spec"]) if generated.get(path) != value
    }
    assert differing == {path: value for path, (value, _) in DIFFERENCES[kind].items()}


@pytest.mark.parametrize("kind", DESIGN_NAMES)
def test_fields_that_the_design_does_not_show_are_listed(kind: str) -> None:
    shown = design_manifest(kind, DESIGN_NAMES[kind])
    assert set(generated_child(shown)["spec"]) - set(shown["spec"]) == ADDITIONAL[kind]


@pytest.mark.parametrize("kind", DESIGN_NAMES)
def test_the_owner_is_the_one_of_the_design(kind: str) -> None:
    [shown] = design_manifest(kind, DESIGN_NAMES[kind])["metadata"]["ownerReferences"]
    [generated] = generated_child(design_manifest(kind, DESIGN_NAMES[kind]))["metadata"]["ownerReferences"]
    assert (generated["kind"], generated["controller"]) == (shown["kind"], shown["controller"])
    assert generated["name"] == EXAMPLE if kind != "Shard" else "orders-tg" in generated["name"]
