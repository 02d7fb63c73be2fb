"""Whatever a schema lets in ends as objects or as a sentence, never as an error of ours.

Objects come in past the webhooks: webhooks off, an older version, or a mutating webhook of somebody else.
"""

from functools import cache
from typing import Any

import msgspec
import pytest

from steward.kube.crd.schema import definition
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.controllers.shard.reconciler import shard_objects
from steward.multigres.names import ShardPath
from steward.multigres.objects import children, etcd, gateway
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.needed import IncompleteError
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.resolution.defaulting import taken_back, with_defaults
from steward.multigres.resolution.external_refs import (
    missing_classes,
    references_condition,
    secrets,
    storage_classes,
)
from steward.multigres.resolution.provenance import explain
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, ResolvedCluster, Templates
from steward.multigres.resolution.template_refs import mentioned
from steward.multigres.resolution.validation import validate, validate_update
from steward.multigres.resolution.warnings import advice
from steward.multigres.webhooks import SPECS
from tests.multigres.support.schema_values import SchemaValues
from tests.multigres.support.tree import tree_of

CASES, SLICES = 1200, 4
IDENTITY = Identity("example", "mini")
UID = "00000000-0000-0000-0000-000000000001"


@cache
def spec_schema(kind: str) -> dict[str, Any]:
    [custom] = [each for each in CUSTOM_KINDS if definition(each)["spec"]["names"]["kind"] == kind]
    [version] = definition(custom)["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return schema


def seeds(number: int) -> range:
    return range(number * CASES // SLICES, (number + 1) * CASES // SLICES)


def templates(values: SchemaValues) -> Templates:
    contents = []
    for kind in (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE):
        made = {name: values.value(spec_schema(kind.kind)) for name in ("default", "a", "main")}
        read = {name: readable(spec, SPECS[kind]) for name, spec in made.items()}
        contents.append({name: spec for name, spec in read.items() if spec is not None})
    return Templates(*contents)


def readable(spec: Any, into: type[Any]) -> Any:
    """None for what a stricter version would not read: the reconcilers tell that by the error's own sentence."""
    try:
        return msgspec.convert(spec, into)
    except msgspec.ValidationError:
        return None


@pytest.mark.parametrize("number", range(SLICES))
def test_any_cluster_beside_any_templates_is_built_or_told_why_not(number: int) -> None:
    built = 0
    for seed in seeds(number):
        values = SchemaValues(seed)
        written, beside = values.value(spec_schema("MultigresCluster")), templates(values)
        try:
            built += _whole_way(written, beside)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert built > 0


def _whole_way(written: dict[str, Any], beside: Templates) -> bool:
    """What the webhooks do with a cluster, and then the reconcile; whether there was something to build."""
    spec = readable(written, MultigresClusterSpec)
    if spec is None:
        return False
    resolved = resolve(IDENTITY, spec, beside)
    problems = validate(spec, resolved)
    mentioned(spec)
    if problems:
        assert all(problem.field and problem.message for problem in problems)
        return False
    _warnings(spec, resolved)
    defaulted = msgspec.convert(with_defaults(taken_back(written), beside), MultigresClusterSpec)
    validate_update(resolved, resolve(IDENTITY, defaulted, beside))
    tree_of(spec, resolved)
    return True


def _warnings(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> None:
    advice(spec, resolved)
    explain(spec, resolved)
    missing = missing_classes(storage_classes(resolved), [])
    references_condition(missing, 1)
    secrets(spec, resolved)


@pytest.mark.parametrize("number", range(SLICES))
def test_children_that_somebody_else_made_are_built_too(number: int) -> None:
    for seed in seeds(number):
        values = SchemaValues(seed)
        try:
            _children(values)
        except IncompleteError:
            continue
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def _children(values: SchemaValues) -> None:
    def owner(kind: str) -> Owner:
        return Owner(kind, "example", "mini", UID)

    def spec(kind: str, into: type[Any]) -> Any:
        return readable(values.value(spec_schema(kind)), into)

    if (server := spec("TopoServer", TopoServerSpec)) is not None:
        etcd.topo_server_objects(owner("TopoServer"), "mini", server, {})
    if (cell := spec("Cell", CellSpec)) is not None:
        gateway.cell_objects(owner("Cell"), "mini", cell)
        children.local_topo_server(owner("Cell"), "mini", cell)
    if (group := spec("TableGroup", TableGroupSpec)) is not None:
        children.shards(owner("TableGroup"), "mini", group)
    if (shard := spec("Shard", ShardSpec)) is not None:
        path = ShardPath("mini", "db", "tg", shard.shard_name)
        shard_objects(ShardBuild(owner("Shard"), path, shard, "pw", "password", "tls"))
