"""Canonical forms of values: values that the API server stores alike become equal.

The server decodes built-in kinds into Go types, which drop empty values and rewrite quantities, times and bytes. It
stores custom resources as they were sent, so there only values at the usual places of quantities are rewritten.
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

_QUANTITY_MAPS: Final = frozenset(("limits", "requests", "capacity", "hard", "overhead"))
_CUSTOM_QUANTITY_MAPS: Final = frozenset(("limits", "requests"))
_QUANTITY_FIELDS: Final = frozenset(("averageValue", "divisor", "sizeLimit"))
# Maps with keys that users choose: the name of a key there says nothing about its value.
_USER_KEYED_MAPS: Final = frozenset(("annotations", "data", "labels", "matchLabels", "nodeSelector"))
_NOT_SCALAR: Final = frozenset((dict, list, float))
_UNCHANGED: Final = frozenset((str, int, bool))


# Defaults that the server adds inside atomic values of built-in kinds, by the name of the map (or of the list that
# contains it) and of the field. They are left out of both sides of a comparison, which saves a dry run.
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

# Fields of built-in kinds that are atomic maps wherever they occur.
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
    """An item of a keyed list has at least its key, so an item that is owned as a whole was not applied empty."""
    return path[-1].startswith("k:") or (path[-1] in _ATOMIC_MAPS and is_built_in(kind))


def is_built_in(kind: Kind) -> bool:
    return kind.group in BUILT_IN_GROUPS


def canonical_for(kind: Kind, path: Path) -> Canonical:
    """The function that brings the value at a path of this kind into canonical form."""
    parent, name = ("", *path)[-2:]
    if not is_built_in(kind):
        return _custom_quantity if parent in _CUSTOM_QUANTITY_MAPS else _custom_value
    if (kind == SECRET and path[0] == "data") or path[0] == "binaryData":
        return _bytes
    if parent in _USER_KEYED_MAPS:
        return _built_in_value
    return _by_name(parent, name)


def _by_name(parent: str, name: str) -> Canonical:
    if _is_quantity(parent, name):
        return _quantity
    if name == "caBundle":
        return _bytes
    if name.endswith(("Time", "Timestamp")):
        return _time
    return _built_in_value_of(parent if name.startswith("k:") else name)


def _is_quantity(parent: str, name: str) -> bool:
    return parent in _QUANTITY_MAPS or name in _QUANTITY_FIELDS or (parent, name) == ("target", "value")


def _built_in_value_of(name: str) -> Canonical:
    """The canonical form for a field of this name."""

    def canonical(value: Any) -> Any:
        if not value:
            return None
        return _canonical_built_in(value, "", name) if type(value) in _NOT_SCALAR else value

    return canonical


_built_in_value = _built_in_value_of("")


def _custom_value(value: Any) -> Any:
    return _canonical_custom(value) if type(value) in _NOT_SCALAR else value


def _quantity(value: Any) -> Any:
    if not value or type(value) in (dict, list, bool):
        return _built_in_value(value)
    amount = canonical_quantity(value)
    return value if amount is None else None if amount == "0" else amount


def _custom_quantity(value: Any) -> Any:
    amount = canonical_quantity(value) if type(value) is str else None
    return _custom_value(value) if amount is None else "=" + amount


def _bytes(value: Any) -> Any:
    if type(value) is not str:
        return _built_in_value(value)
    try:
        plain = base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
        return base64.b64encode(plain).decode() or None
    except binascii.Error:
        return value


def _time(value: Any) -> Any:
    if type(value) is not str:
        return _built_in_value(value)
    try:
        return datetime.fromisoformat(value).astimezone(UTC).isoformat()
    except ValueError:
        return value or None


def _canonical_built_in(value: Any, parent: str, name: str) -> Any:
    """Inside an atomic value, empty and absent differ (an empty selector selects all): only null is dropped."""
    kind_of_value = type(value)
    if kind_of_value is dict:
        return {
            key: _canonical_built_in(item, name, key)
            for key, item in value.items()
            if item is not None and item != _DEFAULTS.get((name, key))
        }
    if kind_of_value is list:
        return [_canonical_built_in(item, parent, name) for item in value]
    if kind_of_value in (str, int, float) and _is_quantity(parent, name):
        return canonical_quantity(value) or value
    return int(value) if kind_of_value is float and value.is_integer() else value


def _canonical_custom(value: Any, parent: str = "", name: str = "") -> Any:
    kind_of_value = type(value)
    if kind_of_value is dict:
        as_they_are = () if name in _CUSTOM_QUANTITY_MAPS else _UNCHANGED
        # Most values are texts, and a call for each would be half of the cost of reading a fleet of Tenants.
        return {
            key: item if type(item) in as_they_are else _canonical_custom(item, name, key)
            for key, item in value.items()
            if item is not None
        }
    if kind_of_value is list:
        return [_canonical_custom(item, parent, name) for item in value]
    if parent in _CUSTOM_QUANTITY_MAPS:
        return _custom_quantity(value)
    return int(value) if kind_of_value is float and value.is_integer() else value
