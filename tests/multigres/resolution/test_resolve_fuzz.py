"""Any spec that the schema accepts gives objects or problems, never an exception.

Objects can bypass the webhooks: webhooks may be off, older, or followed by a foreign mutating webhook.
"""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cell import CellSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.names import ShardPath
from steward.multigres.objects import children, etcd, gateway
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.shards import shard_manifests
from steward.multigres.objects.topo_access import IncompleteSpecError
from steward.multigres.objects.tree import shard_objects
from steward.multigres.resolution.defaulting import with_defaults, without_stale_defaults
from steward.multigres.resolution.external_refs import (
    missing_storage_classes,
    referenced_secrets,
    referenced_storage_classes,
)
from steward.multigres.resolution.provenance import value_origins
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.template_refs import referenced_templates
from steward.multigres.resolution.validation import validate, validate_update
from steward.multigres.resolution.warnings.clusters import spec_warnings
from steward.multigres.status.references import references_condition
from steward.multigres.webhook_templates import SPECS
from tests.multigres.support.schema_values import SchemaValues, spec_schema
from tests.multigres.support.tree import tree_of

pytestmark = pytest.mark.slow

CASES, SLICES = 1200, 4
IDENTITY = ClusterIdentity("example", "mini")
UID = "00000000-0000-0000-0000-000000000001"


def seeds(number: int) -> range:
    return range(number * CASES // SLICES, (number + 1) * CASES // SLICES)


def templates(values: SchemaValues) -> Templates:
    contents = []
    for kind in (CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE):
        specs = {name: values.value(spec_schema(kind.kind)) for name in ("default", "a", "main")}
        decoded = {name: decode_or_none(spec, SPECS[kind]) for name, spec in specs.items()}
        contents.append({name: spec for name, spec in decoded.items() if spec is not None})
    return Templates(*contents)


def decode_or_none(spec: Any, into: type[Any]) -> Any:
    """None for a spec that cannot be decoded: reconcilers report the decoding error."""
    try:
        return msgspec.convert(spec, into)
    except msgspec.ValidationError:
        return None


@pytest.mark.parametrize("number", range(SLICES))
def test_any_cluster_with_any_templates_is_built_or_has_problems(number: int) -> None:
    built = 0
    for seed in seeds(number):
        values = SchemaValues(seed)
        written, existing = values.value(spec_schema("MultigresCluster")), templates(values)
        try:
            built += _admit_and_build(written, existing)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert built > 0


def _admit_and_build(written: dict[str, Any], existing: Templates) -> bool:
    """Runs the webhooks' functions and then those of the reconcile; returns whether objects were built."""
    spec = decode_or_none(written, MultigresClusterSpec)
    if spec is None:
        return False
    resolved = resolve(IDENTITY, spec, existing)
    problems = validate(spec, resolved)
    referenced_templates(spec)
    if problems:
        assert all(problem.field and problem.message for problem in problems)
        return False
    _warnings(spec, resolved)
    defaulted = msgspec.convert(
        with_defaults(without_stale_defaults(written), existing), MultigresClusterSpec
    )
    validate_update(resolved, resolve(IDENTITY, defaulted, existing))
    tree_of(spec, resolved)
    return True


def _warnings(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> None:
    spec_warnings(spec, resolved)
    value_origins(spec, resolved)
    missing = missing_storage_classes(referenced_storage_classes(resolved), [])
    references_condition(missing, 1)
    referenced_secrets(spec, resolved)


@pytest.mark.parametrize("number", range(SLICES))
def test_children_that_users_created_are_built(number: int) -> None:
    for seed in seeds(number):
        values = SchemaValues(seed)
        try:
            _children(values)
        except IncompleteSpecError:
            continue
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


def _children(values: SchemaValues) -> None:
    def owner(kind: str) -> Owner:
        return Owner(kind, "example", "mini", UID)

    def spec(kind: str, into: type[Any]) -> Any:
        return decode_or_none(values.value(spec_schema(kind)), into)

    if (server := spec("TopoServer", TopoServerSpec)) is not None:
        etcd.etcd_objects(owner("TopoServer"), "mini", server, {})
    if (cell := spec("Cell", CellSpec)) is not None:
        gateway.gateway_objects(owner("Cell"), "mini", cell)
        children.local_topo_server(owner("Cell"), "mini", cell)
    if (group := spec("TableGroup", TableGroupSpec)) is not None:
        shard_manifests(owner("TableGroup"), "mini", group)
    if (shard := spec("Shard", ShardSpec)) is not None:
        path = ShardPath("mini", "db", "tg", shard.shard_name)
        shard_objects(ShardInputs(owner("Shard"), path, shard, "pw", "password", "tls"))
