"""Objects of a namespace in a form in which two lives can be compared. Pure.

Removed: what the API server, a controller or chance chooses (uids, times, addresses, passwords), and counters that
depend on the number of edits (generations, revisions). What remains is equal wherever the desired state is equal.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Manifest = dict[str, Any]
Snapshot = dict[str, Manifest]

NAMESPACE = "<namespace>"
_METADATA = frozenset({"name", "labels", "annotations", "finalizers"})
_IGNORED_KEYS = frozenset(
    {
        # of Kubernetes
        "clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort", "volumeName", "nodeName", "resourceVersion",
        "observedGeneration", "creationTimestamp", "lastTransitionTime", "uid",
        # of the operators
        "message", "lastSyncTime", "lastSyncDuration", "startTime", "lastProgressTime", "completionTime", "changedAt",
        "generation", "templateGeneration", "targetGeneration", "appliedTemplateGenerations",
        "availableTemplateRevision", "nextUpdateWindow", "retainedClaims", "digest", "backupCertificate",
        "backupCertificateExpiry",
        # of the data plane: which server leads, and since when; the names, times and sizes of its backups
        "primary", "primaryCell", "role", "since", "lag", "lastBackup", "lastBackupAt", "lastBackupBytes",
        "nextBackupAt", "repositoryBytes",
    }
)  # fmt: skip
_IGNORED_NAMES = (
    "kubectl.kubernetes.io/",
    "deployment.kubernetes.io/",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    # of pods, from the node that the scheduler chose
    "topology.kubernetes.io/",
    "controller-revision-hash",
    "pod-template-hash",
    "multigres.com/template-",
    "kubernetes-tenants.org/template-generation",
)
_STATUS_OF_WORKLOADS = ("replicas", "readyReplicas", "updatedReplicas")


def take_snapshot(objects: Iterable[Manifest], namespace: str) -> Snapshot:
    """Objects by `Kind/name`, with their namespace replaced."""
    return {object_name(each): _replace(_comparable(each), namespace) for each in objects}


def object_name(each: Mapping[str, Any]) -> str:
    return f"{each['kind']}/{each['metadata']['name']}"


def differences(live: Snapshot, reference: Snapshot) -> list[str]:
    """What differs, a line a field; `live` first."""
    lines = [f"{name}: exists, and not in the reference" for name in sorted(live.keys() - reference.keys())]
    lines += [f"{name}: is missing" for name in sorted(reference.keys() - live.keys())]
    for name in sorted(live.keys() & reference.keys()):
        lines += [f"{name}{line}" for line in _differences(live[name], reference[name])]
    return lines


def _comparable(each: Manifest) -> Manifest:
    kind, metadata = each["kind"], each["metadata"]
    found: Manifest = {name: value for name, value in metadata.items() if name in _METADATA}
    for names in ("labels", "annotations"):
        found[names] = _without_ignored_names(found.get(names) or {})
    found["owners"] = sorted(
        f"{owner['kind']}/{owner['name']}" for owner in metadata.get("ownerReferences", ())
    )
    found["terminating"] = "deletionTimestamp" in metadata
    rest = {name: value for name, value in each.items() if name not in ("apiVersion", "kind", "metadata")}
    return {"metadata": found, **_cleaned(_BY_KIND.get(kind, _unchanged)(rest))}


def _unchanged(content: Manifest) -> Manifest:
    return content


def _keys_only(content: Manifest) -> Manifest:
    # An authority that was replaced stays trusted for a day (certificates/renewal.py).
    keys = set(content.get("data") or {}) - {"previous.crt"}
    return {"type": content.get("type"), "keys": sorted(keys)}


def _workload(content: Manifest) -> Manifest:
    status = content.get("status") or {}
    return {"spec": content["spec"], "status": {name: status.get(name, 0) for name in _STATUS_OF_WORKLOADS}}


def _containers(content: Manifest) -> Manifest:
    parts = ("initContainers", "containers")
    containers = [
        {"name": each["name"], "image": each["image"]}
        for part in parts
        for each in content["spec"].get(part, ())
    ]
    return {"containers": containers}


def _spec_only(content: Manifest) -> Manifest:
    return {name: value for name, value in content.items() if name != "status"}


_BY_KIND = {
    "Secret": _keys_only,
    "StatefulSet": _workload,
    "Deployment": _workload,
    "Pod": _containers,
    "Service": _spec_only,
    "PersistentVolumeClaim": _spec_only,
    "PodDisruptionBudget": _spec_only,
}


def _without_ignored_names(names: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in names.items() if not name.startswith(_IGNORED_NAMES)}


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cleaned(each) for key, each in value.items() if key not in _IGNORED_KEYS}
    if isinstance(value, list):
        items = [_cleaned(each) for each in value]
        return sorted(items, key=lambda item: item["type"]) if _are_conditions(items) else items
    return value


def _are_conditions(items: list[Any]) -> bool:
    return bool(items) and all(
        isinstance(item, dict) and {"type", "status", "reason"} <= item.keys() for item in items
    )


def _replace(value: Any, namespace: str) -> Any:
    if isinstance(value, dict):
        return {_replace(key, namespace): _replace(each, namespace) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace(each, namespace) for each in value]
    return value.replace(namespace, NAMESPACE) if isinstance(value, str) else value


def _differences(live: Any, reference: Any, path: str = "") -> Iterator[str]:
    if isinstance(live, dict) and isinstance(reference, dict):
        for key in sorted(live.keys() | reference.keys()):
            yield from _differences(live.get(key), reference.get(key), f"{path}.{key}")
    elif isinstance(live, list) and isinstance(reference, list) and len(live) == len(reference):
        for number, (mine, other) in enumerate(zip(live, reference, strict=True)):
            yield from _differences(mine, other, f"{path}[{number}]")
    elif live != reference:
        yield f"{path}: {_short(live)} instead of {_short(reference)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
