"""One spelling for each value, so that what means the same on the server has the same digest.

Built-in kinds pass through Go types, which drop empty values and print quantities, times and bytes anew. Custom
resources are stored as they were sent, so of them only what is a quantity by its place is read as one.
"""

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from steward.kube.objects.kinds import SECRET, Kind
from steward.kube.objects.quantity import canonical_quantity

Canonical = Callable[[Any], Any]
Path = tuple[str, ...]

BUILT_IN_GROUPS: Final = frozenset(
    (
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    )
)

_AMOUNTS: Final = frozenset(("limits", "requests", "capacity", "hard", "overhead"))
_STORED_AMOUNTS: Final = frozenset(("limits", "requests"))
_AMOUNT: Final = frozenset(("averageValue", "divisor", "sizeLimit"))
# Maps whose keys are the user's: what a key is called there says nothing about its value.
_FREE: Final = frozenset(("annotations", "data", "labels", "matchLabels", "nodeSelector"))
_MORE_THAN_PLAIN: Final = frozenset((dict, list, float))


# What the server itself writes into atomic values of built-in kinds, by the name of the map (or of the list that
# holds it) and of the field. Left out on both sides, it needs no question to the server.
_DEFAULTS: Final[dict[tuple[str, str], Any]] = {
    ("fieldRef", "apiVersion"): "v1",
    ("ports", "protocol"): "TCP",
    ("resourceFieldRef", "divisor"): "0",
    ("rules", "scope"): "*",
    ("serviceAccountToken", "expirationSeconds"): 3600,
    ("spec", "volumeMode"): "Filesystem",
    ("subjects", "apiGroup"): "rbac.authorization.k8s.io",
    ("volumeClaimTemplates", "apiVersion"): "v1",
    ("volumeClaimTemplates", "kind"): "PersistentVolumeClaim",
    ("volumeClaimTemplates", "status"): {"phase": "Pending"},
}

# Built-in maps that are applied as one value wherever a field has this name.
_ATOMIC_MAPS: Final = frozenset(
    (
        "claimRef",
        "configMapKeyRef",
        "dataSource",
        "fieldRef",
        "labelSelector",
        "matchConstraints",
        "matchResources",
        "namespaceSelector",
        "nodeSelector",
        "objectSelector",
        "paramKind",
        "paramRef",
        "podSelector",
        "port",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "resourceFieldRef",
        "roleRef",
        "scopeSelector",
        "secretKeyRef",
        "selector",
    )
)


def is_atomic_map(kind: Kind, path: Path) -> bool:
    """An item of a keyed list holds at least its key, so one that is owned whole cannot have been empty."""
    return path[-1].startswith("k:") or (path[-1] in _ATOMIC_MAPS and is_built_in(kind))


def is_built_in(kind: Kind) -> bool:
    return kind.group in BUILT_IN_GROUPS


def canonical_for(kind: Kind, path: Path) -> Canonical:
    """How to spell the value that an owned path of this kind leads to."""
    parent, name = ("", *path)[-2:]
    if not is_built_in(kind):
        return _stored_amount if parent in _STORED_AMOUNTS else _as_sent
    if (kind == SECRET and path[0] == "data") or path[0] == "binaryData":
        return _bytes
    if parent in _FREE:
        return _through_go
    return _by_name(parent, name)


def _by_name(parent: str, name: str) -> Canonical:
    if _is_amount(parent, name):
        return _amount
    if name == "caBundle":
        return _bytes
    if name.endswith(("Time", "Timestamp")):
        return _time
    return _through_go_as(parent if name.startswith("k:") else name)


def _is_amount(parent: str, name: str) -> bool:
    return parent in _AMOUNTS or name in _AMOUNT or (parent, name) == ("target", "value")


def _through_go_as(name: str) -> Canonical:
    """For the value of a field of this name."""

    def spelt(value: Any) -> Any:
        if not value:
            return None
        return _plain_built_in(value, "", name) if type(value) in _MORE_THAN_PLAIN else value

    return spelt


_through_go = _through_go_as("")


def _as_sent(value: Any) -> Any:
    return _plain_custom(value) if type(value) in _MORE_THAN_PLAIN else value


def _amount(value: Any) -> Any:
    if not value or type(value) in (dict, list, bool):
        return _through_go(value)
    amount = canonical_quantity(value)
    return value if amount is None else None if amount == "0" else amount


def _stored_amount(value: Any) -> Any:
    amount = canonical_quantity(value) if type(value) is str else None
    return _as_sent(value) if amount is None else "=" + amount


def _bytes(value: Any) -> Any:
    if type(value) is not str:
        return _through_go(value)
    try:
        plain = base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
        return base64.b64encode(plain).decode() or None
    except binascii.Error:
        return value


def _time(value: Any) -> Any:
    if type(value) is not str:
        return _through_go(value)
    try:
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    except ValueError:
        return value or None


def _plain_built_in(value: Any, parent: str, name: str) -> Any:
    """Inside an atomic value an empty thing and none differ (a selector of all and no selector): only null goes."""
    kind_of_value = type(value)
    if kind_of_value is dict:
        return {
            key: _plain_built_in(item, name, key)
            for key, item in value.items()
            if item is not None and item != _DEFAULTS.get((name, key))
        }
    if kind_of_value is list:
        return [_plain_built_in(item, parent, name) for item in value]
    if kind_of_value in (str, int, float) and _is_amount(parent, name):
        return canonical_quantity(value) or value
    return int(value) if kind_of_value is float and value.is_integer() else value


def _plain_custom(value: Any, parent: str = "", name: str = "") -> Any:
    kind_of_value = type(value)
    if kind_of_value is dict:
        return {key: _plain_custom(item, name, key) for key, item in value.items() if item is not None}
    if kind_of_value is list:
        return [_plain_custom(item, parent, name) for item in value]
    if parent in _STORED_AMOUNTS:
        return _stored_amount(value)
    return int(value) if kind_of_value is float and value.is_integer() else value
