"""Templates that a cluster references. Pure. `resolve` decides which of them are used."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default

CORE, CELL, SHARD = "CoreTemplate", "CellTemplate", "ShardTemplate"


class TemplateKey(NamedTuple):
    """Kind and name of a template in the cluster's namespace."""

    kind: str
    name: str

    def describe(self) -> str:
        """For messages: `CoreTemplate 'standard'`."""
        return f"{self.kind} {self.name!r}"

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


def referenced_templates(spec: MultigresClusterSpec) -> frozenset[TemplateKey]:
    """Templates that the spec names. The template named `default` also applies without being named."""
    return frozenset(
        TemplateKey(kind, name) for kind, name in _template_names(spec) if isinstance(name, str) and name
    )


def _template_names(spec: MultigresClusterSpec) -> Iterator[tuple[str, str | Unset]]:
    defaults = spec.template_defaults
    if defaults is not UNSET:
        yield CORE, defaults.core_template
        yield CELL, defaults.cell_template
        yield SHARD, defaults.shard_template
    if spec.global_topo_server is not UNSET:
        yield CORE, spec.global_topo_server.template_ref
    for admin in (spec.multiadmin, spec.multiadmin_web):
        if admin is not UNSET:
            yield CORE, admin.template_ref
    for cell in or_default(spec.cells, []):
        yield CELL, cell.cell_template
    for database in or_default(spec.databases, []):
        for group in or_default(database.tablegroups, []):
            for shard in or_default(group.shards, []):
                yield SHARD, shard.shard_template
