"""What a user's apply of a file would send, so that its dry run shows the effect of that apply. Pure.

`kubectl apply` and `kubectl apply --server-side` differ in what a field means that is missing in the file. The live
object shows which one its user has used last:

    plain apply         an annotation keeps the manifest that was applied. Fields of it that the file no longer has are
                        removed; kubectl computes that patch itself (a three-way merge), and so does this module
    server-side apply   an entry of managedFields has the operation Apply. The API server removes the fields that the
                        manager of that entry owns and the file no longer has

Rejected: a server-side dry run for every object. After a plain apply it removes nothing, because the fields belong to
another manager: a preview would show a template without its Ingresses as harmless.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import Manifest, kind_of, ref_of
from steward.kube.objects.patches import MergePatch, StrategicPatch
from steward.runtime.plan.dry_run import LAST_APPLIED
from steward.runtime.plan.steps import Apply, Patch

KUBECTL: Final = "kubectl"
KUBECTL_CLIENT_SIDE: Final = "kubectl-client-side-apply"
_OPERATORS: Final = ("multigres-operator", "tenant-operator")
_MERGE_KEYS: Final = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "secrets": ("name",),
    "webhooks": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "hostAliases": ("ip",),
    "ports": ("containerPort", "port"),
    "topologySpreadConstraints": ("topologyKey",),
    "ownerReferences": ("uid",),
}
"""Lists of built-in kinds that a strategic merge patch merges item by item; it replaces every other list."""


def user_apply_step(manifest: Manifest, live: Manifest | None) -> Apply | Patch:
    """The step that does what the user's next apply of the manifest does."""
    if live is None:
        return Apply(manifest, force=False, manager=KUBECTL)
    if manager := _server_side_manager(live):
        return Apply(manifest, force=False, manager=manager)
    is_strategic = is_built_in(kind_of(manifest))
    changes = _three_way(_last_applied(live), _annotated(manifest), live, is_strategic=is_strategic)
    return Patch(ref_of(manifest), StrategicPatch(changes) if is_strategic else MergePatch(changes))


def _annotated(manifest: Manifest) -> Manifest:
    """With annotations, as kubectl sends it: the last applied manifest always has them, so they are never removed."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "annotations": metadata.get("annotations") or {}}}


def _server_side_manager(live: Manifest) -> str:
    """The user's manager of the last server-side apply; "" if the last apply was a plain one."""
    entries = [each for each in live["metadata"].get("managedFields") or () if not each.get("subresource")]
    applied = [each for each in entries if each["operation"] == "Apply" and each["manager"] not in _OPERATORS]
    plain = [each for each in entries if each["manager"] == KUBECTL_CLIENT_SIDE]
    latest = max(applied, key=_written_at, default=None)
    if latest is None or any(_written_at(each) > _written_at(latest) for each in plain):
        return ""
    return str(latest["manager"])


def _written_at(entry: Mapping[str, Any]) -> str:
    return str(entry.get("time", ""))


def _last_applied(live: Manifest) -> Manifest:
    """Empty if the object was never applied: then a plain apply removes nothing."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED, "")
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _three_way(previous: Any, new: Manifest, live: Any, *, is_strategic: bool) -> Manifest:
    """The new fields, and null for those that were applied before, are not among the new ones and still exist."""
    old, current = _as_map(previous), _as_map(live)
    removed = {name: None for name in old if name not in new and name in current}
    kept = {
        name: _changed_value(name, old.get(name), value, current.get(name), is_strategic=is_strategic)
        for name, value in new.items()
    }
    return {**removed, **kept}


def _changed_value(name: str, previous: Any, new: Any, live: Any, *, is_strategic: bool) -> Any:
    if isinstance(new, dict):
        return _three_way(previous, new, live, is_strategic=is_strategic)
    key = _merge_key(name, new) if is_strategic else ""
    return _merged_items(key, previous, new, live) if key else new


def _merge_key(name: str, items: Any) -> str:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return ""
    return next(
        (key for key in _MERGE_KEYS.get(name, ()) if items and all(key in item for item in items)), ""
    )


def _merged_items(key: str, previous: Any, new: list[Any], live: Any) -> list[Any]:
    """The new items, and a directive for each item that was applied before and is not among them."""
    old, current = _items_by_key(key, previous), _items_by_key(key, live)
    kept = [_three_way(old.get(item[key]), item, current.get(item[key]), is_strategic=True) for item in new]
    names = [item[key] for item in new]
    removed = [{"$patch": "delete", key: name} for name in old if name not in names and name in current]
    return [*kept, *removed]


def _items_by_key(key: str, items: Any) -> dict[Any, Any]:
    listed = items if isinstance(items, list) else []
    return {item[key]: item for item in listed if isinstance(item, dict) and key in item}


def _as_map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
