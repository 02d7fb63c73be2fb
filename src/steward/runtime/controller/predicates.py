"""Which changes are worth a look. Pure, and asked only of changes: what appears or goes always is.

Generation alone will not do. It drops the annotations that users steer with, and ConfigMaps, Secrets, Services,
ServiceAccounts, PVCs and Namespaces have none at all. Resource version alone will not do either: it moves with every
heartbeat in a status. So an own object is looked at when its spec or a control annotation changes, and a child when
something changes that we read or own: the view itself declares what is read.
"""

from collections.abc import Callable
from typing import Any

from steward.kube.cache.store import Change
from steward.kube.objects.meta import HasMetadata, ObjectMeta

Predicate = Callable[[Change[Any]], bool]


def is_new_object(change: Change[Any]) -> bool:
    """It appeared, it went, or another one of the same name took its place."""
    old, new = change.old, change.new
    return old is None or new is None or old.metadata.uid != new.metadata.uid


def _of_both(differs: Callable[[Any, Any], bool]) -> Predicate:
    def predicate(change: Change[Any]) -> bool:
        return is_new_object(change) or differs(change.old, change.new)

    return predicate


def _of_metadata(*fields: str) -> Predicate:
    def differs(old: HasMetadata, new: HasMetadata) -> bool:
        return any(getattr(old.metadata, field) != getattr(new.metadata, field) for field in fields)

    return _of_both(differs)


anything = _of_both(lambda old, new: True)
# A kind that counts no generations cannot say that its spec is the same: any change is worth a look.
generation = _of_both(
    lambda old, new: not new.metadata.generation or old.metadata.generation != new.metadata.generation
)
labels = _of_metadata("labels")
all_annotations = _of_metadata("annotations")
lifetime = _of_metadata("deletion_timestamp", "finalizers")
ownership = _of_metadata("owner_references")


def annotations(*names: str) -> Predicate:
    """One of the named annotations changed."""

    def differs(old: HasMetadata, new: HasMetadata) -> bool:
        before, after = old.metadata.annotations, new.metadata.annotations
        return any(before.get(name) != after.get(name) for name in names)

    return _of_both(differs)


def chosen(*fields: Callable[[Any], Any]) -> Predicate:
    """What one of the given functions reads from the view changed: `chosen(lambda pod: pod.status.phase)`."""
    return _of_both(lambda old, new: any(field(old) != field(new) for field in fields))


def owned_fields(change: Change[Any]) -> bool:
    """A field that our manager owns changed its value, or changed hands."""
    return is_new_object(change) or change.owned_changed


def goes(change: Change[Any]) -> bool:
    """It is gone, another one of its name took its place, or its end has begun."""
    old, new = change.old, change.new
    if old is None or new is None or old.metadata.uid != new.metadata.uid:
        return old is not None
    return bool(old.metadata.deletion_timestamp != new.metadata.deletion_timestamp)


def needs_repair(change: Change[Any]) -> bool:
    """It goes, or a field that our manager owns is not as it was: what is to be put back at once, if it was not us."""
    return goes(change) or (change.old is not None and change.owned_changed)


def what_we_read(change: Change[Any]) -> bool:
    """Any field that the view declares changed, but for the version, which moves with everything."""
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
    """The usual choice for `For`: the spec, a control annotation, a finalizer or the coming end."""
    return any_of(generation, lifetime, annotations(*control_annotations))


own_spec = own_object()
"""`For` without control annotations."""

child = any_of(what_we_read, owned_fields)
"""The usual choice for `Owns`: anything that we read, or own, changed."""
