"""The kinds of Steward that users write: their specs and schemas, without a cluster. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

import msgspec

from steward.cli.lint.builtin_kinds import Schema
from steward.cli.lint.foreign_manifests import foreign_field
from steward.cli.lint.schema_problems import SchemaProblem, schema_problems
from steward.kube.crd.schema import schema_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.multigres.api.multigres_backup import MultigresBackupSpec
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec

SPECS: Final[dict[str, type[msgspec.Struct]]] = {
    "MultigresCluster": MultigresClusterSpec,
    "CoreTemplate": CoreTemplateSpec,
    "CellTemplate": CellTemplateSpec,
    "ShardTemplate": ShardTemplateSpec,
    "MultigresBackup": MultigresBackupSpec,
    "TenantRegistry": TenantRegistrySpec,
    "TenantTemplate": TenantTemplateSpec,
}
API_VERSIONS: Final = {
    custom.kind: custom.api_version for custom in (*MULTIGRES_KINDS, *TENANT_KINDS) if custom.kind in SPECS
}
_OWN_KINDS: Final = {
    (custom.api_version, custom.kind): custom for custom in (*MULTIGRES_KINDS, *TENANT_KINDS)
}
_OWN_GROUPS: Final = frozenset(custom.group for custom in _OWN_KINDS.values())


def spec_problems(kind: str, spec: Any, field: str) -> Iterator[SchemaProblem]:
    for problem in schema_problems(spec, _schema_of(kind), field):
        foreign = foreign_field(problem.field) if problem.is_about_name else ""
        yield problem._replace(message=foreign) if foreign else problem


@cache
def _schema_of(kind: str) -> Schema:
    """Cached for each kind: a file may hold thousands of manifests."""
    return schema_of(SPECS[kind])


def is_own_group(version: str) -> bool:
    return version.partition("/")[0] in _OWN_GROUPS


def unknown_kind(version: str, kind: str) -> str:
    """The sentence for a kind of a group of ours that does not exist."""
    if not is_own_group(version) or kind in API_VERSIONS or (version, kind) in _OWN_KINDS:
        return ""
    similar = get_close_matches(kind, API_VERSIONS, 1)
    return f"there is no kind {kind}" + (f"; did you mean {similar[0]}?" if similar else f" in {version}")
