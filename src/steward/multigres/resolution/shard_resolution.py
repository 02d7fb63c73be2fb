"""Resolves the shards of a table group, each from its entry and what surrounds it. Pure.

A shard whose entry and surroundings are those of an earlier resolution is not resolved again: the edit of one shard is
the work of one shard, in a cluster of any size.
"""

from collections.abc import Mapping, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres.api.cluster import InlineShard, ShardEntry, ShardOverrides
from steward.multigres.api.compute import MultiOrch, Pool, PvcDeletionPolicy
from steward.multigres.api.scalars import ApiStruct
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults as constants
from steward.multigres.resolution.deprecated_fields import (
    replace_deprecated_fields,
    replace_deprecated_pool_fields,
)
from steward.multigres.resolution.inheritance import inherited_backup, inherited_policy
from steward.multigres.resolution.layers import BUILT_IN, Layer, merge_layers
from steward.multigres.resolution.resolved import (
    AddedPool,
    GroupResolution,
    ShardContext,
    ShardResolution,
    SkippedPlacement,
    SpecProblem,
)
from steward.multigres.resolution.template_selection import select_template


def resolve_shards(
    context: ShardContext, entries: Sequence[ShardEntry], known: GroupResolution | None
) -> GroupResolution:
    """Takes from `known` the shards with the same entry, if it has the same context."""
    if known is None or known.context != context:
        return GroupResolution(context, [_resolve_shard(context, entry) for entry in entries])
    # The known context and not an equal one: the shards of both share its list of cells.
    by_name = {resolution.entry.name: resolution for resolution in known.shards}
    shards = [_reuse_or_resolve(known.context, entry, by_name) for entry in entries]
    return GroupResolution(known.context, shards)


def _reuse_or_resolve(
    context: ShardContext, entry: ShardEntry, known: Mapping[str, ShardResolution]
) -> ShardResolution:
    found = known.get(entry.name)
    return found if found is not None and found.entry == entry else _resolve_shard(context, entry)


def _resolve_shard(context: ShardContext, entry: ShardEntry) -> ShardResolution:
    return _ShardBuilder(context, entry).build()


class _ShardBuilder:
    """State of the resolution of one shard."""

    def __init__(self, context: ShardContext, entry: ShardEntry) -> None:
        self.context = context
        self.entry = entry
        self.field = context.field(entry)
        self.template = ""
        self.problems: list[SpecProblem] = []
        self.skipped: list[SkippedPlacement] = []
        self.added_pools: list[AddedPool] = []

    def build(self) -> ShardResolution:
        merged, origins = merge_layers(InlineShard(), self.layers())
        policy = inherited_policy(merged.pvc_deletion_policy, *self.context.policies)
        pools = self.pools(merged, policy)
        shard = ResolvedShard(
            name=self.entry.name,
            multiorch=self.orchestrator(merged, pools),
            pools=pools,
            pvc_deletion_policy=policy,
            backup=inherited_backup(self.entry.backup, *self.context.backups),
            postgres_config_ref=merged.postgres_config_ref,
            postgres=merged.postgres,
            initdb_args=merged.initdb_args,
        )
        found = tuple(self.problems), tuple(self.skipped), tuple(self.added_pools)
        return ShardResolution(self.entry, shard, origins, self.template, *found)

    def layers(self) -> list[Layer]:
        entry, field = self.entry, self.field
        layers = [Layer(BUILT_IN, InlineShard(multiorch=constants.ORCHESTRATOR))]
        if entry.spec is not UNSET:
            return [*layers, Layer(f"{field}.spec", replace_deprecated_fields(entry.spec))]
        selected = select_template(self.context.templates, entry.shard_template, f"{field}.shardTemplate")
        self.template, source = selected.name, f"{self.context.templates.kind} {selected.name}"
        self.problems += selected.problems
        if selected.content is not None:
            layers.append(Layer(source, _as_shard_spec(replace_deprecated_fields(selected.content))))
        if entry.overrides is not UNSET:
            known = () if selected.content is None else tuple(or_default(selected.content.pools, {}))
            self.added_pools += _added_pools(entry.overrides, field, source, known)
            layers.append(
                Layer(f"{field}.overrides", _as_shard_spec(replace_deprecated_fields(entry.overrides)))
            )
        return layers

    def pools(self, merged: InlineShard, policy: PvcDeletionPolicy) -> dict[str, Pool]:
        requested = or_default(merged.pools, {}) or {constants.DEFAULT_POOL: Pool()}
        resolved: dict[str, Pool] = {}
        for name in sorted(requested):
            pool = merge_layers(constants.POOL, [Layer("", requested[name])])[0]
            written = _written_pool_cells(self.entry, name)
            cells = self.placement(or_default(pool.cells, []), written, f"{self.field}.pools[{name}].cells")
            pool_policy = inherited_policy(pool.pvc_deletion_policy, policy)
            resolved[name] = replace(pool, cells=cells, pvc_deletion_policy=pool_policy)
        return resolved

    def orchestrator(self, merged: InlineShard, pools: Mapping[str, Pool]) -> MultiOrch:
        orchestrator = or_default(merged.multiorch, constants.ORCHESTRATOR)
        requested = or_default(orchestrator.cells, [])
        if not requested:
            cells = sorted({cell for pool in pools.values() for cell in or_default(pool.cells, [])})
        else:
            written = _written_orchestrator_cells(self.entry)
            cells = self.placement(requested, written, f"{self.field}.multiorch.cells")
        return replace(orchestrator, cells=cells)

    def placement(self, requested: list[str], written: list[str], field: str) -> list[str]:
        """All cells if none is requested. Unknown cells are skipped if only a template names them.

        `written` are the cells that the cluster's own spec names: those must exist.
        """
        if not requested:
            return self.context.cells
        existing = frozenset(self.context.cells)
        for cell in requested:
            if cell in existing:
                continue
            if cell in written:
                self.problems.append(SpecProblem(field, f"cell {cell!r} is not in spec.cells"))
            else:
                self.skipped.append(SkippedPlacement(field, cell))
        return [cell for cell in requested if cell in existing]


def _as_shard_spec(merged: ApiStruct) -> InlineShard:
    shared = {name for name in InlineShard.__struct_fields__ if hasattr(merged, name)}
    return InlineShard(**{name: getattr(merged, name) for name in shared})


def _added_pools(
    overrides: ShardOverrides, field: str, template: str, known: tuple[str, ...]
) -> list[AddedPool]:
    """None for a template without pools: all pools of its shards come from overrides."""
    return [
        AddedPool(f"{field}.overrides.pools[{name}]", name, template, known)
        for name in or_default(overrides.pools, {})
        if known and name not in known
    ]


def _written_pool_cells(entry: ShardEntry, pool: str) -> list[str]:
    """The cells that the cluster's own spec names for a pool."""
    inline = entry.spec if entry.spec is not UNSET else entry.overrides
    pools = {} if inline is UNSET else or_default(inline.pools, {})
    return or_default(replace_deprecated_pool_fields(pools[pool]).cells, []) if pool in pools else []


def _written_orchestrator_cells(entry: ShardEntry) -> list[str]:
    inline = entry.spec if entry.spec is not UNSET else entry.overrides
    if inline is UNSET or inline.multiorch is UNSET:
        return []
    return or_default(inline.multiorch.cells, [])
