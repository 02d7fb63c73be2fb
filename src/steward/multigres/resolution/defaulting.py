"""Defaults that the mutating webhook writes into a cluster, so that `kubectl get -o yaml` shows all values. Pure.

Only fields that no template provides get a default, because a value in the spec overrides every template. Values of
users are never changed. When a user later chooses an alternative (a template instead of the defaulted etcd), the value
of an earlier defaulting is removed: no field manager owns it, so the user's apply cannot remove it.
"""

import copy
from typing import Any

from msgspec import to_builtins

from steward.multigres.api.scalars import is_cell_name
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.repositories import defaulted_backup
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.resolution.resolved import Templates

Spec = dict[str, Any]

TEMPLATE_KINDS = {"coreTemplate": "core", "cellTemplate": "cell", "shardTemplate": "shard"}


def with_defaults(spec: Spec, templates: Templates, previous: Spec | None = None) -> Spec:
    """The spec with defaults for all fields that no template provides. `previous` is the spec before an update."""
    defaulted = copy.deepcopy(spec)
    _set_default(defaulted, "pvcDeletionPolicy", to_builtins(RETAIN))
    _set_default(defaulted, "backup", defaulted_backup(defaulted))
    _set_default(defaulted, "durabilityPolicy", defaults.DURABILITY)
    _images(defaulted)
    _set_default(defaulted, "logLevels", to_builtins(defaults.LOG_LEVELS))
    _template_defaults(defaulted, templates, previous or {})
    _core(defaulted)
    _cells(defaulted)
    _databases(defaulted)
    return defaulted


def _set_default(part: Spec, field: str, value: Any) -> None:
    if part.get(field) is None:
        part[field] = copy.deepcopy(value)


def _images(spec: Spec) -> None:
    images = spec.setdefault("images", {})
    _set_default(images, "imagePullPolicy", defaults.IMAGES.image_pull_policy)


def _template_defaults(spec: Spec, templates: Templates, previous: Spec) -> None:
    # A cluster that was defaulted without templates keeps its values: otherwise a template named `default` that was
    # created later would be applied with any edit, even of a label.
    is_defaulted = "durabilityPolicy" in previous
    previous_defaults = previous.get("templateDefaults") or {}
    added = {
        field: defaults.DEFAULT_TEMPLATE
        for field, kind in TEMPLATE_KINDS.items()
        if defaults.DEFAULT_TEMPLATE in getattr(templates, kind)
        and (field in previous_defaults or not is_defaulted)
    }
    if added:
        spec["templateDefaults"] = {**added, **(spec.get("templateDefaults") or {})}


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
        # Validation reports a zone that is no valid name: its message is clearer than the schema's.
        if is_cell_name(_cell_name(cell)):
            _set_default(cell, "name", _cell_name(cell))
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
    """Marks one entry as default: the marked one, otherwise the one named `name`, which is added if missing."""
    if any(entry.get("default") for entry in entries):
        return
    default = next((entry for entry in entries if entry.get("name") == name), None)
    if default is None:
        default = {"name": name}
        entries.insert(0, default)
    default["default"] = True


def _shard(spec: Spec, shard: Spec) -> None:
    if _is_templated(spec, "shardTemplate") or shard.keys() & {"spec", "shardTemplate", "overrides"}:
        return
    shard["spec"] = _default_shard()


def _default_shard() -> Spec:
    pools = {defaults.DEFAULT_POOL: to_builtins(defaults.POOL)}
    return {"multiorch": to_builtins(defaults.ORCHESTRATOR), "pools": pools}


def without_stale_defaults(spec: Spec) -> Spec:
    """The spec without earlier defaults where a template or an alternative now applies."""
    updated = copy.deepcopy(spec)
    topo = updated.get("globalTopoServer") or {}
    if topo.keys() & {"external", "templateRef"} or _is_templated(updated, "coreTemplate"):
        _drop_default(topo, "etcd", to_builtins(defaults.ETCD))
    for field, built_in in (
        ("multiadmin", defaults.MULTIADMIN),
        ("multiadminWeb", defaults.MULTIADMIN_WEB),
    ):
        admin = updated.get(field) or {}
        if "templateRef" in admin or _is_templated(updated, "coreTemplate"):
            _drop_default(admin, "spec", to_builtins(built_in))
    for cell in updated.get("cells") or []:
        if cell.keys() & {"cellTemplate", "overrides"} or _is_templated(updated, "cellTemplate"):
            _drop_default(cell, "spec", {"multiGateway": to_builtins(defaults.GATEWAY)})
    for shard in _shards(updated):
        if shard.keys() & {"shardTemplate", "overrides"} or _is_templated(updated, "shardTemplate"):
            _drop_default(shard, "spec", _default_shard())
    return updated


def _shards(spec: Spec) -> list[Spec]:
    return [
        shard
        for database in spec.get("databases") or []
        for group in database.get("tablegroups") or []
        for shard in group.get("shards") or []
    ]


def _drop_default(part: Spec, field: str, default: Any) -> None:
    if part.get(field) == default:
        del part[field]
