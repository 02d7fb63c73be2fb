"""The defaults of the schema, for API servers and clients that do not apply them. Pure."""

from typing import Any, Final

from steward.kube.objects.kinds import Manifest
from steward.tenants.api.lists import LISTS
from steward.tenants.api.resource import DEFAULT_TIMEOUT_SECONDS
from steward.tenants.api.source import DEFAULT_INTERVAL, MYSQL_PORT, POSTGRES_PORT

_RESOURCE: Final = {
    "creationPolicy": "WhenNeeded",
    "deletionPolicy": "Delete",
    "conflictPolicy": "Stuck",
    "waitForReady": True,
    "timeoutSeconds": DEFAULT_TIMEOUT_SECONDS,
    "patchStrategy": "apply",
}
_PORTS: Final = {"mysql": MYSQL_PORT, "postgres": POSTGRES_PORT}
_LISTS: Final = frozenset(each.field for each in LISTS)


def default_registry(spec: Manifest) -> Manifest:
    """A port of 0 counts as omitted, as in the Go operator."""
    source = _map(spec.get("source"))
    blocks = {
        kind: {**source[kind], "port": source[kind].get("port") or port}
        for kind, port in _PORTS.items()
        if isinstance(source.get(kind), dict)
    }
    interval = source.get("syncInterval") or DEFAULT_INTERVAL
    return {**spec, "source": {**source, **blocks, "syncInterval": interval}}


def default_template(spec: Manifest) -> Manifest:
    return {name: _resources(value) if name in _LISTS else value for name, value in spec.items()}


def _resources(found: Any) -> Any:
    if not isinstance(found, list):
        return found
    return [{**_RESOURCE, **_given(each)} if isinstance(each, dict) else each for each in found]


def _given(resource: Manifest) -> Manifest:
    """Drops empty policies and timeouts of 0: they count as omitted."""
    return {
        name: value
        for name, value in resource.items()
        if name not in _RESOURCE or (value is not None and value != "" and not _is_zero(value))
    }


def _is_zero(value: Any) -> bool:
    return value == 0 and value is not False


def _map(found: Any) -> Manifest:
    return found if isinstance(found, dict) else {}
