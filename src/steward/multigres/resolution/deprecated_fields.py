"""Deprecated fields of pools: `cell: x` means `cells: [x]`, `replicas` means `replicasPerCell`.

If both are set, the current field wins. The user's manifests are not changed; generated objects only have the current
fields.
"""

from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres.api.cluster import InlineShard, ShardOverrides
from steward.multigres.api.compute import Pool
from steward.multigres.api.templates.shard_template import ShardTemplateSpec

HasPools = TypeVar("HasPools", InlineShard, ShardOverrides, ShardTemplateSpec)


def replace_deprecated_fields(shard: HasPools) -> HasPools:
    if shard.pools is UNSET:
        return shard
    return replace(
        shard, pools={name: replace_deprecated_pool_fields(pool) for name, pool in shard.pools.items()}
    )


def replace_deprecated_pool_fields(pool: Pool) -> Pool:
    cells = [pool.cell] if pool.cells is UNSET and pool.cell is not UNSET else pool.cells
    per_cell = pool.replicas if pool.replicas_per_cell is UNSET else pool.replicas_per_cell
    return replace(pool, cells=cells, cell=UNSET, replicas_per_cell=per_cell, replicas=UNSET)
