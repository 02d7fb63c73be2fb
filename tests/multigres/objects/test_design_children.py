"""The children that the design prints are what ours look like, field by field; what differs does so for a reason."""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from tests.multigres.support.design_manifests import EXAMPLE, example_children, printed

ADDRESS = "example-cluster-global-topo.example.svc:2379"
NAMED_FIRST = (
    "the first pages of the design call the server {cluster}-global-topo; its Service has the same name"
)
TODAYS = "what today's data plane calls it; etcd2 is accepted, too"
PRINTED_ELSEWHERE = "the printed cluster says otherwise, and the cluster is the source of truth"

Differences = dict[str, tuple[Any, str]]
TOPOLOGY: Differences = {
    "globalTopoServer.address": (ADDRESS, NAMED_FIRST),
    "globalTopoServer.implementation": ("etcd", TODAYS),
}


def first_shard(prefix: str) -> Differences:
    """Shard 0 of the group, which the printed cluster describes inline."""
    compute = {"requests.cpu": "500m", "requests.memory": "1Gi", "limits.cpu": "1", "limits.memory": "2Gi"}
    pool = f"{prefix}pools.primary"
    return {
        f"{prefix}multiorch.cells": (["us-east-1b"], PRINTED_ELSEWHERE),
        f"{pool}.cells": (["us-east-1b"], PRINTED_ELSEWHERE),
        **{f"{pool}.multipooler.{path}": (ours, PRINTED_ELSEWHERE) for path, ours in compute.items()},
    }


DIFFERENT: dict[str, Differences] = {
    "TopoServer": {
        "image": ("gcr.io/etcd-development/etcd:v3.6.7", "the printed cluster names none: the built-in one")
    },
    "Cell": {
        **TOPOLOGY,
        "allCells": (["us-east-1a", "us-east-1b", "us-east-1c"], PRINTED_ELSEWHERE),
    },
    "TableGroup": {
        **TOPOLOGY,
        **first_shard("shards[0]."),
        "shards[1].multiorch.cells": (["us-east-1a"], PRINTED_ELSEWHERE),
        "shards[1].pools.primary.cells": (["us-east-1a"], PRINTED_ELSEWHERE),
    },
    "Shard": {**TOPOLOGY, **first_shard("")},
}

PULLING = {"imagePullPolicy", "imagePullSecrets"}
"""Given in the printed cluster's images, and needed by every pod."""
INHERITED = {"backup", "pvcDeletionPolicy", "observability", "logLevels", "durabilityPolicy", "topoServerRef"}
"""Decided above and handed down, in later parts of the design."""
PLACED = {"cellTopologyLabels", "topologyReconciliation"}
"""What a controller needs to place pods and prune records without asking its grandparent."""
BEYOND: dict[str, set[str]] = {
    "TopoServer": {*PULLING, "pvcDeletionPolicy"},
    "Cell": INHERITED - {"backup", "pvcDeletionPolicy", "durabilityPolicy", "observability"},
    "TableGroup": {*INHERITED, *PLACED, "default"} - {"observability"},
    "Shard": {*INHERITED, *PLACED, "databaseName", "tableGroupName"} - {"observability"},
}
PRINTED = {
    "TopoServer": "example-cluster-global",
    "Cell": "example-cluster-us-east-1a",
    "TableGroup": "production-db-orders-tg",
    "Shard": "production-db-orders-tg-0",
}


def leaves(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value by its path; entries of a list that have names, by their names."""
    if isinstance(part, dict) and part:
        for key, value in part.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(part, list) and part and isinstance(part[0], dict) and "name" in part[0]:
        for entry in part:
            yield from leaves({k: v for k, v in entry.items() if k != "name"}, f"{path}[{entry['name']}]")
    else:
        yield path, part


def ours_like(shown: Manifest) -> Manifest:
    """Our child of the same kind and the same printed labels."""
    labels = shown["metadata"].get("labels", {}).items()
    [found] = [
        child
        for (kind, _), child in example_children().items()
        if kind == shown["kind"] and labels <= child["metadata"]["labels"].items()
    ]
    return found


@pytest.mark.parametrize("kind", PRINTED)
def test_every_printed_field_is_there_and_holds_the_same_but_for_what_is_told(kind: str) -> None:
    shown = printed(kind, PRINTED[kind])
    ours = dict(leaves(ours_like(shown)["spec"]))
    differing = {path: ours.get(path) for path, value in leaves(shown["spec"]) if ours.get(path) != value}
    assert differing == {path: value for path, (value, _) in DIFFERENT[kind].items()}


@pytest.mark.parametrize("kind", PRINTED)
def test_what_ours_have_beyond_the_print_is_listed(kind: str) -> None:
    shown = printed(kind, PRINTED[kind])
    assert set(ours_like(shown)["spec"]) - set(shown["spec"]) == BEYOND[kind]


@pytest.mark.parametrize("kind", PRINTED)
def test_the_owner_is_the_one_that_the_print_names(kind: str) -> None:
    [shown] = printed(kind, PRINTED[kind])["metadata"]["ownerReferences"]
    [ours] = ours_like(printed(kind, PRINTED[kind]))["metadata"]["ownerReferences"]
    assert (ours["kind"], ours["controller"]) == (shown["kind"], shown["controller"])
    assert ours["name"] == EXAMPLE if kind != "Shard" else "orders-tg" in ours["name"]
