"""The manifests that the design prints, as printed, and the children that grow out of its large example."""

from typing import Any

import msgspec
import yaml

from steward.kube.objects.kinds import Manifest
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.objects import children
from steward.multigres.objects.metadata import Owner
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, Templates
from tests.support.paths import ROOT

SEEDS = ROOT / "tests" / "multigres" / "seeds"
EXAMPLE = "example-cluster"
# The design prints one template of each kind; the others that its clusters name hold the same.
TEMPLATES = {
    "CoreTemplate": ("standard-core-ha", "cluster-wide-core", "dev-defaults", "cluster-default-core"),
    "CellTemplate": (
        "standard-cell-ha",
        "cluster-wide-cell",
        "dev-defaults-cell",
        "cluster-default-cell",
        "high-throughput-gateway",
        "standard-gateway",
    ),
    "ShardTemplate": (
        "standard-shard-ha",
        "cluster-wide-shard",
        "dev-defaults-shard",
        "cluster-default-shard",
        "geo-distributed-shard",
    ),
}


def printed(kind: str, name: str) -> Manifest:
    found: Manifest = yaml.safe_load((SEEDS / f"{kind.lower()}-{name}.yaml").read_text())
    return found


def templates(namespace: str) -> list[Manifest]:
    """Every template that a printed cluster names."""
    return [
        {**printed(kind, names[0]), "metadata": {"name": name, "namespace": namespace}}
        for kind, names in TEMPLATES.items()
        for name in names
    ]


def example_children() -> dict[tuple[str, str], Manifest]:
    """The children of the large example, by kind and name."""
    example = printed("MultigresCluster", EXAMPLE)
    namespace = example["metadata"]["namespace"]
    spec = msgspec.convert(example["spec"], MultigresClusterSpec)
    resolved = resolve(Identity(namespace, EXAMPLE), spec, _contents())
    assert resolved.problems == ()
    owner = Owner("MultigresCluster", namespace, EXAMPLE, "uid")
    server = children.global_topo_server(owner, resolved)
    groups = children.table_groups(owner, resolved, spec)
    assert server is not None
    built = [server, *children.cells(owner, resolved, spec), *groups]
    for group in groups:
        below = Owner("TableGroup", namespace, group["metadata"]["name"], "uid")
        built += children.shards(below, EXAMPLE, msgspec.convert(group["spec"], TableGroupSpec))
    return {(child["kind"], child["metadata"]["name"]): child for child in built}


def _contents() -> Templates:
    read = {
        "CoreTemplate": CoreTemplateSpec,
        "CellTemplate": CellTemplateSpec,
        "ShardTemplate": ShardTemplateSpec,
    }
    core, cell, shard = (
        {name: _content(kind, into) for name in TEMPLATES[kind]} for kind, into in read.items()
    )
    return Templates(core, cell, shard)


def _content(kind: str, into: type[Any]) -> Any:
    return msgspec.convert(printed(kind, TEMPLATES[kind][0])["spec"], into)
