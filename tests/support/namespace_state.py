"""Describes what a namespace waits for, for the report of a failed test: mostly it shows why a wait was in vain."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.support.api_server import ApiServer

_KINDS: Final = tuple(f"{custom.kind}.{custom.group}" for custom in (*MULTIGRES_KINDS, *TENANT_KINDS))
_WORKLOADS: Final = ("Pod", "PersistentVolumeClaim")
_EVENTS: Final = 15


def namespaces_of(fixtures: Mapping[str, Any]) -> list[str]:
    """The namespaces that the fixtures of a test are about: names of them, and objects with a `namespace`."""
    named = [value for name, value in fixtures.items() if name in ("namespace", "long_namespace", "home")]
    found = [*named, *(getattr(value, "namespace", None) for value in fixtures.values())]
    return sorted({each for each in found if isinstance(each, str) and each})


def describe_namespace(server: ApiServer, namespace: str) -> str:
    """A line for each custom resource with its conditions, for pods and claims that are not ready, and for warnings."""
    custom = (line for kind in _KINDS for line in map(_conditions_line, _list(server, kind, namespace)))
    workloads = (line for kind in _WORKLOADS for line in _unready_lines(_list(server, kind, namespace)))
    events = [each for each in _list(server, "Event", namespace) if each.get("type") == "Warning"]
    warnings = [_event_line(each) for each in events[-_EVENTS:]]
    return "\n".join((*custom, *workloads, *warnings))


def _list(server: ApiServer, kind: str, namespace: str) -> list[Any]:
    found = server.kind(kind)
    answer = None if found is None else server.call("GET", found.path(namespace, ""))
    if found is None or answer is None or answer.status != 200:
        return []
    return [{"kind": found.kind, **item} for item in answer.json()["items"]]


def _conditions_line(item: Any) -> str:
    status = item.get("status") or {}
    conditions = "; ".join(
        f"{each['type']}={each['status']} {each.get('reason', '')}: {each.get('message', '')}"
        for each in status.get("conditions", [])
    )
    deletion = " is terminating" if item["metadata"].get("deletionTimestamp") else ""
    phase = status.get("phase", "without a phase")
    return f"{item['kind']} {item['metadata']['name']}{deletion}: {phase}: {conditions}"


def _unready_lines(items: Iterable[Any]) -> Iterator[str]:
    for item in items:
        status = item.get("status") or {}
        ready = [each["status"] for each in status.get("conditions", []) if each["type"] == "Ready"]
        if ready != ["True"] and status.get("phase") != "Bound":
            yield f"{item['kind']} {item['metadata']['name']}: {json.dumps(status)[:500]}"


def _event_line(event: Any) -> str:
    subject = event.get("involvedObject") or {}
    name = f"{subject.get('kind')} {subject.get('name')}"
    return f"{name}: {event.get('reason')}: {event.get('message')}"
