"""What tests ask of kubectl over and over, without a process for each: the same requests, by the same field managers.

A story looks at the server and writes to it hundreds of times, and each kubectl costs 0.1 s of a core. What is asked in
a way that is not known here, or refused by the server, is None: kubectl itself then does it, and says what it says.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.support.api_server import ApiServer, Kind

_SHORT = {
    "-n": "--namespace",
    "-l": "--selector",
    "-f": "--filename",
    "-p": "--patch",
    "-A": "--all-namespaces",
}
_SWITCHES = {
    "--all-namespaces",
    "--force-conflicts",
    "--overwrite",
    "--server-side",
    "--show-managed-fields",
}
_MERGE = "application/merge-patch+json"
_PATCHES = {
    "merge": _MERGE,
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


class Asked(NamedTuple):
    """A command line, taken apart."""

    words: list[str]
    options: dict[str, str]
    document: Any

    def has(self, *names: str) -> bool:
        return all(name in self.options for name in names)

    def only(self, *names: str) -> bool:
        return not set(self.options) - set(names)

    @property
    def namespace(self) -> str:
        return "" if self.has("--all-namespaces") else self.options.get("--namespace", "default")


def answered(server: ApiServer, args: tuple[str, ...], document: Any = None) -> Any:
    """What kubectl would answer to `args`: for `get` the objects, for all others something true. Or None."""
    asked = _taken_apart(args, document)
    verb = None if asked is None else _VERBS.get(asked.words[0])
    return None if asked is None or verb is None else verb(server, asked)


def _taken_apart(args: tuple[str, ...], document: Any) -> Asked | None:
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(args)
    for word in rest:
        option, equals, value = word.partition("=")
        option = _SHORT.get(option, option)
        if not word.startswith("-") or word == "-":
            words.append(word)
        elif option in _SWITCHES:
            options[option] = value or "true"
        else:
            options[option] = value if equals else next(rest, "")
    return Asked(words, options, document) if words else None


def _get(server: ApiServer, asked: Asked) -> Any:
    known = ("--namespace", "--selector", "--field-selector", "--all-namespaces", "--show-managed-fields")
    if not asked.only(*known) or len(asked.words) not in (2, 3) or "/" in "".join(asked.words):
        return None
    kinds = [server.kind(word) for word in asked.words[1].split(",")]
    name = asked.words[2] if len(asked.words) == 3 else ""
    if name and len(kinds) > 1:
        return None
    found = [None if kind is None else _listed(server, kind, name, asked) for kind in kinds]
    if any(each is None for each in found):
        return None
    items = [item for each in found if each is not None for item in each]
    return items[0] if name else {"apiVersion": "v1", "kind": "List", "items": items}


def _listed(server: ApiServer, kind: Kind, name: str, asked: Asked) -> list[Any] | None:
    chosen = {
        "labelSelector": asked.options.get("--selector"),
        "fieldSelector": asked.options.get("--field-selector"),
    }
    query = urlencode({key: value for key, value in chosen.items() if value})
    answer = server.call("GET", f"{kind.path(asked.namespace, name)}?{query}")
    if answer.status != 200:
        return None
    found = answer.json()
    return [_shown(item, kind, asked) for item in ([found] if name else found["items"])]


def _shown(item: Any, kind: Kind, asked: Asked) -> Any:
    """A list of the server's leaves kind and version out; kubectl writes them in, and hides who owns what."""
    if not asked.has("--show-managed-fields"):
        item["metadata"].pop("managedFields", None)
    return {"apiVersion": kind.api_version, "kind": kind.kind, **item}


def _apply(server: ApiServer, asked: Asked) -> Any:
    """Server-side only: what kubectl does on its own side is kubectl's."""
    known = ("--namespace", "--filename", "--server-side", "--force-conflicts", "--field-manager")
    if not asked.only(*known) or not asked.has("--server-side", "--filename") or asked.document is None:
        return None
    query = {
        "fieldManager": asked.options.get("--field-manager", "kubectl"),
        "fieldValidation": "Strict",
        "force": asked.options.get("--force-conflicts", "false"),
    }
    return _sent(server, "PATCH", asked, query, "application/apply-patch+yaml")


def _create(server: ApiServer, asked: Asked) -> Any:
    known = asked.only("--namespace", "--filename") and asked.has("--filename")
    if not known or asked.document is None:
        return None
    query = {"fieldManager": "kubectl-create", "fieldValidation": "Strict"}
    return _sent(server, "POST", asked, query, "application/json")


def _sent(server: ApiServer, method: str, asked: Asked, query: dict[str, str], content: str) -> Any:
    """One object: of a list, some could be sent before another is refused."""
    manifest = asked.document
    kind = server.kind(f"{manifest['kind']}.{_group(manifest)}")
    if kind is None or kind.api_version != manifest["apiVersion"]:
        return None
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace") or asked.namespace
    path = kind.path(namespace, metadata["name"] if method == "PATCH" else "")
    answer = server.call(method, f"{path}?{urlencode(query)}", manifest, **{"Content-Type": content})
    return True if answer.status < 300 else None


def _group(manifest: Any) -> str:
    return str(manifest["apiVersion"]).rpartition("/")[0]


def _annotate(server: ApiServer, asked: Asked) -> Any:
    if not asked.only("--namespace", "--overwrite") or not asked.has("--overwrite") or len(asked.words) < 4:
        return None
    given = [word.partition("=") for word in asked.words[3:]]
    values = {
        name.removesuffix("-") if not equals else name: value if equals else None
        for name, equals, value in given
    }
    return _patched(server, asked, {"metadata": {"annotations": values}}, _MERGE, "kubectl-annotate")


def _patch(server: ApiServer, asked: Asked) -> Any:
    known = ("--namespace", "--type", "--patch", "--subresource", "--field-manager")
    if not asked.only(*known) or not asked.has("--patch") or len(asked.words) != 3:
        return None
    content = _PATCHES[asked.options.get("--type", "strategic")]
    manager = asked.options.get("--field-manager", "kubectl-patch")
    return _patched(server, asked, json.loads(asked.options["--patch"]), content, manager)


def _patched(server: ApiServer, asked: Asked, patch: Any, content: str, manager: str) -> Any:
    kind = server.kind(asked.words[1])
    if kind is None or "/" in asked.words[1] + asked.words[2]:
        return None
    below = f"/{asked.options['--subresource']}" if asked.has("--subresource") else ""
    path = kind.path(asked.namespace, asked.words[2]) + below
    answer = server.call("PATCH", f"{path}?fieldManager={manager}", patch, **{"Content-Type": content})
    return True if answer.status < 300 else None


def _delete(server: ApiServer, asked: Asked) -> Any:
    """One object, and only where kubectl would not wait for its end."""
    if not asked.only("--namespace", "--wait", "--cascade") or asked.options.get("--wait") != "false":
        return None
    kind = server.kind(asked.words[1]) if len(asked.words) == 3 else None
    if kind is None or "/" in asked.words[1] + asked.words[2]:
        return None
    policy = asked.options.get("--cascade", "background").capitalize()
    answer = server.call("DELETE", kind.path(asked.namespace, asked.words[2]), {"propagationPolicy": policy})
    return True if answer.status < 300 else None


_VERBS: dict[str, Callable[[ApiServer, Asked], Any]] = {
    "annotate": _annotate,
    "apply": _apply,
    "create": _create,
    "delete": _delete,
    "get": _get,
    "patch": _patch,
}
