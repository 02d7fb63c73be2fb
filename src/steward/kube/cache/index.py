"""Indexes of a store: they find objects by a value without walking the store."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata

T = TypeVar("T", bound=HasMetadata)

IndexFunction = Callable[[T], Iterable[str]]

NAMESPACE = "namespace"
OWNER = "owner"


def by_namespace(obj: HasMetadata) -> Iterable[str]:
    return (obj.metadata.namespace,)


def by_owner(obj: HasMetadata) -> Iterable[str]:
    """The uids of all owners, including the controller."""
    return [owner.uid for owner in obj.metadata.owner_references]


def by_label(label: str) -> Callable[[HasMetadata], Iterable[str]]:
    def values(obj: HasMetadata) -> Iterable[str]:
        value = obj.metadata.labels.get(label)
        return () if value is None else (value,)

    return values


class Index(Generic[T]):
    def __init__(self, function: IndexFunction[T]) -> None:
        self._function = function
        # A dict without values keeps the order of arrival, which a set would not.
        self._keys: dict[str, dict[Key, None]] = {}

    def keys(self, value: str) -> Iterable[Key]:
        return self._keys.get(value, ())

    def update(self, key: Key, old: T | None, new: T | None) -> None:
        before = () if old is None else tuple(self._function(old))
        after = () if new is None else tuple(self._function(new))
        if before == after:
            return
        for value in before:
            self._drop(value, key)
        for value in after:
            self._keys.setdefault(value, {})[key] = None

    def _drop(self, value: str, key: Key) -> None:
        keys = self._keys.get(value)
        if keys is None:
            return
        keys.pop(key, None)
        if not keys:
            del self._keys[value]
