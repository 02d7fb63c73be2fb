"""What makes a controller look: declared, never coded.

    For(rule, when=own_object("multigres.com/paused"))    the object itself
    Owns(rule)                                            children, through their controller reference
    Watches(rule, to=mapping, lane=Lane.SLOW)             anything else, through a function to keys

A trigger says which key to look at, never what happened to it: a reconcile that depended on the event would be wrong
after every restart. Both sides of a change are mapped, so that an object that changes hands wakes both owners.

A trigger may say that its news can be gathered for a moment, so that the twenty changes which a pod goes through while
it starts are a few looks and not twenty:

    Owns(rule, patience=Patience(0.1, unless=needs_repair))
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Change, Store
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import HasMetadata, controller_of, key_of
from steward.runtime.controller.predicates import Predicate, child, needs_repair, own_spec, what_we_read
from steward.runtime.controller.workqueue import Lane
from steward.runtime.plan.lanes import Echoes

log = logging.getLogger(__name__)

T = TypeVar("T", bound=HasMetadata)
Enqueue = Callable[[Key, Lane], None]
Wake = Callable[[Key, Lane, float], None]
"""As `Enqueue`, with the seconds for which the news may be gathered; none means at once."""
Mapping = Callable[[T], Iterable[Key]]


@dataclass(frozen=True)
class Patience:
    """For how long news may be gathered into one look, except for changes that cannot wait."""

    seconds: float
    unless: Predicate = needs_repair

    def of(self, change: Change[Any]) -> float:
        # What the first list shows waits in the slow lane already.
        if not self.seconds or change.initial or self.unless(change):
            return 0.0
        return self.seconds


AT_ONCE = Patience(0.0)


@dataclass(frozen=True)
class For(Generic[T]):
    """The kind that the controller is about. A controller has exactly one of these."""

    rule: CacheRule[T]
    when: Predicate = own_spec
    lane: Lane = Lane.FAST


@dataclass(frozen=True)
class Owns(Generic[T]):
    """Objects whose controller reference points to the kind of `For`, in the same namespace."""

    rule: CacheRule[T]
    when: Predicate = child
    lane: Lane = Lane.FAST
    patience: Patience = AT_ONCE


@dataclass(frozen=True)
class Watches(Generic[T]):
    """Objects that matter for keys which only a function knows. A change that touches a herd takes the slow lane."""

    rule: CacheRule[T]
    to: Mapping[T]
    when: Predicate = what_we_read
    lane: Lane = Lane.FAST
    patience: Patience = AT_ONCE


Trigger = For[Any] | Owns[Any] | Watches[Any]


class Channel:
    """Keys that an operator names itself: for what it begins to watch only while it runs."""

    def __init__(self) -> None:
        self._enqueue: Enqueue | None = None

    def connect(self, enqueue: Enqueue) -> None:
        self._enqueue = enqueue

    def tell(self, key: Key, lane: Lane = Lane.FAST) -> None:
        """Nothing happens while nobody leads: whoever begins to lead looks at everything anyway."""
        if self._enqueue is not None:
            self._enqueue(key, lane)


def mapping_of(trigger: Trigger, about: Kind) -> Mapping[Any]:
    """From an object to the keys that it concerns."""
    if isinstance(trigger, For):
        return lambda seen: (key_of(seen),)
    if isinstance(trigger, Owns):
        return lambda seen: _owner(seen, about)
    return trigger.to


def _owner(seen: HasMetadata, about: Kind) -> tuple[Key, ...]:
    owner = controller_of(seen.metadata)
    if owner is None or owner.kind != about.kind:
        return ()
    # The version may be another one than ours: the group says whose kind it is.
    if Kind(owner.api_version, owner.kind).group != about.group:
        return ()
    return (Key(seen.metadata.namespace, owner.name),)


class Bell(NamedTuple):
    """How the listeners of a controller reach it, and what they need not hurry for."""

    wake: Wake
    failed: Callable[[], None]
    echoes: Echoes


class Listener:
    """One trigger at work: turns the changes of a store into keys of a queue."""

    def __init__(self, trigger: Trigger, about: Kind, bell: Bell) -> None:
        self._trigger = trigger
        self._mapping = mapping_of(trigger, about)
        self._patience = AT_ONCE if isinstance(trigger, For) else trigger.patience
        self._bell = bell

    def hear(self, change: Change[Any]) -> None:
        try:
            if self._trigger.when(change):
                self._tell(change)
        except Exception:
            # A mapping is an operator's code: a fault in it must not end the watch that all controllers share.
            self._bell.failed()
            log.exception("%s %s: its change could not be mapped to keys", change.kind.kind, change.key)

    def hear_all(self, store: Store[Any]) -> None:
        """What the store holds, as if it had just been listed."""
        for seen in store.list():
            self.hear(Change(store.kind, key_of(seen), None, seen, initial=True, owned_changed=False))

    def _tell(self, change: Change[Any]) -> None:
        lane, gather = self._lane(change), self._patience.of(change)
        for seen in self._sides(change):
            for key in self._mapping(seen):
                self._bell.wake(key, lane, gather)

    def _lane(self, change: Change[Any]) -> Lane:
        if change.initial or self._bell.echoes.is_slow(Ref(change.kind, change.key)):
            return Lane.SLOW
        return self._trigger.lane

    def _sides(self, change: Change[Any]) -> Iterable[Any]:
        if change.old is None or change.new is None or isinstance(self._trigger, For):
            return (change.new if change.new is not None else change.old,)
        return (change.old, change.new)
