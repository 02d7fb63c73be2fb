"""Sends frequent kubectl commands directly to the API server: the same requests with the same field managers.

A scenario makes hundreds of calls, and each kubectl process takes 0.1 s of a core. For a command that is not supported
here, or that the server rejects, the result is None, and the caller runs kubectl.
"""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.support import kubectl_apply, kubectl_waits
from tests.support.api_server import ApiServer, Kind, group_of
from tests.support.kubectl_command import KubectlCommand, parse_command

_MERGE = "application/merge-patch+json"
_PATCHES = {
    "merge": _MERGE,
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
_CREATED_BY_NAME = {"namespace": "Namespace", "serviceaccount": "ServiceAccount"}


def try_direct_call(server: ApiServer, args: tuple[str, ...], document: Any = None) -> Any:
    """Execute `args`: the objects for `get`, True for writes, None if kubectl must do it."""
    command = parse_command(args, document)
    verb = None if command is None else _VERBS.get(command.words[0])
    return None if command is None or verb is None else verb(server, command)


def _get(server: ApiServer, command: KubectlCommand) -> Any:
    known = ("--namespace", "--selector", "--field-selector", "--all-namespaces", "--show-managed-fields")
    if not command.only(*known) or len(command.words) not in (2, 3) or "/" in "".join(command.words):
        return None
    kinds = [server.kind(word) for word in command.words[1].split(",")]
    name = command.words[2] if len(command.words) == 3 else ""
    if name and len(kinds) > 1:
        return None
    found = [None if kind is None else _list_objects(server, kind, name, command) for kind in kinds]
    if any(each is None for each in found):
        return None
    items = [item for each in found if each is not None for item in each]
    return items[0] if name else {"apiVersion": "v1", "kind": "List", "items": items}


def _list_objects(server: ApiServer, kind: Kind, name: str, command: KubectlCommand) -> list[Any] | None:
    chosen = {
        "labelSelector": command.options.get("--selector"),
        "fieldSelector": command.options.get("--field-selector"),
    }
    query = urlencode({key: value for key, value in chosen.items() if value})
    answer = server.call("GET", f"{kind.path(command.namespace, name)}?{query}")
    if answer.status != 200:
        return None
    found = answer.json()
    return [_as_kubectl_prints(item, kind, command) for item in ([found] if name else found["items"])]


def _as_kubectl_prints(item: Any, kind: Kind, command: KubectlCommand) -> Any:
    """Items of a list lack kind and version; kubectl adds them, and hides managedFields."""
    if not command.has("--show-managed-fields"):
        item["metadata"].pop("managedFields", None)
    return {"apiVersion": kind.api_version, "kind": kind.kind, **item}


def _apply(server: ApiServer, command: KubectlCommand) -> Any:
    if not command.has("--server-side"):
        return kubectl_apply.apply_client_side(server, command)
    known = ("--namespace", "--filename", "--server-side", "--force-conflicts", "--field-manager")
    if not command.only(*known) or not command.has("--server-side", "--filename") or command.document is None:
        return None
    query = {
        "fieldManager": command.options.get("--field-manager", "kubectl"),
        "fieldValidation": "Strict",
        "force": command.options.get("--force-conflicts", "false"),
    }
    return _send_manifest(server, "PATCH", command, query, "application/apply-patch+yaml")


def _create(server: ApiServer, command: KubectlCommand) -> Any:
    manifest = _created_manifest(command)
    if manifest is None:
        return None
    query = {"fieldManager": "kubectl-create", "fieldValidation": "Strict"}
    return _send_manifest(server, "POST", command._replace(document=manifest), query, "application/json")


def _created_manifest(command: KubectlCommand) -> Any:
    """The document, or the object that `KIND NAME` stands for."""
    if command.has("--filename") and command.only("--namespace", "--filename"):
        return command.document
    if len(command.words) != 3 or not command.only("--namespace") or command.words[1] not in _CREATED_BY_NAME:
        return None
    metadata = {"name": command.words[2]}
    return {"apiVersion": "v1", "kind": _CREATED_BY_NAME[command.words[1]], "metadata": metadata}


def _send_manifest(
    server: ApiServer, method: str, command: KubectlCommand, query: dict[str, str], content: str
) -> Any:
    """Only a single object: of a list, some could be written before another is rejected."""
    manifest = command.document
    kind = server.kind(f"{manifest['kind']}.{group_of(manifest)}")
    if kind is None or kind.api_version != manifest["apiVersion"]:
        return None
    name = manifest["metadata"]["name"] if method == "PATCH" else ""
    path = kind.path(command.with_default_namespace(manifest), name)
    answer = server.call(method, f"{path}?{urlencode(query)}", manifest, **{"Content-Type": content})
    return True if answer.status < 300 else None


def _annotate(server: ApiServer, command: KubectlCommand) -> Any:
    if (
        not command.only("--namespace", "--overwrite")
        or not command.has("--overwrite")
        or len(command.words) < 4
    ):
        return None
    given = [word.partition("=") for word in command.words[3:]]
    values = {
        name.removesuffix("-") if not equals else name: value if equals else None
        for name, equals, value in given
    }
    return _send_patch(server, command, {"metadata": {"annotations": values}}, _MERGE, "kubectl-annotate")


def _patch(server: ApiServer, command: KubectlCommand) -> Any:
    known = ("--namespace", "--type", "--patch", "--subresource", "--field-manager")
    if not command.only(*known) or not command.has("--patch") or len(command.words) != 3:
        return None
    content = _PATCHES[command.options.get("--type", "strategic")]
    manager = command.options.get("--field-manager", "kubectl-patch")
    return _send_patch(server, command, json.loads(command.options["--patch"]), content, manager)


def _send_patch(server: ApiServer, command: KubectlCommand, patch: Any, content: str, manager: str) -> Any:
    kind = server.kind(command.words[1])
    if kind is None or "/" in command.words[1] + command.words[2]:
        return None
    subresource = f"/{command.options['--subresource']}" if command.has("--subresource") else ""
    path = kind.path(command.namespace, command.words[2]) + subresource
    answer = server.call("PATCH", f"{path}?fieldManager={manager}", patch, **{"Content-Type": content})
    return True if answer.status < 300 else None


_VERBS: dict[str, Callable[[ApiServer, KubectlCommand], Any]] = {
    "annotate": _annotate,
    "apply": _apply,
    "create": _create,
    "delete": kubectl_waits.delete,
    "get": _get,
    "patch": _patch,
    "wait": kubectl_waits.wait,
}
