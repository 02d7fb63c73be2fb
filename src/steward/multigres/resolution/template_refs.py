"""Which templates a cluster names. Pure. Whether a named one is used is for `resolve` to say."""

from collections.abc import Iterator

from msgspec import UNSET

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.scalars import Unset
from steward.multigres.resolution.layers import given
from steward.multigres.template_updates.revisions import TemplateKey

CORE, CELL, SHARD = "CoreTemplate", "CellTemplate", "ShardTemplate"


def mentioned(spec: MultigresClusterSpec) -> frozenset[TemplateKey]:
    """By name, anywhere in the spec; the template called `default` serves without being named."""
    return frozenset(TemplateKey(kind, name) for kind, name in _all(spec) if isinstance(name, str) and name)


def _all(spec: MultigresClusterSpec) -> Iterator[tuple[str, str | Unset]]:
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
    for cell in given(spec.cells, []):
        yield CELL, cell.cell_template
    for database in given(spec.databases, []):
        for group in given(database.tablegroups, []):
            for shard in given(group.shards, []):
                yield SHARD, shard.shard_template
