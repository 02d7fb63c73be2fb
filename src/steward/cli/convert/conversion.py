"""Translates one manifest: chooses the translation by its kind, removes what no field can hold, and keeps the rest.

Objects of other kinds pass unchanged, so that a file is translated as a whole. Objects that an operator makes itself
are left out: they are made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final

import msgspec

from steward.cli.convert import clusters, tenants
from steward.cli.convert.notes import LOST, Converted, Note, Notes, Part, parts_of
from steward.cli.convert.unknown_fields import remove_unknown_fields
from steward.kube.crd.schema import schema_of
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.group import API_VERSION as MULTIGRES
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.tenants.api.group import API_VERSION as TENANTS
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec

_SPECS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "MultigresCluster": MultigresClusterSpec,
    "CoreTemplate": CoreTemplateSpec,
    "CellTemplate": CellTemplateSpec,
    "ShardTemplate": ShardTemplateSpec,
    "TenantRegistry": TenantRegistrySpec,
    "TenantTemplate": TenantTemplateSpec,
}
_LYNQ_KINDS: Final = {"LynqHub": "TenantRegistry", "LynqForm": "TenantTemplate"}
_MADE: Final = {
    MULTIGRES: ("TopoServer", "Cell", "TableGroup", "Shard"),
    TENANTS: ("Tenant",),
    f"{tenants.GROUP}/v1": ("LynqNode",),
}
_METADATA: Final = ("name", "namespace", "labels", "annotations")
_OPERATOR_PREFIXES: Final = (tenants.PREFIX, "multigres.com/", "drain.multigres.com/")
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def convert(manifest: Part) -> Converted:
    version, kind = str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
    if kind in _MADE.get(version, ()):
        return Converted((), (Note(LOST, "", "left out: the operator makes it again"),))
    if version == f"{tenants.GROUP}/v1" and kind in _LYNQ_KINDS:
        return _convert_kind(manifest, TENANTS, _LYNQ_KINDS[kind])
    if kind in _SPECS and version in (MULTIGRES, TENANTS):
        return _convert_kind(manifest, version, kind)
    return Converted((manifest,))


def _convert_kind(manifest: Part, version: str, kind: str) -> Converted:
    notes = Notes()
    metadata = _metadata(parts_of(manifest.get("metadata")), notes)
    spec = deepcopy(parts_of(manifest.get("spec")))
    if kind == "MultigresCluster":
        clusters.note_running_cluster(manifest, notes)
    made = _convert_spec(str(manifest.get("kind")), str(metadata.get("name", "")), spec, notes)
    remove_unknown_fields(spec, _schema(kind), "spec", notes)
    _place(made, metadata)
    converted = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
    return Converted((*made, converted), tuple(notes.found))


def _convert_spec(kind: str, name: str, spec: Part, notes: Notes) -> list[Part]:
    match kind:
        case "MultigresCluster":
            return clusters.convert_cluster(name, spec, notes)
        case "ShardTemplate":
            return clusters.convert_shard_template(name, spec, notes)
        case "CoreTemplate":
            clusters.convert_core_template(spec, notes)
        case "CellTemplate":
            clusters.convert_cell_template(spec, notes)
        case "LynqHub":
            tenants.convert_hub(spec, notes)
        case "LynqForm":
            tenants.convert_form(spec, notes)
    return []


@cache
def _schema(kind: str) -> Mapping[str, Any]:
    return schema_of(_SPECS[kind])


def _metadata(metadata: Part, notes: Notes) -> Part:
    """Without what a server or an operator wrote: a file may come from `kubectl get -o yaml`."""
    kept: Part = {name: deepcopy(metadata[name]) for name in _METADATA if name in metadata}
    for field in ("labels", "annotations"):
        written = parts_of(kept.get(field))
        for key in [key for key in written if key.startswith(_OPERATOR_PREFIXES) or key == _LAST_APPLIED]:
            del written[key]
            if key != _LAST_APPLIED:
                notes.lost(f"metadata.{field}.{key}", "it is a mark of the other operator")
        if field in kept and not written:
            del kept[field]
    return kept


def _place(made: list[Part], metadata: Part) -> None:
    """Further objects belong into the namespace of the object that needs them."""
    for each in made:
        if "namespace" in metadata:
            each["metadata"]["namespace"] = metadata["namespace"]
