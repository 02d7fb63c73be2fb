"""Client-side apply without kubectl where it is simple: objects that do not exist, and objects without a difference.

kubectl creates an object with an annotation that holds the manifest, and sends nothing for an object that has the same
annotation and all fields of the manifest. For any other object the caller runs kubectl, which computes a patch; what
was applied before is then found without a difference.
"""

import json
from typing import Any

from tests.support.api_server import ApiServer, Kind, group_of
from tests.support.kubectl_command import KubectlCommand

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_CREATE = "fieldManager=kubectl-client-side-apply&fieldValidation=Strict"
# As Go writes them in JSON.
_ESCAPED = {"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"}


def apply_client_side(server: ApiServer, command: KubectlCommand) -> bool | None:
    """True if every object of the document was applied, None if kubectl must do it."""
    if not command.only("--namespace", "--filename") or command.document is None:
        return None
    document = command.document
    manifests = document["items"] if document["kind"] == "List" else [document]
    return True if all(_apply(server, command, manifest) for manifest in manifests) else None


def _apply(server: ApiServer, command: KubectlCommand, manifest: Any) -> bool:
    kind = server.kind(f"{manifest['kind']}.{group_of(manifest)}")
    if kind is None or kind.api_version != manifest["apiVersion"]:
        return False
    namespace = command.with_default_namespace(manifest) if kind.is_namespaced else ""
    desired = _with_last_applied(manifest, namespace)
    found = server.call("GET", kind.path(namespace, manifest["metadata"]["name"]))
    if found.status == 404:
        return _create(server, kind, namespace, desired)
    return found.status == 200 and contains(found.json(), desired)


def _create(server: ApiServer, kind: Kind, namespace: str, desired: Any) -> bool:
    return server.call("POST", f"{kind.path(namespace)}?{_CREATE}", desired).status == 201


def _with_last_applied(manifest: Any, namespace: str) -> Any:
    metadata = {**manifest["metadata"], "annotations": manifest["metadata"].get("annotations") or {}}
    if namespace:
        metadata["namespace"] = namespace
    text = _as_kubectl_writes({**manifest, "metadata": metadata})
    return {
        **manifest,
        "metadata": {**metadata, "annotations": {**metadata["annotations"], LAST_APPLIED: text}},
    }


def _as_kubectl_writes(manifest: Any) -> str:
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return f"{text}\n"


def contains(current: Any, desired: Any) -> bool:
    """Whether an object has all these fields; lists must be equal."""
    if not isinstance(desired, dict) or not isinstance(current, dict):
        return bool(current == desired)
    return all(name in current and contains(current[name], value) for name, value in desired.items())
