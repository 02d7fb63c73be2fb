"""The order in which rendered objects can be applied one after another. Pure.

The operator applies again what the API server refuses; `kubectl apply -f -` does not. So an object comes after what it
depends on by dependIds, and after the Namespace that it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from steward.tenants.api.resource import TResource
from steward.tenants.objects.dependencies import CycleError, apply_levels, dependency_edges

_EARLY_KINDS: Final = (
    "Namespace",
    "CustomResourceDefinition",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
    "PersistentVolumeClaim",
)
"""Kinds that others refer to, in the order in which they refer to each other."""


def in_apply_order(resources: Sequence[TResource]) -> list[TResource]:
    declared = dependency_edges(resources)
    implied = {
        resource.id: (*declared[resource.id], *_namespaces_of(resource, resources)) for resource in resources
    }
    try:
        levels = apply_levels(implied)
    except CycleError:
        # A Namespace that depends on an object in it: only the declared dependencies can be kept.
        levels = apply_levels(declared)
    depth = {id: index for index, level in enumerate(levels) for id in level}
    return sorted(resources, key=lambda resource: (depth[resource.id], _rank(resource)))


def _namespaces_of(resource: TResource, resources: Sequence[TResource]) -> list[str]:
    namespace = resource.spec["metadata"].get("namespace")
    return [
        each.id
        for each in resources
        if each.spec["kind"] == "Namespace" and each.spec["metadata"]["name"] == namespace
    ]


def _rank(resource: TResource) -> int:
    kind = resource.spec["kind"]
    return _EARLY_KINDS.index(kind) if kind in _EARLY_KINDS else len(_EARLY_KINDS)
