"""Admission warnings for templates: what is inadvisable in every cluster that uses them. Pure."""

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from steward.multigres.api.compute import Pool
from steward.multigres.api.scalars import Unset
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.api.topo import Etcd
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.resolution.warnings.retention import PolicyLevel, level_warnings


def template_warnings(content: Any) -> list[str]:
    """`content` is the spec of a CoreTemplate, CellTemplate or ShardTemplate."""
    warnings: list[str] = []
    if isinstance(content, ShardTemplateSpec):
        warnings = [*_deprecated_fields(content), *_deleted_volumes(_shard_levels(content))]
    elif isinstance(content, CoreTemplateSpec):
        warnings = list(_deleted_volumes(_core_levels(content)))
    elif isinstance(content, CellTemplateSpec):
        warnings = list(_deleted_volumes(_cell_levels(content)))
    return first_texts(warnings, "warnings")


def deprecated_pool_fields(field: str, pool: Pool) -> Iterator[str]:
    if pool.cell is not UNSET:
        yield f"{field}.cell: deprecated; write cells: [{pool.cell}]"
    if pool.replicas is not UNSET:
        yield f"{field}.replicas: deprecated; write replicasPerCell: {pool.replicas}"


def _deprecated_fields(content: ShardTemplateSpec) -> Iterator[str]:
    for name, pool in or_default(content.pools, {}).items():
        yield from deprecated_pool_fields(f"spec.pools[{name}]", pool)


def _deleted_volumes(levels: Iterator[PolicyLevel]) -> Iterator[str]:
    for level in levels:
        yield from level_warnings(level)


def _shard_levels(content: ShardTemplateSpec) -> Iterator[PolicyLevel]:
    yield PolicyLevel("spec.pvcDeletionPolicy", "shard", content.pvc_deletion_policy)
    for name, pool in or_default(content.pools, {}).items():
        field = f"spec.pools[{name}].pvcDeletionPolicy"
        yield PolicyLevel(field, "pool", pool.pvc_deletion_policy, content.pvc_deletion_policy)


def _core_levels(content: CoreTemplateSpec) -> Iterator[PolicyLevel]:
    server = content.global_topo_server
    if server is not UNSET:
        field = "spec.globalTopoServer"
        yield PolicyLevel(f"{field}.pvcDeletionPolicy", "topology server", server.pvc_deletion_policy)
        yield from _etcd_level(f"{field}.etcd", server.etcd)


def _cell_levels(content: CellTemplateSpec) -> Iterator[PolicyLevel]:
    server = content.local_topo_server
    if server is not UNSET:
        yield from _etcd_level("spec.localTopoServer.etcd", server.etcd)


def _etcd_level(field: str, etcd: Etcd | Unset) -> Iterator[PolicyLevel]:
    if etcd is not UNSET:
        yield PolicyLevel(f"{field}.pvcDeletionPolicy", "topology server", etcd.pvc_deletion_policy)
