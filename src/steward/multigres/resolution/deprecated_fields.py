"""Old spellings, read as what they mean today: `cell: x` in a pool is `cells: [x]`, `replicas` is `replicasPerCell`.

Where both spellings are given, the one of today wins. Manifests keep what their owner wrote; only what Steward makes of
them speaks today's language.
"""

from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres.api.cluster import ShardOverrides, ShardSpec
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard_template import ShardTemplateSpec

Shaped = TypeVar("Shaped", ShardSpec, ShardOverrides, ShardTemplateSpec)


def modern(shape: Shaped) -> Shaped:
    if shape.pools is UNSET:
        return shape
    return replace(shape, pools={name: modern_pool(pool) for name, pool in shape.pools.items()})


def modern_pool(pool: Pool) -> Pool:
    cells = [pool.cell] if pool.cells is UNSET and pool.cell is not UNSET else pool.cells
    per_cell = pool.replicas if pool.replicas_per_cell is UNSET else pool.replicas_per_cell
    return replace(pool, cells=cells, cell=UNSET, replicas_per_cell=per_cell, replicas=UNSET)
