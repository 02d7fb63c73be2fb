"""Manifests of the design document, and the children of its large example."""

from typing import Any

import msgspec

from steward.kube.objects.kinds import Manifest
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.tree import cluster_tree
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml

SEEDS = ROOT / "tests" / "multigres" / "seeds"
EXAMPLE = "example-cluster"
# The design shows one template of each kind; the others that its clusters reference have the same content.
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


def design_manifest(kind: str, name: str) -> Manifest:
    found: Manifest = load_yaml((SEEDS / f"{kind.lower()}-{name}.yaml").read_text())
    return found


def templates(namespace: str) -> list[Manifest]:
    """Every template that a cluster of the design references."""
    return [
        {**design_manifest(kind, names[0]), "metadata": {"name": name, "namespace": namespace}}
        for kind, names in TEMPLATES.items()
        for name in names
    ]


def example_children() -> dict[tuple[str, str], Manifest]:
    """The children of the large example, by kind and name."""
    example = design_manifest("MultigresCluster", EXAMPLE)
    namespace = example["metadata"]["namespace"]
    spec = msgspec.convert(example["spec"], MultigresClusterSpec)
    resolved = resolve(ClusterIdentity(namespace, EXAMPLE), spec, _template_contents())
    assert resolved.problems == ()
    owner = Owner("MultigresCluster", namespace, EXAMPLE, "uid")
    built = [child for child in cluster_tree(owner, spec, resolved) if child["apiVersion"] == API_VERSION]
    return {(child["kind"], child["metadata"]["name"]): child for child in built}


def _template_contents() -> Templates:
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
    return msgspec.convert(design_manifest(kind, TEMPLATES[kind][0])["spec"], into)
