"""Predicates: which changes trigger a reconcile. Pure. Creation and deletion always do.

The generation alone is not enough: it does not change with the control annotations, and ConfigMaps, Secrets, Services,
ServiceAccounts, PVCs and Namespaces have none. The resource version alone is not enough either: it changes with every
heartbeat in a status. So the controller's own object is reconciled when its spec or a control annotation changes, and a
child when a field changes that the operator reads or owns: the view declares the fields that are read.
"""

from collections.abc import Callable
from typing import Any

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.meta import HasMetadata, ObjectMeta

Predicate = Callable[[ObjectChange[Any]], bool]


def identity_changed(change: ObjectChange[Any]) -> bool:
    """The object was created, deleted, or replaced by another one of the same name."""
    old, new = change.old, change.new
    return old is None or new is None or old.metadata.uid != new.metadata.uid


def _predicate(differs: Callable[[Any, Any], bool]) -> Predicate:
    def predicate(change: ObjectChange[Any]) -> bool:
        return identity_changed(change) or differs(change.old, change.new)

    return predicate


def _metadata_predicate(*fields: str) -> Predicate:
    def differs(old: HasMetadata, new: HasMetadata) -> bool:
        return any(getattr(old.metadata, field) != getattr(new.metadata, field) for field in fields)

    return _predicate(differs)


any_change = _predicate(lambda old, new: True)
# Kinds without a generation cannot show that their spec is unchanged, so every change counts.
generation = _predicate(
    lambda old, new: not new.metadata.generation or old.metadata.generation != new.metadata.generation
)
labels = _metadata_predicate("labels")
lifetime = _metadata_predicate("deletion_timestamp", "finalizers")
ownership = _metadata_predicate("owner_references")


def annotations(*names: str) -> Predicate:
    """One of these annotations changed."""

    def differs(old: HasMetadata, new: HasMetadata) -> bool:
        before, after = old.metadata.annotations, new.metadata.annotations
        return any(before.get(name) != after.get(name) for name in names)

    return _predicate(differs)


def selected_fields(*fields: Callable[[Any], Any]) -> Predicate:
    """The result of one of these functions of the view changed: `selected_fields(lambda pod: pod.status.phase)`."""
    return _predicate(lambda old, new: any(field(old) != field(new) for field in fields))


def owned_fields(change: ObjectChange[Any]) -> bool:
    """A field that our field manager owns changed its value or its manager."""
    return identity_changed(change) or change.owned_changed


def deletion(change: ObjectChange[Any]) -> bool:
    """The object was deleted, replaced by another one of the same name, or is terminating now."""
    old, new = change.old, change.new
    if old is None or new is None or old.metadata.uid != new.metadata.uid:
        return old is not None
    return bool(old.metadata.deletion_timestamp != new.metadata.deletion_timestamp)


def needs_repair(change: ObjectChange[Any]) -> bool:
    """The object is being deleted, or a field that our field manager owns changed: to be repaired at once."""
    return deletion(change) or (change.old is not None and change.owned_changed)


def view_fields(change: ObjectChange[Any]) -> bool:
    """Any field of the view changed, except the resource version, which changes with every write."""
    old, new = change.old, change.new
    return old is None or new is None or _differs_in_view(old, new)


def _differs_in_view(old: HasMetadata, new: HasMetadata) -> bool:
    if any(getattr(old, field) != getattr(new, field) for field in _fields(type(new)) if field != "metadata"):
        return True
    return any(getattr(old.metadata, field) != getattr(new.metadata, field) for field in _STEADY_METADATA)


def _fields(view: type[Any]) -> tuple[str, ...]:
    return getattr(view, "__struct_fields__", ())


_STEADY_METADATA = tuple(field for field in _fields(ObjectMeta) if field != "resource_version")


def any_of(*predicates: Predicate) -> Predicate:
    return lambda change: any(predicate(change) for predicate in predicates)


def own_object(*control_annotations: str) -> Predicate:
    """The usual choice for `For`: spec, control annotations, finalizers, deletion timestamp."""
    return any_of(generation, lifetime, annotations(*control_annotations))


own_spec = own_object()
"""`For` without control annotations."""

child = any_of(view_fields, owned_fields)
"""The usual choice for `Owns`: any field that the operator reads or owns."""
