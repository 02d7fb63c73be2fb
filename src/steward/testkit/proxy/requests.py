"""Parses a request to an API server: verb, group, resource, namespace, name, subresource.

Pure. The verbs are those of the API server (get, list, watch, create, update, patch, delete, deletecollection), so that
the fault proxy, the audit log and RBAC use the same words.
"""

from collections.abc import Mapping

import msgspec

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parsed request; `resource` is empty for paths such as /version."""

    method: str
    path: str
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    user_agent: str = ""
    dry_run: bool = False

    @property
    def is_write(self) -> bool:
        """Whether it changes the stored state: reviews and dry runs do not."""
        return self.verb in WRITES and not self.dry_run and not self.resource.endswith("reviews")


def parse_call(method: str, path: str, query: Mapping[str, str], user_agent: str = "") -> Call:
    """Parse a request line; `path` is without the query."""
    common = {"method": method, "path": path, "user_agent": user_agent, "dry_run": "dryRun" in query}
    group, version, rest = _split(path)
    if not version or not rest:
        return Call(verb=method.lower(), **common)  # type: ignore[arg-type]
    target = _target(rest)
    verb = _verb(method, query, target)
    return Call(verb=verb, group=group, version=version, **target, **common)  # type: ignore[arg-type]


def _split(path: str) -> tuple[str, str, list[str]]:
    parts = [part for part in path.split("/") if part]
    match parts:
        case ["api", version, *rest]:
            return "", version, rest
        case ["apis", group, version, *rest]:
            return group, version, rest
    return "", "", []


def _target(rest: list[str]) -> dict[str, str]:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (
        (*rest[:2], "/".join(rest[2:]), "")[:3] if len(rest) > 1 else (rest[0], "", "")
    )
    return {"resource": resource, "subresource": subresource, "namespace": namespace, "name": name}


def _verb(method: str, query: Mapping[str, str], target: dict[str, str]) -> str:
    if method in ("GET", "HEAD"):
        if query.get("watch") in ("true", "1"):
            return "watch"
        return "get" if target["name"] else "list"
    if method == "DELETE":
        return "delete" if target["name"] else "deletecollection"
    return _VERBS.get(method, method.lower())
