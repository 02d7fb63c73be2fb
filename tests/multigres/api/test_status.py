"""A status that is read and written again keeps every field."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cell import CellStatus
from steward.multigres.api.cluster_status import MultigresClusterStatus
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.api.shard import ShardStatus
from steward.multigres.api.tablegroup import TableGroupStatus
from steward.multigres.api.toposerver import TopoServerStatus
from tests.multigres.support.schema_values import SchemaValues, status_schema

STATUSES: dict[str, type[msgspec.Struct]] = {
    "MultigresCluster": MultigresClusterStatus,
    "TopoServer": TopoServerStatus,
    "Cell": CellStatus,
    "TableGroup": TableGroupStatus,
    "Shard": ShardStatus,
}
DRAWN = 200


def without_zero_generations(status: dict[str, Any]) -> dict[str, Any]:
    """A condition without a generation is written without the field."""
    conditions = [
        {name: value for name, value in each.items() if (name, value) != ("observedGeneration", 0)}
        for each in status.get("conditions", [])
    ]
    return {**status, "conditions": conditions}


@pytest.mark.parametrize("kind", STATUSES)
def test_a_status_that_is_read_and_written_again_loses_no_field(kind: str) -> None:
    [custom] = [each for each in CUSTOM_KINDS if each.kind == kind]
    schema = with_all_fields(status_schema(custom))
    for seed in range(DRAWN):
        status = SchemaValues(seed).value(schema)
        written = msgspec.to_builtins(msgspec.convert(status, STATUSES[kind]))
        assert without_zero_generations(written) == without_zero_generations(status), seed


def with_all_fields(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with all fields of the summaries, which the operator always writes together."""
    summaries = {
        name: {**nested, "additionalProperties": _complete(nested["additionalProperties"])}
        for name, nested in schema["properties"].items()
        if name in ("cells", "databases") and nested.get("additionalProperties", {}).get("type") == "object"
    }
    return {**schema, "properties": {**schema["properties"], **summaries}}


def _complete(summary: dict[str, Any]) -> dict[str, Any]:
    return {**summary, "required": list(summary["properties"])}
