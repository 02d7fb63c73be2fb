"""Triggers: declare which changes enqueue which keys of a controller.

    For(rule, when=own_object("multigres.com/paused"))    the object itself
    Owns(rule)                                            children, through their controller reference
    Watches(rule, to=mapping, lane=Lane.SLOW)             other objects, through a function from object to keys

A trigger enqueues a key and never passes on what happened: a reconcile that depended on the event would be wrong after
every restart. Both the old and the new object of a change are mapped, so that a change of owner enqueues both owners.

A trigger can be debounced, so that the twenty changes of a starting pod cause a few reconciles and not twenty:

    Owns(rule, debounce=Debounce(0.1, unless=needs_repair))
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import HasMetadata, controller_of, key_of
from steward.runtime.controller.predicates import Predicate, child, needs_repair, own_spec, view_fields
from steward.runtime.reconcile import Lane

log = logging.getLogger(__name__)

T = TypeVar("T", bound=HasMetadata)
Enqueue = Callable[[Key, Lane], None]
EnqueueAfter = Callable[[Key, Lane, float], None]
"""As `Enqueue`, with a delay in seconds in which further changes are collected; zero means at once."""
KeyMapping = Callable[[T], Iterable[Key]]


@dataclass(frozen=True)
class Debounce:
    """For how long changes are collected into one reconcile, except for urgent ones (`unless`)."""

    seconds: float
    unless: Predicate = needs_repair

    def is_urgent(self, change: ObjectChange[Any]) -> bool:
        return bool(self.seconds) and self.unless(change)

    def seconds_for(self, change: ObjectChange[Any]) -> float:
        # Objects of the initial list are queued in the slow lane already.
        if not self.seconds or change.initial or self.unless(change):
            return 0.0
        return self.seconds


NO_DEBOUNCE = Debounce(0.0)


@dataclass(frozen=True)
class For(Generic[T]):
    """The kind that the controller reconciles. A controller has exactly one `For`."""

    rule: CacheRule[T]
    when: Predicate = own_spec
    lane: Lane = Lane.FAST


@dataclass(frozen=True)
class Owns(Generic[T]):
    """Objects whose controller reference points to the kind of `For`, in the same namespace."""

    rule: CacheRule[T]
    when: Predicate = child
    lane: Lane = Lane.FAST
    debounce: Debounce = NO_DEBOUNCE


@dataclass(frozen=True)
class Watches(Generic[T]):
    """Objects that a function maps to keys. Use the slow lane where one change affects many keys."""

    rule: CacheRule[T]
    to: KeyMapping[T]
    when: Predicate = view_fields
    lane: Lane = Lane.FAST
    debounce: Debounce = NO_DEBOUNCE


Trigger = For[Any] | Owns[Any] | Watches[Any]


class Channel:
    """Keys that an operator enqueues itself, for objects that it starts to watch at run time."""

    def __init__(self) -> None:
        self._enqueue: Enqueue | None = None

    def connect(self, enqueue: Enqueue) -> None:
        self._enqueue = enqueue

    def enqueue(self, key: Key, lane: Lane = Lane.FAST) -> None:
        """No-op on a standby; a new leader reconciles everything."""
        if self._enqueue is not None:
            self._enqueue(key, lane)


def key_mapping(trigger: Trigger, kind: Kind) -> KeyMapping[Any]:
    """Maps an object to the keys of `kind` to reconcile."""
    if isinstance(trigger, For):
        return lambda view: (key_of(view),)
    if isinstance(trigger, Owns):
        return lambda view: _owner_keys(view, kind)
    return trigger.to


def _owner_keys(view: HasMetadata, kind: Kind) -> tuple[Key, ...]:
    owner = controller_of(view.metadata)
    if owner is None or owner.kind != kind.kind:
        return ()
    # Compare the group and not the version: the reference may name another version of our kind.
    if Kind(owner.api_version, owner.kind).group != kind.group:
        return ()
    return (Key(view.metadata.namespace, owner.name),)


class EnqueueHooks(NamedTuple):
    """How event handlers enqueue keys and count errors."""

    enqueue_after: EnqueueAfter
    on_error: Callable[[], None]


class EventHandler:
    """Handles the changes of one trigger's store: enqueues the keys that they map to."""

    def __init__(self, trigger: Trigger, kind: Kind, hooks: EnqueueHooks) -> None:
        self._trigger = trigger
        self._mapping = key_mapping(trigger, kind)
        self._debounce = NO_DEBOUNCE if isinstance(trigger, For) else trigger.debounce
        self._hooks = hooks

    def handle(self, change: ObjectChange[Any]) -> None:
        try:
            if self._trigger.when(change):
                self._enqueue_keys(change)
        except Exception:
            # A mapping is operator code: a bug in it must not end the watch that all controllers share.
            self._hooks.on_error()
            log.exception("%s %s: cannot map the change to keys", change.kind.kind, change.key)

    def handle_all(self, store: Store[Any]) -> None:
        """Handles all objects of the store as if they had just been listed."""
        for view in store.list():
            self.handle(ObjectChange(store.kind, key_of(view), None, view, initial=True, owned_changed=False))

    def _enqueue_keys(self, change: ObjectChange[Any]) -> None:
        lane, delay = self._lane(change), self._debounce.seconds_for(change)
        for view in self._old_and_new(change):
            for key in self._mapping(view):
                self._hooks.enqueue_after(key, lane, delay)

    def _lane(self, change: ObjectChange[Any]) -> Lane:
        if change.initial:
            return Lane.SLOW
        lane = self._trigger.lane
        return Lane.URGENT if lane is Lane.FAST and self._debounce.is_urgent(change) else lane

    def _old_and_new(self, change: ObjectChange[Any]) -> Iterable[Any]:
        if change.old is None or change.new is None or isinstance(self._trigger, For):
            return (change.new if change.new is not None else change.old,)
        return (change.old, change.new)
