"""What the defaulting webhook writes into a cluster, so that `kubectl get -o yaml` shows everything. Pure.

Only what no template provides is written out: a value written out wins over every template. What users wrote is never
changed. When a user later chooses another branch (a template in place of the written-out etcd), what stands there from
an earlier defaulting, and nothing else, is taken back: it belongs to no manager, so nobody else could.
"""

import copy
from typing import Any

from msgspec import to_builtins

from steward.multigres.api.scalars import is_cell_name
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.resolution.resolved import Templates

Spec = dict[str, Any]

TEMPLATE_KINDS = {"coreTemplate": "core", "cellTemplate": "cell", "shardTemplate": "shard"}


def with_defaults(spec: Spec, templates: Templates, before: Spec | None = None) -> Spec:
    """The spec with everything written out that no template provides. `before` is what an update changes."""
    written = copy.deepcopy(spec)
    _add(written, "pvcDeletionPolicy", to_builtins(RETAIN))
    _add(written, "backup", to_builtins(defaults.BACKUP))
    _add(written, "durabilityPolicy", defaults.DURABILITY)
    _images(written)
    _add(written, "logLevels", to_builtins(defaults.LOG_LEVELS))
    _template_defaults(written, templates, before or {})
    _core(written)
    _cells(written)
    _databases(written)
    return written


def _add(part: Spec, field: str, value: Any) -> None:
    if part.get(field) is None:
        part[field] = copy.deepcopy(value)


def _images(spec: Spec) -> None:
    images = spec.setdefault("images", {})
    _add(images, "imagePullPolicy", defaults.IMAGES.image_pull_policy)


def _template_defaults(spec: Spec, templates: Templates, before: Spec) -> None:
    # A cluster that was written out without templates keeps what stands there: a template called `default` that was
    # made since would otherwise come in with any edit, even of a label.
    is_settled = "durabilityPolicy" in before
    chosen = before.get("templateDefaults") or {}
    found = {
        field: defaults.DEFAULT_TEMPLATE
        for field, kind in TEMPLATE_KINDS.items()
        if defaults.DEFAULT_TEMPLATE in getattr(templates, kind) and (field in chosen or not is_settled)
    }
    if found:
        spec["templateDefaults"] = {**found, **(spec.get("templateDefaults") or {})}


def _is_templated(spec: Spec, field: str) -> bool:
    return bool((spec.get("templateDefaults") or {}).get(field))


def _core(spec: Spec) -> None:
    if _is_templated(spec, "coreTemplate"):
        return
    topo = spec.setdefault("globalTopoServer", {})
    if not topo.keys() & {"etcd", "external", "templateRef"}:
        topo["etcd"] = to_builtins(defaults.ETCD)
    for field, built_in in (
        ("multiadmin", defaults.MULTIADMIN),
        ("multiadminWeb", defaults.MULTIADMIN_WEB),
    ):
        admin = spec.setdefault(field, {})
        if not admin.keys() & {"spec", "templateRef"}:
            admin["spec"] = to_builtins(built_in)


def _cells(spec: Spec) -> None:
    for cell in spec.get("cells") or []:
        # A zone that cannot be a name is for validation to tell; the schema's words would be harder to read.
        if is_cell_name(_cell_name(cell)):
            _add(cell, "name", _cell_name(cell))
        if _is_templated(spec, "cellTemplate") or cell.keys() & {"spec", "cellTemplate", "overrides"}:
            continue
        cell["spec"] = {"multiGateway": to_builtins(defaults.GATEWAY)}


def _cell_name(cell: Spec) -> str:
    return cell.get("name") or cell.get("zone") or cell.get("region") or ""


def _databases(spec: Spec) -> None:
    databases = spec.setdefault("databases", [])
    _mark_default(databases, defaults.SYSTEM_DATABASE)
    for database in databases:
        groups = database.setdefault("tablegroups", [])
        _mark_default(groups, defaults.DEFAULT_TABLE_GROUP)
        for group in groups:
            shards = group.setdefault("shards", [])
            if not shards:
                shards.append({"name": defaults.DEFAULT_SHARD})
            for shard in shards:
                _shard(spec, shard)


def _mark_default(entries: list[Spec], name: str) -> None:
    """One entry is the default one: the marked one, else the one of the usual name, made if need be."""
    if any(entry.get("default") for entry in entries):
        return
    known = next((entry for entry in entries if entry.get("name") == name), None)
    if known is None:
        known = {"name": name}
        entries.insert(0, known)
    known["default"] = True


def _shard(spec: Spec, shard: Spec) -> None:
    if _is_templated(spec, "shardTemplate") or shard.keys() & {"spec", "shardTemplate", "overrides"}:
        return
    shard["spec"] = _default_shard()


def _default_shard() -> Spec:
    pools = {defaults.DEFAULT_POOL: to_builtins(defaults.POOL)}
    return {"multiorch": to_builtins(defaults.ORCHESTRATOR), "pools": pools}


def taken_back(spec: Spec) -> Spec:
    """On an update: the spec without what an earlier defaulting wrote where a template or another branch now rules."""
    kept = copy.deepcopy(spec)
    topo = kept.get("globalTopoServer") or {}
    if topo.keys() & {"external", "templateRef"} or _is_templated(kept, "coreTemplate"):
        _drop(topo, "etcd", to_builtins(defaults.ETCD))
    for field, built_in in (
        ("multiadmin", defaults.MULTIADMIN),
        ("multiadminWeb", defaults.MULTIADMIN_WEB),
    ):
        admin = kept.get(field) or {}
        if "templateRef" in admin or _is_templated(kept, "coreTemplate"):
            _drop(admin, "spec", to_builtins(built_in))
    for cell in kept.get("cells") or []:
        if cell.keys() & {"cellTemplate", "overrides"} or _is_templated(kept, "cellTemplate"):
            _drop(cell, "spec", {"multiGateway": to_builtins(defaults.GATEWAY)})
    for shard in _shards(kept):
        if shard.keys() & {"shardTemplate", "overrides"} or _is_templated(kept, "shardTemplate"):
            _drop(shard, "spec", _default_shard())
    return kept


def _shards(spec: Spec) -> list[Spec]:
    return [
        shard
        for database in spec.get("databases") or []
        for group in database.get("tablegroups") or []
        for shard in group.get("shards") or []
    ]


def _drop(part: Spec, field: str, materialised: Any) -> None:
    if part.get(field) == materialised:
        del part[field]
